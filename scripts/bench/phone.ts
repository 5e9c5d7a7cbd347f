/**
 * `bun scripts/bench/phone.ts`: opens a game of 200 KB on slow 4G with a CPU four times slower at
 * 390 pixels, cold, beside the same page as a static file, and once more as an installed app
 * without a network. Prints the medians from the navigation to the first frame that the game has
 * painted, and exits 1 above the limit.
 */
import { type Browser, type BrowserContext, chromium } from 'playwright-core'

import { chromiumFlags, findBrowser, findInBrowser } from '../../src/testing/browsers/browser.ts'
import { median } from './load/load.ts'
import { pageOf } from './load/page.ts'
import { openPhone, slowDown } from './load/phone.ts'
import { asRecord, startBerthServer } from './load/served.ts'

const limitMs = 2_500
const gameBytes = 200_000
const runs = 5
const waitMs = 30_000

/** The game draws, and tells the time of the first frame after that: a frame is then painted. */
const play = `<canvas width=390 height=600></canvas><script>
const scene = document.querySelector('canvas').getContext('2d')
for (let at = 0; at < 2000; at += 1) {
  scene.fillStyle = 'hsl(' + at + ' 80% 50%)'
  scene.fillRect((at * 37) % 390, (at * 91) % 600, 12, 12)
}
requestAnimationFrame(() => requestAnimationFrame(() =>
  top.postMessage({ painted: performance.timeOrigin + performance.now() }, '*')))
</script>`
const listen = `if (self === top) addEventListener('message', ({ data }) => {
  if (data?.painted) self.paintedMs = data.painted - performance.timeOrigin
})`

/** The words of a real game, as a text of the script: they compress as its code does. */
const words = pageOf(gameBytes - play.length).replaceAll(/[^\w ]/g, ' ')
const game = play.replace('<script>', () => `<script>const world = '${words}'\n`)

/** Opens an address on the phone and returns the milliseconds until the game has painted. */
async function timeOf(context: BrowserContext, url: string): Promise<number> {
  const page = await context.newPage()
  await page.addInitScript(listen)
  await slowDown(page)
  await page.goto(url, { waitUntil: 'commit', timeout: waitMs })
  const ms = await findInBrowser(
    async () => Number(await page.evaluate('self.paintedMs')) || undefined,
    waitMs,
  )
  if (ms === undefined) throw new Error(`${url} has not painted.`)
  await page.close()
  return ms
}

const cold = async (browser: Browser, url: string): Promise<number> => {
  const context = await openPhone(browser)
  const ms = await timeOf(context, url)
  await context.close()
  return ms
}

/** Serves the page as a static host does, compressed once. */
function serveStatic() {
  const body = Bun.gzipSync(new TextEncoder().encode(game), { level: 9 })
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-encoding': 'gzip' }
  return Bun.serve({ port: 0, fetch: () => new Response(body, { headers }) })
}

const executablePath = findBrowser('chromium')
if (executablePath === undefined) process.exit(1)
const server = await startBerthServer()
const peer = serveStatic()
const browser = await chromium.launch({ executablePath, args: chromiumFlags })
try {
  const key = String((await server.call('POST', '/keys', {}))['key'])
  const { app } = await server.call('POST', '/apps', { html: game }, key)
  const origin = `http://localhost:${server.port}`
  const at = `${origin}/a/${String(asRecord(app)['id'])}`
  const times = { ours: [0], bare: [0], offline: [0] }
  for (const list of Object.values(times)) list.length = 0
  const phone = await openPhone(browser)
  const install = await phone.newPage()
  await install.goto(`${at}/install`)
  await install.getByText('A copy is saved').waitFor()
  await install.close()
  for (let run = 0; run < runs; run += 1) {
    times.ours.push(await cold(browser, at))
    times.bare.push(await cold(browser, `http://localhost:${peer.port}/`))
  }
  await server.stop()
  for (let run = 0; run < runs; run += 1) times.offline.push(await timeOf(phone, at))
  const [ours, bare, offline] = [times.ours, times.bare, times.offline].map(median)
  const shown = (ms = 0): string => `${ms.toFixed(0)} ms`
  console.log(`A game of ${gameBytes / 1_000} KB on slow 4G, until its first painted frame:`)
  console.log(`  first open ${shown(ours)}, the same page as a static file ${shown(bare)}`)
  console.log(`  installed and offline ${shown(offline)}`)
  if ((ours ?? 0) > limitMs) {
    console.log(`  above the limit of ${shown(limitMs)}`)
    process.exitCode = 1
  }
} finally {
  await browser.close()
  await server.stop()
  await peer.stop(true)
}
