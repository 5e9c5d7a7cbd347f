import { lookUp } from '../../../kernel/schema.ts'
import { type Random, seeded } from '../random.ts'
import sheet from './figures.svg' with { type: 'text' }
import { hasAnyWord, type Palette, paletteOf, wordsOf } from './palette.ts'
import { scene, type Size } from './scene.ts'
import { tiles } from './scenes.json'

const document = ({ width, height }: Size, view: string, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
  `viewBox="${view}">${content}</svg>`

/** Draws a figure on a transparent background: the one that `what` names, or a creature. SVG. */
export function sprite(what: string, seed: string, size: Size): string {
  const random = seeded(`${seed}:${what}`)
  const palette = paletteOf(what.toLowerCase(), random)
  const thing = figureOf(what, palette, random) ?? creature(palette, random)
  return document(size, '-5 -5 110 110', thing)
}

/** Draws a tile, the figure that `what` names, or a landscape. SVG. */
export function image(what: string, seed: string, size: Size): string {
  const random = seeded(`${seed}:${what}`)
  const palette = paletteOf(what.toLowerCase(), random)
  const texture = tile(what, palette, random)
  if (texture !== undefined) return document(size, '0 0 100 100', texture)
  const back = scene(what, size, palette, random)
  const thing = /\b(portrait|icon|logo|cover|poster|title)\b/i.test(what)
    ? (figureOf(what, palette, random) ?? creature(palette, random))
    : ''
  const [side, view] = [Math.min(size.width, size.height), `0 0 ${size.width} ${size.height}`]
  const [x, y] = [(size.width - side * 0.62) / 2, (size.height - side * 0.62) / 2]
  const front = `<g transform="translate(${x} ${y}) scale(${(side * 0.62) / 100})">${thing}</g>`
  return document(size, view, thing ? back + front : back)
}

/** Draws a seamless 100 x 100 tile, if the description names a texture. */
function tile(text: string, palette: Palette, random: Random): string | undefined {
  if (!hasAnyWord(text, 'tile tiles texture pattern seamless')) return undefined
  const found = tiles.find(({ words }) => hasAnyWord(text, words))
  const ground = `<rect width="100" height="100" fill="${palette.main}"/>`
  return ground + (lookUp(textures, found?.shape ?? 'specks') ?? specks)(palette, random)
}

type Texture = (palette: Palette, random: Random) => string

const bricks: Texture = ({ light, dark }) =>
  Array.from({ length: 4 }, (_, row) => {
    const y = row * 25
    const seams = (row % 2 ? [25, 75] : [0, 50]).map(
      (x) => `<rect x="${x - 1.5}" y="${y}" width="3" height="25" fill="${dark}"/>`,
    )
    const top = `<rect y="${y}" width="100" height="3" fill="${dark}"/>`
    return `${top}<rect y="${y + 3}" width="100" height="2" fill="${light}"/>${seams.join('')}`
  }).join('')

const planks: Texture = ({ light, dark }, random) =>
  Array.from({ length: 4 }, (_, row) => {
    const y = row * 25
    const seam = `<rect x="${random.whole(10, 90)}" y="${y}" width="2" height="25" fill="${dark}"/>`
    const grain = `<rect y="${y + random.whole(8, 18)}" width="100" height="1" fill="${light}"/>`
    return `<rect y="${y}" width="100" height="2" fill="${dark}"/>${seam}${grain}`
  }).join('')

const waves: Texture = ({ light }) =>
  [12, 37, 62, 87]
    .map((y, row) => {
      const d = `M${row % 2 ? -25 : -12} ${y}q12.5-10 25 0t25 0 25 0 25 0 25 0 25 0`
      return `<path d="${d}" fill="none" stroke="${light}" stroke-width="3"/>`
    })
    .join('')

const specks: Texture = ({ light, dark }, random) =>
  Array.from({ length: 60 }, () => {
    const at = `x="${random.whole(1, 94)}" y="${random.whole(1, 94)}"`
    const [wide, high] = [random.whole(2, 5), random.whole(2, 5)]
    return `<rect ${at} width="${wide}" height="${high}" rx="1" fill="${random.pick([light, dark])}" fill-opacity="0.5"/>`
  }).join('')

const textures: Record<string, Texture> = { bricks, planks, waves, specks }

/**
 * Filter that makes magenta (#ff00ff) transparent. Alpha falls with the excess of red and blue over
 * green: opaque up to one third, transparent from two thirds.
 */
const keyed =
  '<filter id="key" color-interpolation-filters="sRGB"><feColorMatrix values="' +
  '1 0 0 0 0  0 1 0 0 0  0 0 1 0 0  -1.5 3 -1.5 0 2"/></filter>'

/** Scales a PNG to a size and crops to its center. `key` removes the magenta background. SVG. */
export function fit(png: Uint8Array, { width, height }: Size, key: boolean): string {
  const data = `data:image/png;base64,${Buffer.from(png).toString('base64')}`
  const slice = key ? 'xMidYMid meet' : 'xMidYMid slice'
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `${key ? keyed : ''}<image href="${data}" width="${width}" height="${height}" ` +
    `preserveAspectRatio="${slice}"${key ? ' filter="url(#key)"' : ''}/></svg>`
  )
}

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
function figureOf(text: string, palette: Palette, random: Random): string | undefined {
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
function creature(palette: Palette, random: Random): string {
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
