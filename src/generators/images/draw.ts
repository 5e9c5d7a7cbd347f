import { lookUp } from '../../core/schema.ts'
import { type Random, seeded } from '../random.ts'
import { creature, figureOf } from './figure.ts'
import { type Palette, paletteOf } from './palette.ts'
import { scene, type Size } from './scene.ts'
import { tiles } from './scenes.json'
import { hasAnyWord } from './words.ts'

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
