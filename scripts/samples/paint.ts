import { encodePng } from './png.ts'

/**
 * Signed distance from a point to a shape's edge, negative inside. Units are those of the
 * painting.
 */
export type Shape = (x: number, y: number) => number
/** Red, green, blue 0..255 and opacity 0..1. */
export type Colour = readonly [number, number, number, number]
type Ink = Colour | ((x: number, y: number, depth: number) => Colour)

/** '#rrggbb' (and an opacity) as a colour. */
export function hex(text: string, opacity = 1): Colour {
  const value = Number.parseInt(text.slice(1), 16)
  return [value >> 16, (value >> 8) & 255, value & 255, opacity]
}

/** The colour `share` (0..1) of the way from one to another. */
export function mix(from: Colour, to: Colour, share: number): Colour {
  const t = Math.min(1, Math.max(0, share))
  const part = (a: number, b: number) => a + (b - a) * t
  return [part(from[0], to[0]), part(from[1], to[1]), part(from[2], to[2]), part(from[3], to[3])]
}

export const circle =
  (cx: number, cy: number, r: number): Shape =>
  (x, y) =>
    Math.hypot(x - cx, y - cy) - r

export const ellipse =
  (cx: number, cy: number, rx: number, ry: number): Shape =>
  (x, y) =>
    (Math.hypot((x - cx) / rx, (y - cy) / ry) - 1) * Math.min(rx, ry)

export const box =
  (cx: number, cy: number, halfW: number, halfH: number, round = 0): Shape =>
  (x, y) => {
    const [dx, dy] = [Math.abs(x - cx) - halfW + round, Math.abs(y - cy) - halfH + round]
    return Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - round
  }

/** A thick line, `r` wide at its start and `tip` at its end. */
export const stroke =
  (ax: number, ay: number, bx: number, by: number, r: number, tip = r): Shape =>
  (x, y) => {
    const [dx, dy] = [bx - ax, by - ay]
    const t = ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy || 1)
    const along = Math.min(1, Math.max(0, t))
    return Math.hypot(x - ax - dx * along, y - ay - dy * along) - (r + (tip - r) * along)
  }

/** A boat seen from above, bow to the right: `nose` is the length of its pointed part. */
export const hull =
  (length: number, beam: number, nose: number): Shape =>
  (x, y) => {
    const bow = Math.max(0, (x - (length - nose)) / nose)
    const stern = Math.max(0, (-length * 0.8 - x) / (length * 0.2))
    const width = beam * (1 - bow * bow) * (1 - stern * stern * 0.35)
    return Math.max(Math.abs(y) - width, Math.abs(x) - length) * 0.85
  }

export const join =
  (...shapes: Shape[]): Shape =>
  (x, y) =>
    Math.min(...shapes.map((shape) => shape(x, y)))

export const cut =
  (from: Shape, away: Shape): Shape =>
  (x, y) =>
    Math.max(from(x, y), -away(x, y))

export const grow =
  (shape: Shape, by: number): Shape =>
  (x, y) =>
    shape(x, y) - by

/** Light from the upper left over a rounded edge `width` deep: darker below, brighter above. */
export function bevel(shape: Shape, base: Colour, width: number, strength = 0.5): Ink {
  return (x, y, depth) => {
    const edge = Math.max(0, 1 - depth / width)
    const slope = shape(x + 0.01, y + 0.01) - shape(x - 0.01, y - 0.01)
    const light = Math.max(-1, Math.min(1, slope / 0.028)) * edge * strength
    return light > 0
      ? mix(base, [8, 10, 34, base[3]], light)
      : mix(base, [255, 250, 230, base[3]], -light)
  }
}

export type Painting = ReturnType<typeof painting>

/**
 * A painting `width` x `height` pixels on which one unit is `unit` pixels and (0, 0) is the
 * middle.
 */
export function painting(width: number, height: number, unit: number) {
  const pixels = new Float32Array(width * height * 4)
  const put = (at: number, colour: Colour, cover: number) => {
    const over = colour[3] * cover
    const under = (pixels[at + 3] ?? 0) * (1 - over)
    const total = over + under
    for (let c = 0; c < 3; c++) {
      const now = pixels[at + c] ?? 0
      pixels[at + c] = total > 0 ? ((colour[c] ?? 0) * over + now * under) / total : 0
    }
    pixels[at + 3] = total
  }
  return {
    /** Lays ink inside the shape; `soft` units of its edge fade out. */
    fill(shape: Shape, ink: Ink, soft = 1 / unit) {
      for (let row = 0; row < height; row++) {
        for (let column = 0; column < width; column++) {
          const [x, y] = [(column + 0.5 - width / 2) / unit, (row + 0.5 - height / 2) / unit]
          const distance = shape(x, y)
          const cover = Math.min(1, Math.max(0, 0.5 - distance / soft))
          if (cover === 0) continue
          put(
            (row * width + column) * 4,
            typeof ink === 'function' ? ink(x, y, -distance) : ink,
            cover,
          )
        }
      }
    },
    /** The PNG file; without opacity when `flat`. */
    png(flat = false): Buffer {
      const channels = flat ? 3 : 4
      const bytes = new Uint8Array(width * height * channels)
      for (let i = 0; i < width * height; i++) {
        for (let c = 0; c < channels; c++) {
          bytes[i * channels + c] = Math.round((pixels[i * 4 + c] ?? 0) * (c === 3 ? 255 : 1))
        }
      }
      return encodePng(bytes, width, channels)
    },
  }
}
