/** Small games for sample data, drawn on a canvas of 960 x 600 pixels with three colors. */

/** Ground, main and second color. */
export type Palette = readonly [ground: string, main: string, second: string]

const page = (title: string, [ground]: Palette, script: string): string =>
  `<!doctype html><meta charset=utf-8><meta name=viewport content="width=device-width"><title>${title}</title>
<style>html,body{height:100%;margin:0;background:${ground};display:grid;place-items:center;overflow:hidden}canvas{max-width:100%;max-height:100%}</style>
<canvas width=960 height=600></canvas><script>
const c = document.querySelector('canvas').getContext('2d'), W = 960, H = 600, keys = {}
let seed = ${title.length * 7 + 3}, t = 0
const rnd = () => (seed = (seed * 16807) % 2147483647) / 2147483647
const many = (n, f) => Array.from({ length: n }, (_, i) => f(i))
const disc = (x, y, r) => { c.beginPath(); c.arc(x, y, r, 0, 7); c.fill() }
const text = (s, x, y, size, color) => { c.fillStyle = color; c.font = '700 ' + size + 'px ui-monospace, monospace'; c.fillText(s, x, y) }
onkeydown = (e) => (keys[e.key] = 1); onkeyup = (e) => (keys[e.key] = 0)
${script}
const loop = () => { t++; draw(); requestAnimationFrame(loop) }
loop()</script>`

type Scene = (title: string, palette: Palette) => string

/** A ship under stars that shoots at a formation. */
export const shooter: Scene = (title, p) =>
  page(
    title,
    p,
    `const stars = many(120, () => [rnd() * W, rnd() * H, rnd() * 2 + .4]); let x = 480, shots = []
const foes = many(40, (i) => ({ x: 120 + (i % 10) * 76, y: 80 + Math.floor(i / 10) * 58, on: rnd() > .12 }))
const draw = () => { c.fillStyle = '${p[0]}'; c.fillRect(0, 0, W, H); c.fillStyle = '#fff8'
stars.forEach(s => { s[1] = (s[1] + s[2]) % H; c.fillRect(s[0], s[1], s[2], s[2] * 3) })
x += ((keys.ArrowRight || 0) - (keys.ArrowLeft || 0)) * 6; if (t % 14 == 0) shots.push([x, 520])
foes.forEach((f, i) => { if (!f.on) return; const fx = f.x + Math.sin(t / 40) * 60; c.fillStyle = i % 20 < 10 ? '${p[1]}' : '${p[2]}'
c.fillRect(fx - 20, f.y - 10, 40, 18); c.fillRect(fx - 12, f.y - 20, 24, 10); c.fillRect(fx - 26, f.y + 4, 10, 14); c.fillRect(fx + 16, f.y + 4, 10, 14); c.fillStyle = '${p[0]}'; c.fillRect(fx - 10, f.y - 6, 6, 6); c.fillRect(fx + 4, f.y - 6, 6, 6) })
c.fillStyle = '#fff'; shots = shots.filter(s => (s[1] -= 9) > 0); shots.forEach(s => c.fillRect(s[0] - 2, s[1], 4, 16))
c.fillStyle = '${p[2]}'; c.beginPath(); c.moveTo(x, 505); c.lineTo(x + 30, 555); c.lineTo(x, 542); c.lineTo(x - 30, 555); c.fill(); text('SCORE 04280', 24, 40, 22, '#fff'); text('LIVES 3', 830, 40, 22, '#fff') }`,
  )

/** A runner over hills with coins. */
export const runner: Scene = (title, p) =>
  page(
    title,
    p,
    `let y = 0, v = 0; const draw = () => { const g = c.createLinearGradient(0, 0, 0, H); g.addColorStop(0, '${p[0]}'); g.addColorStop(1, '${p[1]}'); c.fillStyle = g; c.fillRect(0, 0, W, H)
c.fillStyle = '#fff6'; disc(760, 130, 62); for (let k = 0; k < 3; k++) { c.fillStyle = ['#0003', '#0004', '#000a'][k]; c.beginPath(); c.moveTo(0, H)
for (let x = 0; x <= W; x += 8) c.lineTo(x, 300 + k * 80 + Math.sin((x + t * (k + 1)) / (190 - k * 40)) * 46 + Math.sin((x + t * (k + 1)) / 57) * 10); c.lineTo(W, H); c.fill() }
const ground = (x) => 460 + Math.sin((x + t * 3) / 110) * 46 + Math.sin((x + t * 3) / 57) * 10
if ((keys[' '] || keys.ArrowUp) && y == 0) v = 15; y = Math.max(0, y + v); v -= .8
c.fillStyle = '${p[2]}'; many(6, i => { const x = ((i * 190 - t * 3) % 1140 + 1140) % 1140 - 60; disc(x, ground(x) - 100 - (i % 3) * 26, 13); c.fillStyle = '#fff9'; disc(x - 4, ground(x) - 104 - (i % 3) * 26, 4); c.fillStyle = '${p[2]}' })
const fy = ground(240) - 22 - y; c.fillStyle = '#e8703a'; c.beginPath(); c.ellipse(240, fy, 34, 21, 0, 0, 7); c.fill(); disc(272, fy - 16, 17); c.beginPath(); c.moveTo(262, fy - 28); c.lineTo(266, fy - 46); c.lineTo(276, fy - 30); c.fill(); c.fillStyle = '#fff'; disc(284, fy - 12, 7); c.beginPath(); c.ellipse(198, fy - 6, 22, 9, .5, 0, 7); c.fill(); c.fillStyle = '#222'; disc(276, fy - 19, 3); text('COINS 27', 28, 48, 26, '#fff') }`,
  )

/** Colored blocks on a grid, with a falling one. */
export const blocks: Scene = (title, p) =>
  page(
    title,
    p,
    `const colors = ['${p[1]}', '${p[2]}', '#f2c14e', '#e4572e', '#7bd389', '#b892ff']
const cell = (x, y, k) => { c.fillStyle = colors[k]; c.fillRect(330 + x * 30, 30 + y * 27, 28, 25); c.fillStyle = '#fff4'; c.fillRect(330 + x * 30, 30 + y * 27, 28, 5) }
const grid = many(20, y => many(10, () => y > 11 && rnd() > (y > 14 ? .12 : .5) ? Math.floor(rnd() * 6) : -1)); let px = 4
const draw = () => { c.fillStyle = '${p[0]}'; c.fillRect(0, 0, W, H); c.fillStyle = '#0005'; c.fillRect(322, 22, 314, 556); grid.forEach((r, y) => r.forEach((k, x) => k >= 0 && cell(x, y, k)))
if (t % 9 == 0) px = Math.min(7, Math.max(0, px + (keys.ArrowRight || 0) - (keys.ArrowLeft || 0))); const y = Math.floor(t / 16) % 10; [[0, 0], [1, 0], [2, 0], [1, 1]].forEach(d => cell(px + d[0], y + d[1], 1))
text('${title.toUpperCase().slice(0, 14)}', 40, 80, 26, '#fff'); text('LINES', 40, 170, 18, '#fff9'); text('42', 40, 206, 34, '#fff'); text('LEVEL', 40, 270, 18, '#fff9'); text('5', 40, 306, 34, '#fff'); text('NEXT', 690, 80, 18, '#fff9'); c.save(); c.translate(390, 80); [[0, 0], [1, 0], [1, 1], [2, 1]].forEach(d => cell(d[0], d[1], 3)); c.restore() }`,
  )

/** A lit room of a maze with ghosts. */
export const maze: Scene = (title, p) =>
  page(
    title,
    p,
    `const N = 24, M = 15, wall = many(M, y => many(N, x => x % 2 && y % 2 ? 0 : x == 0 || y == 0 || x == N - 1 || y == M - 1 || rnd() < .46 ? 1 : 0))
const draw = () => { c.fillStyle = '${p[0]}'; c.fillRect(0, 0, W, H); wall.forEach((r, y) => r.forEach((w, x) => { if (w) { c.fillStyle = '${p[1]}'; c.fillRect(x * 40 + 3, y * 40 + 3, 34, 34); c.fillStyle = '#fff2'; c.fillRect(x * 40 + 3, y * 40 + 3, 34, 6) } else { c.fillStyle = '#ffffff66'; disc(x * 40 + 20, y * 40 + 20, 3) } }))
const a = .3 + Math.abs(Math.sin(t / 9)) * .5; c.fillStyle = '#ffd23f'; c.beginPath(); c.moveTo(500, 300); c.arc(500, 300, 26, a, 6.28 - a); c.fill(); [['#ff5d73', 300, 180], ['#5de2e7', 700, 380], ['${p[2]}', 660, 140]].forEach(([k, x, y], i) => { x += Math.sin(t / 30 + i) * 30; c.fillStyle = k; disc(x, y - 4, 22); c.fillRect(x - 22, y - 4, 44, 24); c.fillStyle = '#fff'; disc(x - 8, y - 8, 6); disc(x + 8, y - 8, 6); c.fillStyle = '#123'; disc(x - 6, y - 8, 3); disc(x + 10, y - 8, 3) }) }`,
  )

/** A board of letters or numbers. */
export const board: Scene = (title, p) =>
  page(
    title,
    p,
    `const words = ['HARBOR', 'LANTERN', 'TIDES'], values = [2, 4, 8, 16, 32, 64, 128, 256], cells = many(16, () => values[Math.floor(rnd() * 8)])
const draw = () => { c.fillStyle = '${p[0]}'; c.fillRect(0, 0, W, H); c.fillStyle = '#0002'; c.beginPath(); c.roundRect(220, 60, 500, 500, 18); c.fill(); cells.forEach((v, i) => { const x = 236 + (i % 4) * 120, y = 76 + Math.floor(i / 4) * 120; c.fillStyle = v > 64 ? '${p[1]}' : v > 8 ? '${p[2]}' : '#ffffffcc'; c.beginPath(); c.roundRect(x, y, 108, 108, 14); c.fill(); c.textAlign = 'center'; text(v, x + 54, y + 68, 40, v > 8 ? '#fff' : '#4a4440'); c.textAlign = 'left' })
text('${title}', 40, 44, 26, '#3a3430'); text('1 284', 780, 120, 34, '#3a3430'); text('best 5 120', 780, 150, 17, '#3a343099') }`,
  )

/** A city at night with a road. */
export const city: Scene = (title, p) =>
  page(
    title,
    p,
    `const rows = many(3, k => many(16, i => ({ x: i * 74, w: 46 + rnd() * 40, h: 90 + rnd() * (230 - k * 40), lit: many(40, () => rnd() > .55) })))
const draw = () => { const g = c.createLinearGradient(0, 0, 0, H); g.addColorStop(0, '${p[0]}'); g.addColorStop(1, '${p[1]}'); c.fillStyle = g; c.fillRect(0, 0, W, H); c.fillStyle = '#fffbe0'; disc(170, 120, 46); rows.forEach((row, k) => row.forEach(b => { const x = ((b.x - t * (k + 1) * .4) % 1184 + 1184) % 1184 - 110; c.fillStyle = ['#26305a', '#1a2146', '#0d1230'][k]; c.fillRect(x, 500 - b.h + k * 20, b.w, b.h + 100); c.fillStyle = '${p[2]}'; if (k) b.lit.forEach((l, i) => l && i * 14 < b.h - 20 && c.fillRect(x + 8 + (i % 3) * 16, 512 - b.h + k * 20 + Math.floor(i / 3) * 22, 8, 11)) }))
c.fillStyle = '#070a1c'; c.fillRect(0, 520, W, 80); c.fillStyle = '#fff8'; many(12, i => c.fillRect(((i * 100 - t * 5) % 1200 + 1200) % 1200 - 80, 556, 46, 5)); c.fillStyle = '${p[2]}'; c.beginPath(); c.roundRect(330, 470, 210, 70, 12); c.fill(); c.fillStyle = '#cfe8ff'; many(4, i => c.fillRect(346 + i * 46, 482, 36, 24)); c.fillStyle = '#111'; disc(380, 542, 17); disc(490, 542, 17); text('22:47  STOP 6 OF 14', 28, 44, 22, '#fff') }`,
  )
