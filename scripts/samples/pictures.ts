import { box, circle, type Colour, hex, mix, painting, type Shape, stroke } from './paint.ts'
import { noise } from './random.ts'

const [WIDTH, HEIGHT, UNIT] = [360, 240, 120]
const everywhere: Shape = () => -1

/** A sky through the given colours from top (y = -1) to bottom (y = 1). */
function bands(...colours: string[]) {
  return (_x: number, y: number): Colour => {
    const place = Math.min(0.999, Math.max(0, (y + 1) / 2)) * (colours.length - 1)
    const n = Math.floor(place)
    return mix(hex(colours[n] ?? '#000000'), hex(colours[n + 1] ?? '#000000'), place - n)
  }
}

/** Everything below a wavy line. */
function ridge(seed: number, level: number, height: number, stretch: number): Shape {
  const rough = noise(seed)
  return (x, y) => {
    const top = rough(x * stretch + 9, 1) + rough(x * stretch * 2.7, 4) * 0.35
    return (level - top * height - y) * 0.7
  }
}

function harbour(): Buffer {
  const art = painting(WIDTH, HEIGHT, UNIT)
  art.fill(everywhere, bands('#1d2b53', '#51407a', '#b8557a', '#f58a5b', '#ffd08a', '#ffd08a'))
  art.fill(circle(0.45, 0.16, 0.2), hex('#fff1c4'))
  art.fill(ridge(3, 0.1, 0.16, 1.4), hex('#6b4a7c'))
  art.fill(ridge(8, 0.2, 0.1, 2.2), hex('#432f5e'))
  art.fill(box(0, 0.68, 2, 0.42), (x, y) =>
    bands('#f2a065', '#a4567a', '#3a3566', '#1c2348')(x, y * 2.2 - 1.4),
  )
  for (let n = 0; n < 26; n++) {
    const [x, y] = [0.45 + Math.sin(n * 2.4) * (0.02 + n * 0.004), 0.3 + n * 0.026]
    art.fill(stroke(x - 0.1 - n * 0.004, y, x + 0.1 + n * 0.004, y, 0.007), hex('#ffe2a6', 0.8))
  }
  for (const [x, tall] of [
    [-1.1, 0.7],
    [-0.66, 0.9],
    [-0.2, 0.55],
    [1.05, 0.75],
  ] as const) {
    art.fill(stroke(x, 0.42, x, 0.42 - tall, 0.012), hex('#1b1836'))
    art.fill(stroke(x, 0.42 - tall, x + 0.2, 0.36, 0.005), hex('#1b1836'))
    art.fill(stroke(x - 0.16, 0.4, x + 0.18, 0.4, 0.05, 0.035), hex('#1b1836'))
    art.fill(stroke(x - 0.14, 0.37, x + 0.14, 0.37, 0.014), hex('#e2574c'))
  }
  return art.png(true)
}

function orchard(): Buffer {
  const art = painting(WIDTH, HEIGHT, UNIT)
  art.fill(everywhere, bands('#8fd3f0', '#cdeef2', '#fdf3d4'))
  for (const [x, y] of [
    [-0.9, -0.62],
    [-0.7, -0.68],
    [-0.5, -0.6],
    [0.7, -0.74],
    [0.9, -0.7],
  ] as const)
    art.fill(circle(x, y, 0.16), hex('#ffffff', 0.85), 0.05)
  const fields = ['#b7cf6a', '#86b354', '#5b9450', '#e6b84a', '#3d7a4d']
  fields.forEach((colour, n) => art.fill(ridge(20 + n, n * 0.22 - 0.12, 0.12, 0.9), hex(colour)))
  for (let n = 0; n < 22; n++) {
    const [x, y] = [-1.5 + ((n * 0.618) % 1) * 3, 0.1 + (n / 22) * 0.8]
    const size = 0.07 + y * 0.08
    art.fill(stroke(x, y, x, y - size, size * 0.16), hex('#6b4630'))
    art.fill(circle(x, y - size * 1.7, size), hex(n % 3 ? '#2f6b45' : '#417f3f'))
    art.fill(circle(x - size * 0.25, y - size * 1.95, size * 0.6), hex('#5fa055'))
    for (const [dx, dy] of [
      [0.4, 1.4],
      [-0.5, 1.5],
      [0.1, 2.1],
    ] as const)
      art.fill(circle(x + dx * size, y - dy * size, size * 0.17), hex('#e4483b'))
  }
  return art.png(true)
}

function reef(): Buffer {
  const art = painting(WIDTH, HEIGHT, UNIT)
  art.fill(everywhere, bands('#5fe0d6', '#1fa5bd', '#12628f', '#0d2f5c'))
  for (let n = 0; n < 5; n++) {
    const x = -1.2 + n * 0.55
    art.fill(stroke(x, -1.1, x + 0.5, 0.9, 0.05, 0.22), hex('#bff7ee', 0.12), 0.1)
  }
  art.fill(ridge(31, 0.55, 0.16, 1.3), hex('#14466b'))
  art.fill(ridge(34, 0.8, 0.1, 1.8), hex('#f0d9a6'))
  const corals = ['#ff6f7d', '#ff9f5a', '#b86be0', '#ffd166', '#ff6f7d', '#ef5fa7']
  corals.forEach((colour, n) => {
    const x = -1.25 + n * 0.5
    for (let arm = -2; arm <= 2; arm++) {
      const lean = arm * 0.09
      art.fill(
        stroke(x, 0.86, x + lean, 0.55 - (2 - Math.abs(arm)) * 0.08, 0.05, 0.03),
        hex(colour),
      )
    }
  })
  for (let n = 0; n < 9; n++) {
    const [x, y] = [-1.2 + ((n * 0.381) % 1) * 2.4, -0.6 + ((n * 0.437 + 0.3) % 1) * 0.9]
    const colour = hex(n % 2 ? '#ffd166' : '#ff8552')
    art.fill(stroke(x, y, x + 0.11, y, 0.055, 0.02), colour)
    art.fill(stroke(x - 0.03, y, x - 0.12, y, 0.01, 0.06), colour)
    art.fill(circle(x + 0.08, y - 0.008, 0.011), hex('#0d2f5c'))
  }
  return art.png(true)
}

/** The sample pictures of the palette maker, by file name. */
export function samplePictures(): Record<string, Buffer> {
  return { 'harbour.png': harbour(), 'orchard.png': orchard(), 'reef.png': reef() }
}
