import {
  bevel,
  box,
  circle,
  cut,
  grow,
  hex,
  join,
  mix,
  painting,
  type Shape,
  stroke,
} from './paint.ts'

function lantern(): Buffer {
  const art = painting(64, 64, 30)
  art.fill(circle(0, 0, 0.9), hex('#ffce5c', 0.3), 0.5)
  const glass = box(0, 0.06, 0.36, 0.46, 0.16)
  art.fill(grow(glass, 0.1), hex('#0b1024'))
  art.fill(glass, (x, y) => mix(hex('#fff6c9'), hex('#ff9d3c'), Math.hypot(x, y - 0.12) * 1.7))
  art.fill(join(box(0, -0.5, 0.3, 0.1, 0.05), box(0, 0.58, 0.34, 0.1, 0.05)), hex('#4a3a4f'))
  art.fill(cut(circle(0, -0.62, 0.26), circle(0, -0.62, 0.16)), hex('#4a3a4f'))
  return art.png()
}

function oil(): Buffer {
  const art = painting(64, 64, 30)
  art.fill(circle(0, 0, 0.9), hex('#6be0ff', 0.26), 0.5)
  const can = box(0, 0.1, 0.46, 0.5, 0.14)
  art.fill(grow(join(can, stroke(0.2, -0.4, 0.55, -0.75, 0.09)), 0.08), hex('#0b1024'))
  art.fill(stroke(0.2, -0.4, 0.55, -0.75, 0.08), hex('#8fb7c9'))
  art.fill(can, bevel(can, hex('#3c8fb0'), 0.2, 0.6))
  const drop: Shape = (x, y) => Math.hypot(x, y - 0.2) - 0.2 - Math.max(0, 0.1 - y) * -0.45
  art.fill(join(drop, stroke(0, 0.15, 0, -0.18, 0.14, 0.01)), hex('#fff3c4'))
  return art.png()
}

/** What drifts by and is worth fetching, by file name. */
export function dropSprites(): Record<string, Buffer> {
  return { 'flare.png': lantern(), 'oil.png': oil() }
}
