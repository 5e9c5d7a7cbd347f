import {
  bevel,
  circle,
  type Colour,
  cut,
  ellipse,
  grow,
  hex,
  join,
  mix,
  type Painting,
  painting,
  type Shape,
  stroke,
} from './paint.ts'

const rim = (base: string, edge: string) => (_x: number, _y: number, depth: number) =>
  mix(hex(edge), hex(base), depth * 8)

function eyes(art: Painting, x: number, gap: number, size: number, colour: Colour) {
  for (const side of [-1, 1]) {
    art.fill(circle(x, side * gap, size * 2.4), [colour[0], colour[1], colour[2], 0.35], size * 2)
    art.fill(ellipse(x, side * gap, size * 1.1, size * 0.8), colour)
    art.fill(circle(x + size * 0.3, side * gap, size * 0.4), hex('#ffffff'))
  }
}

function shade(): Buffer {
  const art = painting(96, 96, 46)
  const arms = [-0.42, -0.2, 0, 0.2, 0.42].map((y, n) =>
    join(
      stroke(0, y * 0.8, -0.5, y * 1.3 + (n % 2 ? 0.08 : -0.08), 0.15, 0.09),
      stroke(
        -0.5,
        y * 1.3 + (n % 2 ? 0.08 : -0.08),
        -0.88,
        y * 1.5 + (n % 2 ? -0.06 : 0.06),
        0.09,
        0.02,
      ),
    ),
  )
  const body = join(ellipse(0.22, 0, 0.56, 0.5), ...arms)
  art.fill(grow(body, 0.1), hex('#8a6cff', 0.28), 0.2)
  art.fill(body, rim('#231a4d', '#8f78ff'))
  art.fill(ellipse(0.36, -0.14, 0.22, 0.14), hex('#6a55c9', 0.5), 0.16)
  eyes(art, 0.44, 0.2, 0.1, hex('#b6fff2'))
  return art.png()
}

function darter(): Buffer {
  const art = painting(80, 64, 38)
  const fins = join(stroke(-0.1, 0, -0.5, 0.6, 0.16, 0.02), stroke(-0.1, 0, -0.5, -0.6, 0.16, 0.02))
  const body = join(stroke(0.8, 0, -0.3, 0, 0.06, 0.26), stroke(-0.3, 0, -0.95, 0, 0.2, 0.02), fins)
  art.fill(grow(body, 0.1), hex('#ff5fa8', 0.26), 0.2)
  art.fill(body, rim('#3d1440', '#ff7fb8'))
  eyes(art, 0.18, 0.1, 0.07, hex('#ffe07a'))
  return art.png()
}

function eel(): Buffer {
  const art = painting(160, 64, 76)
  const spine = Array.from({ length: 14 }, (_, n) => {
    const x = 0.8 - n * 0.13
    return circle(x, Math.sin(n * 0.75) * 0.13, 0.17 * (1 - n / 16))
  })
  const links = spine.slice(1).map((_, n) => {
    const at = (k: number) => [0.8 - k * 0.13, Math.sin(k * 0.75) * 0.13] as const
    const [from, to] = [at(n), at(n + 1)]
    return stroke(from[0], from[1], to[0], to[1], 0.17 * (1 - n / 16), 0.17 * (1 - (n + 1) / 16))
  })
  const body = join(...spine, ...links)
  art.fill(grow(body, 0.06), hex('#3fd6c0', 0.26), 0.12)
  art.fill(body, rim('#0d3648', '#4fe3c8'))
  spine.forEach(
    (spot, n) => n > 1 && n % 2 && art.fill(grow(spot, -0.09), hex('#7ff5dc', 0.5), 0.03),
  )
  eyes(art, 0.86, 0.075, 0.045, hex('#f4ffb0'))
  return art.png()
}

function hulk(): Buffer {
  const art = painting(192, 192, 92)
  const spikes = Array.from({ length: 9 }, (_, n) => {
    const turn = 0.75 + (n * (Math.PI * 2 - 1.5)) / 8
    const far = n % 2 ? 0.98 : 0.86
    return stroke(
      Math.cos(turn) * 0.45,
      Math.sin(turn) * 0.45,
      Math.cos(turn) * far,
      Math.sin(turn) * far,
      0.17,
      0.015,
    )
  })
  const head = ellipse(0.1, 0, 0.66, 0.58)
  const jaw: Shape = (x, y) => Math.abs(y) - (x - 0.42) * 0.5
  const body = cut(join(head, ...spikes), (x, y) => Math.max(jaw(x, y), 0.42 - x))
  art.fill(grow(body, 0.05), hex('#8a6cff', 0.25), 0.12)
  art.fill(body, rim('#1c1238', '#a37bff'))
  const plate = ellipse(-0.08, 0, 0.4, 0.36)
  art.fill(plate, bevel(plate, hex('#33235f'), 0.14, 0.6))
  for (const y of [-0.16, 0, 0.16])
    art.fill(ellipse(-0.12, y, 0.2, 0.035), hex('#8a6cff', 0.7), 0.03)
  for (const side of [-1, 1])
    for (let n = 0; n < 4; n++)
      art.fill(circle(0.5 + n * 0.07, side * (0.075 + n * 0.035), 0.028), hex('#efe6ff'))
  eyes(art, 0.36, 0.34, 0.075, hex('#ff9a6b'))
  return art.png()
}

/** What comes out of the dark, by file name. */
export function wraithSprites(): Record<string, Buffer> {
  return {
    'shade.png': shade(),
    'darter.png': darter(),
    'eel.png': eel(),
    'hulk.png': hulk(),
  }
}
