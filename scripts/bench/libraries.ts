import { type Browser, chromium } from 'playwright-core'

import { embeddedLibraries } from '../../src/apps/libraries/embedded.ts'
import { findBrowser } from '../../src/testing/browsers/browser.ts'
import { median } from './load/load.ts'
import { publishOn, startBerthServer } from './load/served.ts'
import { atMost, type BenchRow } from './row.ts'

const limit = 1.3
const rounds = 8
const openMs = 30_000
const file = 'build/three.min.js'
const version = '0.160.0'

/** A page that draws one frame and then says so. */
const pageOf = (script: string): string => `<!doctype html><meta charset=utf-8><title>Cube</title>
<body><script src="${script}"></script><script>
const scene = new THREE.Scene()
const camera = new THREE.PerspectiveCamera(75, 1, 0.1, 100)
camera.position.z = 3
scene.add(new THREE.Mesh(new THREE.BoxGeometry(), new THREE.MeshNormalMaterial()))
camera.updateMatrixWorld()
scene.traverse((object) => object.updateMatrixWorld())
top.postMessage({ isDrawn: scene.children.length === 1 }, '*')
</script>`

/** Resolves in the page. waitForFunction would need eval, which the viewer forbids. */
const whenDrawn = `new Promise((resolve, reject) => {
  const check = () => self.drawnAt && resolve(self.drawnAt)
  setInterval(check, 5)
  setTimeout(() => reject(new Error('The page has not drawn.')), ${openMs})
})`

const plain = `<!doctype html><title>Plain</title><p>Text</p>
<script>top.postMessage({ isDrawn: true }, '*')</script>`

/** Milliseconds from a navigation until the page has drawn. `isWarm`: it was opened before. */
async function timeOf(browser: Browser, url: string, isWarm: boolean): Promise<number> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.addInitScript(
    "if (self === top) addEventListener('message', ({ data }) => { if (data?.isDrawn) self.drawnAt = performance.now() })",
  )
  const open = async (): Promise<number> => {
    await page.goto(url)
    return Number(await page.evaluate(whenDrawn))
  }
  if (isWarm) {
    await open()
    await page.goto('about:blank')
  }
  const ms = await open()
  await context.close()
  return ms
}

/** A page that shows another one in a sandboxed frame. */
const framed = (path: string): string =>
  `<!doctype html><title>Frame</title><iframe sandbox=allow-scripts src="${path}"></iframe>`

/** A page that shows HTML in a sandboxed srcdoc frame: the viewer's wrapper without the viewer. */
const wrapped = (html: string): string => `<!doctype html><body><script>
const frame = document.createElement('iframe')
frame.sandbox = 'allow-scripts'
frame.srcdoc = ${JSON.stringify(html).replaceAll('<', '\\u003c')}
document.body.append(frame)
</script>`

/** Opens both URLs in turns and returns a row with the ratio of their medians. */
async function compare(
  browser: Browser,
  name: string,
  urls: [ours: string, bare: string],
  isWarm = false,
): Promise<BenchRow> {
  const [ours, bare]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round += 1) {
    ours.push(await timeOf(browser, urls[0], isWarm))
    bare.push(await timeOf(browser, urls[1], isWarm))
  }
  const [a, b] = [median(ours), median(bare)]
  const label = `libraries: ${name}`
  return atMost(`${label} (${a.toFixed(0)} ms vs. ${b.toFixed(0)} ms)`, a / b, limit)
}

/** Measures how long a page with three.js takes until it has drawn, in Chromium. */
export async function bench(): Promise<BenchRow[]> {
  const three = (await embeddedLibraries()).find(
    (library) => library.name === 'three' && library.version === version,
  )
  const code = await three?.read(file)
  const executablePath = findBrowser('chromium')
  if (!code || executablePath === undefined) return []
  const packed = Bun.gzipSync(new Uint8Array(code))
  const html = { headers: { 'content-type': 'text/html; charset=utf-8' } }
  const headers = {
    'content-type': 'text/javascript',
    'content-encoding': 'gzip',
    'cache-control': 'public, max-age=31536000, immutable',
  }
  const pages: Record<string, string> = {}
  const bare = Bun.serve({
    port: 0,
    fetch: ({ url }) =>
      url.endsWith('.js')
        ? new Response(packed, { headers })
        : new Response(pages[new URL(url).pathname], html),
  })
  const at = `http://localhost:${bare.port}`
  for (const [name, page] of Object.entries({ cube: pageOf(`${at}/three.js`), plain })) {
    pages[`/${name}`] = page
    pages[`/${name}-wrapped`] = wrapped(page)
    pages[`/${name}-frames`] = framed(`/${name}-wrapped`)
  }
  const ctx = await startBerthServer()
  const link = async (page: string): Promise<string> =>
    `http://localhost:${ctx.port}/a/${(await publishOn(ctx, page)).id}`
  const cube = await link(pageOf(`https://unpkg.com/three@${version}/${file}`))
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  const text = await link(plain)
  const vs = 'until drawn, vs. a static server'
  const vsFrames = 'until drawn, vs. the same two sandboxed frames of a static server'
  const rows = [
    await compare(browser, `page with three.js, first visit, ${vs}`, [cube, `${at}/cube`]),
    await compare(browser, `page with three.js, cached, ${vs}`, [cube, `${at}/cube`], true),
    await compare(
      browser,
      `page with three.js, cached, ${vsFrames}`,
      [cube, `${at}/cube-frames`],
      true,
    ),
    await compare(browser, `page without libraries, ${vs}`, [text, `${at}/plain`]),
    await compare(browser, `page without libraries, ${vsFrames}`, [text, `${at}/plain-frames`]),
  ]
  await browser.close()
  await ctx.stop()
  await bare.stop(true)
  return rows
}
