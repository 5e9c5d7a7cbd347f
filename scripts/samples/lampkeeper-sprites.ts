import {
  bevel,
  box,
  circle,
  grow,
  hex,
  hull,
  mix,
  type Painting,
  painting,
  type Shape,
  stroke,
} from './paint.ts'
import { noise } from './random.ts'

const INK = hex('#0b1024')

function island(): Buffer {
  const art = painting(256, 256, 118)
  const rough = noise(7)
  const blob =
    (radius: number, wobble: number): Shape =>
    (x, y) => {
      const turn = Math.atan2(y, x)
      const edge = rough(Math.cos(turn) * 2.2 + 5, Math.sin(turn) * 2.2 + 5) * wobble
      return Math.hypot(x, y) - radius - edge
    }
  const [shore, rock, grass] = [blob(0.86, 0.12), blob(0.76, 0.12), blob(0.6, 0.16)]
  art.fill(shore, hex('#1d3a55', 0.9), 0.12)
  art.fill(rock, bevel(rock, hex('#6d7590'), 0.16, 0.75))
  for (let n = 0; n < 26; n++) {
    const [turn, far] = [n * 2.4, 0.7 + rough(n, 3) * 0.1]
    const stone = circle(Math.cos(turn) * far, Math.sin(turn) * far, 0.045 + (n % 4) * 0.012)
    art.fill(stone, bevel(stone, mix(hex('#8a91a8'), hex('#565d7a'), (n % 3) / 2), 0.05, 0.7))
  }
  art.fill(grass, bevel(grass, hex('#4f8f6b'), 0.1, 0.45))
  for (let n = 0; n < 60; n++) {
    const [x, y] = [rough(n, 11) * 0.62, rough(n, 17) * 0.62]
    if (grass(x, y) < -0.05) art.fill(circle(x, y, 0.018), hex(n % 2 ? '#6fb184' : '#3f7a5c'))
  }
  for (let plank = 0; plank < 7; plank++) {
    const board = box(0.52 + plank * 0.065, 0.34, 0.028, 0.09, 0.01)
    art.fill(grow(board, 0.012), INK)
    art.fill(board, bevel(board, hex(plank % 2 ? '#b07b4c' : '#9a6a41'), 0.03, 0.4))
  }
  tower(art)
  return art.png()
}

function tower(art: Painting) {
  const cottage = box(-0.4, 0.26, 0.17, 0.13, 0.02)
  art.fill(grow(cottage, 0.025), INK)
  art.fill(cottage, hex('#c8523f'))
  art.fill(box(-0.4, 0.32, 0.17, 0.065, 0.02), hex('#9c3a33'))
  art.fill(box(-0.31, 0.2, 0.03, 0.03), hex('#f2e6cf'))
  art.fill(circle(0.05, 0.07, 0.36), hex('#081024', 0.4), 0.12)
  const rings = ['#0b1024', '#f4ead6', '#d94b3d', '#f4ead6', '#23304f']
  rings.forEach((colour, n) => {
    const ring = circle(0, 0, 0.345 - n * 0.058 + (n ? 0.03 : 0))
    art.fill(ring, bevel(ring, hex(colour), 0.12, 0.5))
  })
  art.fill(circle(0, 0, 0.11), hex('#ffe9a8'))
  art.fill(circle(0, 0, 0.06), hex('#fffdf2'), 0.06)
}

function boat(
  length: number,
  beam: number,
  deck: string,
  side: string,
  dress: (art: Painting) => void,
): Buffer {
  const art = painting(144, 72, 68)
  const body = hull(length, beam, length * 0.75)
  art.fill(grow(body, 0.045), INK)
  art.fill(body, bevel(body, hex(side), 0.08, 0.5))
  art.fill(grow(body, -0.075), hex(deck))
  dress(art)
  return art.png()
}

function dinghy(art: Painting) {
  for (const x of [-0.3, 0.05]) art.fill(box(x, 0, 0.05, 0.24, 0.02), hex('#8a5a34'))
  const sail: Shape = (x, y) =>
    Math.max(Math.abs(y + 0.02) - (0.34 - x) * 0.42, -x - 0.42, x - 0.34)
  art.fill(grow(sail, 0.03), INK)
  art.fill(sail, (_x, y) => mix(hex('#fffaf0'), hex('#f3c98b'), y * 2 + 0.5))
  art.fill(stroke(-0.42, -0.02, 0.4, -0.02, 0.02), hex('#5b3a22'))
}

function trawler(art: Painting) {
  const cabin = box(-0.3, 0, 0.2, 0.19, 0.05)
  art.fill(grow(cabin, 0.03), INK)
  art.fill(cabin, bevel(cabin, hex('#fbf3e2'), 0.08, 0.4))
  art.fill(box(-0.15, 0, 0.035, 0.14, 0.02), hex('#ffd56b'))
  for (const y of [-0.12, 0.02, 0.14]) {
    const crate = box(0.22, y, 0.09, 0.055, 0.01)
    art.fill(grow(crate, 0.015), INK)
    art.fill(crate, hex(y > 0 ? '#e8a23c' : '#c97a35'))
  }
}

function liner(art: Painting) {
  const ctx = box(-0.12, 0, 0.5, 0.19, 0.1)
  art.fill(grow(ctx, 0.03), INK)
  art.fill(ctx, bevel(ctx, hex('#ffffff'), 0.1, 0.4))
  for (const x of [-0.4, -0.12, 0.16]) {
    const funnel = circle(x, 0, 0.095)
    art.fill(grow(funnel, 0.025), INK)
    art.fill(funnel, bevel(funnel, hex('#e2574c'), 0.06, 0.5))
    art.fill(circle(x, 0, 0.05), INK)
  }
  for (let n = 0; n < 6; n++)
    for (const y of [-0.15, 0.15]) art.fill(circle(-0.5 + n * 0.15, y, 0.025), hex('#ffd56b'))
}

/** What the keeper guards, by file name. */
export function keeperSprites(): Record<string, Buffer> {
  return {
    'island.png': island(),
    'dinghy.png': boat(0.72, 0.34, '#c98f58', '#7d4a2b', dinghy),
    'trawler.png': boat(0.9, 0.36, '#d9b98c', '#2f7f86', trawler),
    'liner.png': boat(1.0, 0.33, '#c9a877', '#26345f', liner),
  }
}
