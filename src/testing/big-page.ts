/** A page of just under 4 MB, the limit of `html` (document 1, section 8), for tests of sizes. */
import { seeded } from './random.ts'

const BYTES_MAX = 4 * 1024 * 1024
const BYTES_SPARE = 64

const HEAD = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>A galaxy</title>
<style>html, body { margin: 0; height: 100%; background: #070b1c } canvas { display: block; width: 100%; height: 100% }</style>
</head>
<body>
<canvas id="sky" width="1200" height="800" role="img" aria-label="A spiral of stars"></canvas>
<script type="application/json" id="stars">
[
`

const TAIL = `]
</script>
<script>
const stars = JSON.parse(document.getElementById('stars').textContent)
const sky = document.getElementById('sky').getContext('2d')
for (const [x, y, size, hue] of stars) {
  sky.fillStyle = 'hsl(' + hue + ' 80% 75%)'
  sky.fillRect(x, y, size, size)
}
document.title = stars.length + ' stars'
</script>
</body>
</html>
`

/** Returns the page: a galaxy drawn from its own list of stars, in ASCII, the same every time. */
export function bigPage(): string {
  const random = seeded(2024)
  const available = BYTES_MAX - BYTES_SPARE - HEAD.length - TAIL.length
  const lines: string[] = []
  let used = 0
  for (let n = 0; n < BYTES_MAX; n++) {
    const [arm, far] = [n % 3, random() ** 0.7]
    const turn = (arm * Math.PI * 2) / 3 + far * 5 + (random() - 0.5) * (1.2 - far)
    const [x, y] = [600 + Math.cos(turn) * far * 560, 400 + Math.sin(turn) * far * 360]
    const size = 0.5 + random() * 1.5
    const hue = Math.round(20 + far * 220)
    const line = `[${x.toFixed(6)}, ${y.toFixed(6)}, ${size.toFixed(6)}, ${hue}]`
    if (used + line.length + 2 > available) break
    lines.push(line)
    used += line.length + 2
  }
  return HEAD + lines.join(',\n') + '\n' + TAIL
}
