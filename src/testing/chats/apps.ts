/** Ten apps that hosts of chats show, each with what a player does and then sees. */
import type { FrameLocator } from 'playwright-core'

import { recordOf } from '../../kernel/schema.ts'
import { until } from '../until.ts'

/** The frames of an app in a chat. */
export interface ShownApp {
  /** The app itself. */
  app: FrameLocator
  /** The page around it, which asks the player. */
  view: FrameLocator
}

export interface ChatApp {
  name: string
  /** The body of POST /apps. */
  body: Record<string, unknown>
  /** Plays, and waits for what shows that it worked. */
  play(shown: ShownApp): Promise<void>
  /** Text that shows when the same player opens it again. */
  kept?: string
}

const cdn = 'https://cdn.jsdelivr.net/npm'

/** Returns a page in the style that an app would have. */
const page = (title: string, body: string, style = ''): string =>
  `<!doctype html><meta charset=utf-8><title>${title}</title><style>
:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}
body{margin:0;padding:16px 20px}h1{font-size:22px;margin:0 0 12px}
button{font:inherit;padding:8px 16px;border:0;border-radius:8px;background:#0b6e63;color:#fff}
input,select{font:inherit;padding:6px 10px;margin:0 8px 8px 0}${style}</style><h1>${title}</h1>${body}`

const html = (title: string, body: string, style?: string) => ({
  title,
  html: page(title, body, style),
})

const waitFor = ({ app }: ShownApp, text: string): Promise<void> =>
  app.getByText(text, { exact: true }).waitFor({ timeout: 60_000 })

const form: ChatApp = {
  name: 'form',
  body: html(
    'Order a lamp',
    `<form id=f><label>Name <input name=name></label><label>Color <select name=color><option>brass<option>steel</select></label><p><button>Order</button></p></form><p id=out></p>
<script>f.onsubmit = (e) => { e.preventDefault(); const d = new FormData(f); out.textContent = d.get('name') + ' ordered ' + d.get('color') }</script>`,
  ),
  async play(shown) {
    await shown.app.getByLabel('Name').fill('Olga')
    await shown.app.getByLabel('Color').selectOption('steel')
    await shown.app.getByRole('button', { name: 'Order' }).click()
    await waitFor(shown, 'Olga ordered steel')
  },
}

const board: ChatApp = {
  name: 'board',
  body: html(
    'Three in a row',
    `<div id=b role=grid></div><p id=out>x begins</p><script>
let turn = 'x'; const cells = [...Array(9)].map((_, i) => { const c = document.createElement('button'); c.ariaLabel = 'cell ' + i; b.append(c); return c })
const lines = [[0,1,2],[3,4,5],[6,7,8],[0,3,6],[1,4,7],[2,5,8],[0,4,8],[2,4,6]]
b.onclick = ({ target }) => { if (target.textContent || target === b) return; target.textContent = turn
if (lines.some((l) => l.every((i) => cells[i].textContent === turn))) out.textContent = turn + ' wins'; turn = turn === 'x' ? 'o' : 'x' }</script>`,
    '#b{display:grid;grid-template-columns:repeat(3,88px);gap:8px}#b button{height:88px;font-size:36px;background:#357}',
  ),
  async play(shown) {
    for (const cell of [0, 3, 1, 4, 2]) await shown.app.getByLabel(`cell ${cell}`).click()
    await waitFor(shown, 'x wins')
  },
}

const three: ChatApp = {
  name: 'three',
  body: {
    title: 'A turning cube',
    html: `<!doctype html><meta charset=utf-8><title>A turning cube</title><style>body{margin:0;background:#0b1020;color:#cde}canvas{display:block}#out{position:absolute;left:12px;top:8px;font:14px system-ui}</style>
<p id=out></p><script type=importmap>{"imports":{"three":"${cdn}/three@0.160.0/build/three.module.js"}}</script>
<script type=module>import * as THREE from 'three'
const scene = new THREE.Scene(), camera = new THREE.PerspectiveCamera(50, innerWidth / innerHeight, 0.1, 100)
camera.position.set(2, 1.6, 3); camera.lookAt(0, 0, 0)
const cube = new THREE.Mesh(new THREE.BoxGeometry(1.4, 1.4, 1.4), new THREE.MeshStandardMaterial({ color: 0xf2a541 }))
const light = new THREE.DirectionalLight(0xffffff, 3); light.position.set(3, 4, 5); scene.add(cube, light, new THREE.AmbientLight(0x8899ff, 1))
const renderer = new THREE.WebGLRenderer({ antialias: true }); renderer.setSize(innerWidth, innerHeight); document.body.append(renderer.domElement)
addEventListener('resize', () => { camera.aspect = innerWidth / innerHeight; camera.updateProjectionMatrix(); renderer.setSize(innerWidth, innerHeight) })
let frames = 0; renderer.setAnimationLoop(() => { cube.rotation.y += 0.01; renderer.render(scene, camera); if (++frames === 3) out.textContent = 'three ' + THREE.REVISION })</script>`,
  },
  play: (shown) => waitFor(shown, 'three 160'),
}

const file = (path: string, text: string) => ({ path, text })
export const folder: ChatApp = {
  name: 'folder',
  body: {
    title: 'Harbor map',
    files: [
      file(
        'index.html',
        '<!doctype html><meta charset=utf-8><title>Harbor map</title><link rel=stylesheet href=style.css><h1>Harbor map</h1><img id=map src=img/map.svg alt=Map width=320><p id=out></p><p><a href=about.html>About</a></p><script type=module src=app.js></script>',
      ),
      file('about.html', '<!doctype html><title>About</title><p>Drawn by hand</p>'),
      file('style.css', 'body{font:16px system-ui;padding:16px;background:#e9f1f4;color:#123}'),
      file(
        'app.js',
        "import { count } from './count.js'\nconst ships = await (await fetch('data/ships.json')).json()\nawait document.querySelector('#map').decode()\ndocument.querySelector('#out').textContent = count(ships) + ' ships'",
      ),
      file('count.js', 'export const count = (list) => list.length'),
      file('data/ships.json', '["Tern","Gull","Auk"]'),
      file(
        'img/map.svg',
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 160" width="320" height="160"><rect width="320" height="160" fill="#9cc7d8"/><path d="M0 110 80 70l90 50 150-60v100H0z" fill="#5b8f5a"/></svg>',
      ),
    ],
  },
  async play(shown) {
    await waitFor(shown, '3 ships')
    await shown.app.getByRole('link', { name: 'About' }).click()
    await waitFor(shown, 'Drawn by hand')
  },
}

const sound: ChatApp = {
  name: 'sound',
  body: html(
    'Bell',
    `<button id=b>Ring</button><p id=out></p><script>
b.onclick = async () => { const context = new AudioContext(); await context.resume(); const tone = new OscillatorNode(context, { frequency: 660 }); const level = new GainNode(context, { gain: 0.1 })
tone.connect(level).connect(context.destination); tone.start(); tone.stop(context.currentTime + 0.2); tone.onended = () => { out.textContent = 'rang at ' + tone.frequency.value + ' Hz' } }</script>`,
  ),
  async play(shown) {
    await shown.app.getByRole('button', { name: 'Ring' }).click()
    await waitFor(shown, 'rang at 660 Hz')
  },
}

const keyboard: ChatApp = {
  name: 'keyboard',
  body: html(
    'Lantern walk',
    `<canvas id=c width=480 height=240></canvas><p id=out></p><script>
let x = 0; const g = c.getContext('2d'); const draw = () => { g.fillStyle = '#123'; g.fillRect(0, 0, 480, 240); g.fillStyle = '#fd6'; g.beginPath(); g.arc(40 + x * 40, 120, 16, 0, 7); g.fill() }
addEventListener('keydown', ({ key }) => { if (key === 'ArrowRight') x += 1; if (key === 'ArrowLeft') x -= 1; out.textContent = 'at ' + x; draw() }); draw()</script>`,
  ),
  async play(shown) {
    await shown.app.locator('canvas').click()
    for (const key of ['ArrowRight', 'ArrowRight', 'ArrowLeft'])
      await shown.app.locator('body').press(key)
    await waitFor(shown, 'at 1')
  },
}

const saves: ChatApp = {
  name: 'saves',
  body: html(
    'Seeds',
    `<button id=b>Plant</button><p id=out></p><script>
const show = () => { out.textContent = (localStorage.seeds ?? 0) + ' seeds' }
b.onclick = () => { localStorage.seeds = Number(localStorage.seeds ?? 0) + 1; show() }; show()</script>`,
  ),
  async play(shown) {
    await waitFor(shown, '0 seeds')
    await shown.app.getByRole('button', { name: 'Plant' }).click()
    await shown.app.getByRole('button', { name: 'Plant' }).click()
    await waitFor(shown, '2 seeds')
  },
  kept: '2 seeds',
}

const scores: ChatApp = {
  name: 'scores',
  body: html(
    'High scores',
    `<button id=b>Send 42</button><ol id=list></ol><p id=out></p><script>
b.onclick = async () => { const mine = await service.scores.submit(42); const top = await service.scores.top()
list.replaceChildren(...top.map(({ name, score }) => Object.assign(document.createElement('li'), { textContent: name + ': ' + score }))); out.textContent = 'rank ' + mine.rank }</script>`,
  ),
  async play(shown) {
    await shown.app.getByRole('button', { name: 'Send 42' }).click()
    await shown.view.getByLabel('Name').fill('Olga')
    await press(shown, 'Show my scores')
    await waitFor(shown, 'rank 1')
    await waitFor(shown, 'Olga: 42')
  },
}

export const library: ChatApp = {
  name: 'library',
  body: html(
    'Tides of May',
    `<canvas id=c></canvas><p id=out></p><script src="${cdn}/chart.js@4.4.1/dist/chart.umd.js"></script><script>
const labels = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri']; new Chart(c, { type: 'line', data: { labels, datasets: [{ label: 'm', data: [1.2, 1.9, 1.4, 2.2, 1.7], borderColor: '#0b6e63' }] }, options: { animation: false } })
out.textContent = 'Chart.js ' + Chart.version</script>`,
  ),
  async play({ app }) {
    await app.getByText(/^Chart\.js 4\.\d/).waitFor({ timeout: 60_000 })
  },
}

const model: ChatApp = {
  name: 'model',
  body: html(
    'Oracle',
    `<button id=b>Ask</button><p id=out></p><script>
b.onclick = async () => { try { const reply = await service.ai.chat('Tell me of the sea'); out.textContent = 'heard: ' + reply.text.includes('sea') } catch (error) { out.textContent = 'error: ' + error.code } }</script>`,
  ),
  async play(shown) {
    await shown.app.getByRole('button', { name: 'Ask' }).click()
    await press(shown, 'Allow')
    await waitFor(shown, 'heard: true')
  },
}

/** Presses a button of the bar above the app. A press that comes too soon does not count. */
async function press({ view }: ShownApp, name: string): Promise<void> {
  const bar = view.getByRole('alertdialog')
  await bar.waitFor()
  // The host gives the bar its height.
  const isWhole =
    "document.querySelector('#question').getBoundingClientRect().bottom <= innerHeight"
  await until(() => view.locator('html').evaluate(isWhole).then(Boolean))
  while (await bar.isVisible()) {
    await bar
      .getByRole('button', { name })
      .click({ timeout: 5_000 })
      .catch(() => undefined)
    await bar.waitFor({ state: 'detached', timeout: 1_000 }).catch(() => undefined)
  }
}

/** The apps that CI shows. */
export const usualApps = [form, folder, saves, model]
export const allApps = [...usualApps, board, three, sound, keyboard, scores, library]

export const idOf = (body: unknown): string => String(recordOf(recordOf(body)['app'])['id'])
