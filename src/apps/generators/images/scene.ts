import { lookUp } from '../../../kernel/schema.ts'
import type { Random } from '../random.ts'
import { hasAnyWord, type Palette } from './palette.ts'
import { grounds, skies } from './scenes.json'

/** The size of an image, in pixels. */
export interface Size {
  width: number
  height: number
}

type Sky = (typeof skies)[number]

/** Draws the landscape that the description names, or one of the seed's choice. SVG. */
export function scene(text: string, size: Size, palette: Palette, random: Random): string {
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
