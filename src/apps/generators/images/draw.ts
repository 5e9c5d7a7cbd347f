import { lookUp } from '../../../kernel/schema.ts'
import { type Random, seeded } from '../random.ts'
import sheet from './figures.svg' with { type: 'text' }
import { grounds, skies, tiles } from './scenes.json'

/** The colors of an image, as CSS colors. */
interface Palette {
  main: string
  light: string
  dark: string
  accent: string
  ink: string
}

/** Words and their color: hue in degrees, saturation and lightness in percent. */
const named: [words: RegExp, hue: number, saturation: number, lightness: number][] = [
  [/\b(red|crimson|scarlet|ruby|cherry|strawberr\w*|tomato|rose|fire|lava|apple)\b/, 4, 78, 54],
  [/\b(orange|amber|rust|fox|copper|pumpkin|carrot)\b/, 26, 88, 56],
  [/\b(yellow|gold|golden|coin|sun|lemon|honey|banana|star)\b/, 45, 92, 56],
  [/\b(lime|slime|acid|frog|lizard)\b/, 95, 60, 48],
  [/\b(green|forest|leaf|tree|grass|emerald|cactus|dragon|snake)\b/, 140, 50, 42],
  [/\b(teal|turquoise|mint|sea)\b/, 172, 55, 42],
  [/\b(cyan|ice|icy|frost|diamond|water)\b/, 192, 72, 58],
  [/\b(blue|azure|sapphire|sky|ocean|whale)\b/, 214, 74, 54],
  [/\b(indigo|navy|night|midnight)\b/, 236, 48, 42],
  [/\b(purple|violet|amethyst|magic|wizard|poison|grape)\b/, 272, 56, 54],
  [/\b(pink|magenta|candy|heart|flamingo|pig)\b/, 334, 78, 64],
  [/\b(brown|wood|wooden|earth|chest|bear|dog|horse|leather)\b/, 28, 42, 42],
  [/\b(black|shadow|ninja|crow|bat|coal)\b/, 230, 14, 26],
  [/\b(white|snow|silver|ghost|cloud|bone|skeleton)\b/, 210, 26, 88],
  [/\b(grey|gray|stone|rock|steel|iron|metal|robot|asteroid)\b/, 212, 13, 58],
]

const hsl = (hue: number, saturation: number, lightness: number): string =>
  `hsl(${Math.round(hue + 720) % 360},${Math.round(saturation)}%,${Math.round(lightness)}%)`

/** Returns a palette of the colors that the description names, or of the seed's choice. */
function paletteOf(words: string, random: Random): Palette {
  const chosen = named.find(([pattern]) => pattern.test(words))
  const free = [random.between(0, 360), random.between(55, 75), random.between(48, 58)] as const
  const [hue, saturation, lightness] = chosen ? [chosen[1], chosen[2], chosen[3]] : free
  const turned = hue + random.between(-7, 7)
  return {
    main: hsl(turned, saturation, lightness),
    light: hsl(turned + 6, saturation, Math.min(96, lightness + 20)),
    dark: hsl(turned - 10, saturation, Math.max(14, lightness - 20)),
    accent: hsl(turned + random.pick([150, 180, 205]), 76, 62),
    ink: hsl(turned - 16, Math.min(36, saturation), 14),
  }
}

/** Returns the words of a description, in lower case. */
const wordsOf = (text: string): string[] => text.toLowerCase().match(/[a-z]+/g) ?? []

/** Returns whether a description has one of these words. */
function hasAnyWord(text: string, words: string): boolean {
  const candidates = wordsOf(text)
  return words.split(' ').some((word) => candidates.includes(word))
}

/** The size of an image, in pixels. */
interface Size {
  width: number
  height: number
}

type Sky = (typeof skies)[number]

/** Draws the landscape that the description names, or one of the seed's choice. SVG. */
function scene(text: string, size: Size, palette: Palette, random: Random): string {
  const sky =
    skies.find(({ words }) => hasAnyWord(text, words)) ?? skies[random.whole(0, 2)] ?? skies[0]
  const ground = grounds.find(({ words }) => hasAnyWord(text, words))
  if (!sky) return ''
  const parts = [skyOf(sky, size), lights(sky, size, random)]
  const inSpace = sky.light === 'stars' && !ground
  if (inSpace) parts.push(planets(size, palette, random))
  const layers = inSpace ? 0 : 4
  for (let index = 0; index < layers; index += 1) {
    const outline = lookUp(outlines, ground?.shape ?? 'hills') ?? hills
    const d = outline(size, size.height * (0.5 + index * 0.13), random)
    const fill = ground?.near ?? palette.dark
    parts.push(`<path d="${d}" fill="${fill}" fill-opacity="${0.34 + index * 0.22}"/>`)
  }
  return parts.join('')
}

const skyOf = ({ top, bottom }: Sky, { width, height }: Size): string =>
  '<defs><linearGradient id="sky" x1="0" y1="0" x2="0" y2="1">' +
  `<stop offset="0" stop-color="${top}"/><stop offset="1" stop-color="${bottom}"/>` +
  `</linearGradient></defs><rect width="${width}" height="${height}" fill="url(#sky)"/>`

const disc = (x: number, y: number, r: number, fill: string, opacity = 1): string =>
  `<circle cx="${x.toFixed(1)}" cy="${y.toFixed(1)}" r="${r.toFixed(1)}" fill="${fill}" ` +
  `fill-opacity="${opacity.toFixed(2)}"/>`

/** Draws the sun with clouds, the moon with stars, stars, or bubbles. */
function lights({ light }: Sky, { width, height }: Size, random: Random): string {
  const unit = Math.min(width, height)
  const [x, y] = [width * random.between(0.2, 0.8), height * random.between(0.16, 0.34)]
  if (light === 'bubbles') {
    return scattered(46, () => {
      const r = unit * random.between(0.004, 0.02)
      return disc(
        random.next() * width,
        random.next() * height,
        r,
        '#fff',
        random.between(0.1, 0.4),
      )
    })
  }
  if (light === 'sun') {
    const glow = disc(x, y, unit * 0.2, '#fff6d0', 0.25) + disc(x, y, unit * 0.14, '#fff6d0', 0.4)
    const clouds = scattered(4, () => cloud(width, height * 0.42, unit, random))
    return `${glow}${disc(x, y, unit * 0.085, '#fff3c0')}${clouds}`
  }
  const stars = scattered(light === 'stars' ? 220 : 90, () => {
    const r = unit * random.between(0.0012, 0.0042)
    return disc(random.next() * width, random.next() * height, r, '#fff', random.between(0.3, 1))
  })
  if (light === 'stars') return stars
  return `${stars}${disc(x, y, unit * 0.13, '#f8ecc4', 0.18)}${disc(x, y, unit * 0.08, '#f8ecc4')}`
}

const scattered = (count: number, one: () => string): string =>
  Array.from({ length: count }, one).join('')

function cloud(width: number, lowest: number, unit: number, random: Random): string {
  const [x, y] = [random.next() * width, random.between(0.2, 1) * lowest]
  const puffs = Array.from({ length: 5 }, (_, index) => {
    const r = unit * random.between(0.03, 0.055)
    return disc(x + (index - 2) * unit * 0.05, y + random.between(-0.4, 0.4) * r, r, '#fff')
  })
  return `<g opacity="0.8">${puffs.join('')}</g>`
}

function planets({ width, height }: Size, palette: Palette, random: Random): string {
  const unit = Math.min(width, height)
  return [palette.main, palette.accent, palette.light]
    .map((fill, index) => {
      const r = unit * random.between(0.05, 0.16) * (index === 0 ? 1.5 : 0.7)
      const [x, y] = [random.between(0.1, 0.9) * width, random.between(0.15, 0.85) * height]
      return (
        disc(x, y, r * 1.25, fill, 0.14) +
        disc(x, y, r, fill) +
        disc(x + r * 0.3, y + r * 0.2, r * 0.72, '#000', 0.18)
      )
    })
    .join('')
}

type Outline = (size: Size, line: number, random: Random) => string

const closed = (points: string, { width, height }: Size): string =>
  `M0 ${height}L${points}L${width} ${height}Z`

/** A smooth line: the sum of three waves of different lengths. */
const hills: Outline = (size, line, random) => {
  const waves = [0.6, 1.4, 3].map((times) => [
    times * random.between(0.8, 1.2),
    random.next() * 6.28,
  ])
  const points = Array.from({ length: 49 }, (_, index) => {
    const share = index / 48
    const rise = waves.reduce(
      (sum, [times = 1, turn = 0]) => sum + Math.sin(share * times * 6.28 + turn) / (times + 0.6),
      0,
    )
    return `${(share * size.width).toFixed(1)} ${(line - rise * size.height * 0.06).toFixed(1)}`
  })
  return closed(points.join('L'), size)
}

const peaks: Outline = (size, line, random) => {
  const count = random.whole(7, 11)
  const points = Array.from({ length: count + 1 }, (_, index) => {
    const rise = index % 2 ? random.between(0.1, 0.26) : random.between(-0.05, 0.06)
    const x = ((index + random.between(-0.2, 0.2)) / count) * size.width
    return `${x.toFixed(1)} ${(line - rise * size.height).toFixed(1)}`
  })
  return closed(`0 ${line.toFixed(1)}L${points.join('L')}L${size.width} ${line.toFixed(1)}`, size)
}

const city: Outline = (size, line, random) => {
  const points: string[] = []
  for (let x = 0; x < size.width;) {
    const wide = size.width * random.between(0.03, 0.08)
    const top = (line - size.height * random.between(0.02, 0.3)).toFixed(1)
    points.push(`${x.toFixed(1)} ${top}`, `${(x + wide).toFixed(1)} ${top}`)
    x += wide
  }
  return closed(points.join('L'), size)
}

const trees: Outline = (size, line, random) => {
  const points: string[] = []
  for (let x = 0; x < size.width;) {
    const wide = size.height * random.between(0.05, 0.1)
    const top = line - wide * random.between(1.6, 2.8)
    points.push(
      `${x.toFixed(1)} ${line.toFixed(1)}`,
      `${(x + wide / 2).toFixed(1)} ${top.toFixed(1)}`,
    )
    x += wide * 0.8
  }
  return closed(`${points.join('L')}L${size.width} ${line.toFixed(1)}`, size)
}

const sea: Outline = (size, line) => {
  const points = Array.from({ length: 97 }, (_, index) => {
    const y = line + Math.abs(Math.sin(index * 0.7 + line)) * size.height * 0.012
    return `${((index / 96) * size.width).toFixed(1)} ${y.toFixed(1)}`
  })
  return closed(points.join('L'), size)
}

const outlines: Record<string, Outline> = { hills, peaks, city, trees, sea }

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
