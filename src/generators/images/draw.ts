import { seeded } from '../random.ts'
import { creature, figureOf } from './figure.ts'
import { paletteOf } from './palette.ts'
import { scene, type Size } from './scene.ts'
import { tile } from './tile.ts'

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
