import type { Random } from '../random.ts'
import sheet from './figures.svg' with { type: 'text' }
import type { Palette } from './palette.ts'
import { wordsOf } from './words.ts'

/** SVG in a 100 x 100 box, and the words that select it. */
interface Figure {
  words: string[]
  drawing: string
}

const figures: Figure[] = [...sheet.matchAll(/<symbol class="(.*?)">(.*?)<\/symbol>/gs)].map(
  ([, words = '', drawing = '']) => ({ words: words.split(' '), drawing }),
)

/** Figures that are also colors: an orange ship is a ship. */
const colors = /^(orange|gold|ruby|emerald|sapphire|amethyst|rose|cherry|peach|lemon)$/

/** Returns the figures of the first matching word. Words that are also colors come last. */
function findFigures(text: string): Figure[] {
  const words = wordsOf(text).toSorted((a, b) => Number(colors.test(a)) - Number(colors.test(b)))
  for (const word of words) {
    const named = (name: string) => name === word || `${name}s` === word || `${name}es` === word
    const found = figures.filter((figure) => figure.words.some(named))
    if (found.length > 0) return found
  }
  return []
}

/** Returns the figure of a description, in the palette's colors. */
export function figureOf(text: string, palette: Palette, random: Random): string | undefined {
  const [first, ...others] = findFigures(text)
  return first && colored(random.pick([first, ...others]).drawing, palette)
}

function colored(drawing: string, palette: Palette): string {
  return drawing
    .replaceAll(/<g class="outlined">(.*?)<\/g>/gs, (_, paths: string) => outlined(paths))
    .replaceAll(/"(main|light|dark|accent|ink)"/g, (whole, name: string) =>
      isColor(name, palette) ? `"${palette[name]}"` : whole,
    )
}

const isColor = (name: string, palette: Palette): name is keyof Palette =>
  Object.hasOwn(palette, name)

const outlined = (paths: string): string =>
  `<g stroke="ink" stroke-width="5" stroke-linejoin="round">${paths}</g>${paths}`

/** Generates a creature for unknown words: a grid of cells with mirror symmetry. */
export function creature(palette: Palette, random: Random): string {
  const [columns, rows, size] = [4, 8, 12]
  const colors = [palette.main, palette.main, palette.light, palette.dark] as const
  let [cells, edges] = ['', '']
  for (let y = 0; y < rows; y += 1) {
    for (let x = 0; x < columns; x += 1) {
      const middle = 1 - Math.abs(y - 3.5) / 3.5
      if (!random.chance(x * 0.22 + middle * 0.5)) continue
      const color = random.pick(colors)
      for (const column of [x, columns * 2 - 1 - x]) {
        const at = `x="${2 + column * size}" y="${2 + y * size}"`
        cells += `<rect ${at} width="${size}" height="${size}" fill="${color}"/>`
        edges += `<rect ${at} width="${size}" height="${size}" stroke="${palette.ink}"/>`
      }
    }
  }
  const eyes = [38, 62].map(
    (x) =>
      `<circle cx="${x}" cy="42" r="7" fill="#fff"/><circle cx="${x}" cy="43" r="3.6" fill="${palette.ink}"/>`,
  )
  return `<g stroke-width="6" stroke-linejoin="round">${edges}</g>${cells}${eyes.join('')}`
}
