import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

import { embeddedLibraries } from '../../src/apps/libraries/embedded.ts'
import { allBrowsers } from '../../src/testing/browsers/all-browsers.ts'
import { type Browser, findBrowser, findInBrowser } from '../../src/testing/browsers/browser.ts'
import { quick } from './load/load.ts'
import { pageOf } from './load/page.ts'
import {
  asRecord,
  type BerthServer,
  publishFolder,
  spawnServer,
  startBerthServer,
} from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const limit = 1.3
/** Copies of each page, each of which is opened for the first time once. */
const copies = 7
const paintMs = 30_000

type Files = Record<string, string | Uint8Array>

/** Tells the time of the first frame after `done`: a frame is painted before the next begins. */
const painted = (done = 'Promise.resolve()'): string =>
  `${done}.then(() => requestAnimationFrame(() => requestAnimationFrame(() => top.postMessage({ painted: performance.timeOrigin + performance.now() }, '*'))))`
const html = (body: string): string =>
  `<!doctype html><html><head><meta charset="utf-8"><title>Bench</title></head><body><h1>Bench</h1>${body}</body></html>`

/** A game that draws its first scene with three.js, which is a file of its folder. */
async function threeGame(): Promise<Files> {
  const three = (await embeddedLibraries()).find(
    ({ name, version }) => name === 'three' && version === '0.160.0',
  )
  const code = `import * as THREE from './three.module.js'
const scene = new THREE.Scene()
for (let at = 0; at < 500; at += 1) {
  const box = new THREE.Mesh(new THREE.BoxGeometry(), new THREE.MeshBasicMaterial())
  box.position.set(at % 10, Math.floor(at / 10), 0)
  scene.add(box)
}
scene.updateMatrixWorld()
const canvas = document.querySelector('canvas').getContext('2d')
for (const { position } of scene.children) canvas.fillRect(position.x * 9, position.y * 9, 8, 8)
${painted()}`
  return {
    'index.html': html(
      '<canvas width=400 height=400></canvas><script type=module src=game.js></script>',
    ),
    'game.js': code,
    'three.module.js': (await three?.read('build/three.module.min.js')) ?? '',
  }
}

/** A page with 100 modules, 98 images and a style sheet. */
function largeFolder(): Files {
  const numbers = Array.from({ length: 100 }, (_, at) => at)
  const svg = (at: number): string =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="${at % 9}"/></svg>`
  const modules = numbers.map((at) => [`parts/${at}.js`, `export const part = ${at}`])
  const images = numbers.slice(2).map((at) => [`img/${at}.svg`, svg(at)])
  const imports = numbers.map((at) => `import { part as p${at} } from './parts/${at}.js'`)
  const tags = images.map(([name]) => `<img src="${name}" width=9 height=9>`)
  const main = `${imports.join('\n')}\ndocument.title = p99\n${painted("new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))")}`
  return {
    'index.html': html(
      `<link rel=stylesheet href=style.css>${tags.join('')}<script type=module src=main.js></script>`,
    ),
    'main.js': main,
    'style.css': 'h1 { color: teal }',
    ...Object.fromEntries([...modules, ...images]),
  }
}

/** Publishes a page, alone or with its folder, and returns its path. */
async function publish(server: BerthServer, files: Files, key: string): Promise<string> {
  const html = files['index.html']
  if (Object.keys(files).length > 1) return publishFolder(server, key, files)
  const { app } = await server.call('POST', '/apps', { html }, key)
  return `/a/${String(asRecord(app)['id'])}`
}

/** Milliseconds from the start of a navigation, as by a click, until the page has painted. */
async function timeOf(browser: Browser, origin: string, path: string): Promise<number> {
  const tab = await browser.open()
  await tab.goto(`${origin}/robots.txt`)
  await tab.evaluate(`void setTimeout(() => (location.href = ${JSON.stringify(origin + path)}))`)
  const found = await findInBrowser(async () => {
    const text = `self.told.flatMap((m) => m?.painted ? [m.painted - performance.timeOrigin] : [])[0] ?? 0`
    const ms = await tab.evaluate(text).catch(() => 0)
    return typeof ms === 'number' && ms > 0 ? ms : undefined
  }, paintMs)
  if (found === undefined) throw new Error(`${path} has not painted`)
  await tab.close()
  return found
}

interface Pages {
  ours: { origin: string; paths: string[] }
  bare: { origin: string; paths: string[] }
}

/** Opens every copy in turns, each for the first time and once more. */
async function compare(browser: Browser, name: string, { ours, bare }: Pages): Promise<BenchRow[]> {
  const times = { first: { ours: [0], bare: [0] }, again: { ours: [0], bare: [0] } }
  for (const kind of ['ours', 'bare'] as const)
    for (const time of ['first', 'again'] as const) times[time][kind] = []
  for (const [at, path] of ours.paths.entries()) {
    const other = bare.paths[at] ?? ''
    for (const time of ['first', 'again'] as const) {
      times[time].ours.push(await timeOf(browser, ours.origin, path))
      times[time].bare.push(await timeOf(browser, bare.origin, other))
    }
  }
  return (['first', 'again'] as const).map((time) => {
    const [a, b] = [quick(times[time].ours), quick(times[time].bare)]
    const shown = `viewer: ${name}, ${time === 'first' ? 'first open' : 'opened again'} in ${browser.name}, click to first frame vs. a bare sandboxed frame`
    return atMost(`${shown} (${a.toFixed(0)} ms vs. ${b.toFixed(0)} ms)`, a / b, limit)
  })
}

/** Measures from a click to the first painted frame of pages, in Chromium. */
export async function measureOpens(): Promise<BenchRow[]> {
  const pages: Record<string, Files> = {
    'a small page': { 'index.html': html(`<p>Text</p><script>${painted()}</script>`) },
    'a page of 1 MB': {
      'index.html': html(
        `<p hidden>${pageOf(1_000_000).replaceAll(/[<>&]/g, ' ')}</p><script>${painted()}</script>`,
      ),
    },
    'a game with three.js': await threeGame(),
    'a folder of 200 files': largeFolder(),
  }
  const folder = mkdtempSync(join(tmpdir(), 'berth-opens-'))
  const server = await startBerthServer()
  const key = String((await server.call('POST', '/keys', {}))['key'])
  const rows: BenchRow[] = []
  // A tab that Firefox drives without a window paints no frame by itself.
  const chosen = allBrowsers.filter(([name]) => name === 'chromium')
  const all = new Map<string, Pages>()
  const places = chosen.flatMap(([browser]) =>
    Object.entries(pages).map(([name, files]) => ({ browser, name, files })),
  )
  for (const [index, { browser, name, files }] of places.entries()) {
    const found: Pages = {
      ours: { origin: `http://localhost:${server.port}`, paths: [] },
      bare: { origin: '', paths: [] },
    }
    for (let copy = 0; copy < copies; copy += 1) {
      const path = `/p${index}/${copy}/`
      for (const [file, content] of Object.entries(files)) {
        const target = join(folder, path, file)
        mkdirSync(dirname(target), { recursive: true })
        writeFileSync(target, content)
      }
      found.bare.paths.push(path)
      found.ours.paths.push(await publish(server, files, key))
    }
    all.set(`${browser} ${name}`, found)
  }
  const script = join(import.meta.dir, 'peers/frames.ts')
  const peer = await spawnServer([process.execPath, script, folder])
  for (const [browserName, open] of chosen) {
    const path = findBrowser(browserName)
    if (path === undefined) continue
    const browser = await open(path)
    for (const name of Object.keys(pages)) {
      const found = all.get(`${browserName} ${name}`)
      if (!found) continue
      found.bare.origin = `http://localhost:${peer.port}`
      rows.push(...(await compare(browser, name, found)))
    }
    await browser.close()
    await browser.lookups()
  }
  await peer.stop()
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
  return rows
}
