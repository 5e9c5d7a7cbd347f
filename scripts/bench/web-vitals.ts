/**
 * `bun scripts/bench/web-vitals.ts [origin]`: fills a server with sample data and loads its pages
 * on slow 4G with a CPU four times slower at 390 pixels, cold, three times each. Prints the medians
 * of LCP and CLS, the bytes of JavaScript, of images and in total, and exits 1 above a limit. With
 * an origin, it loads the home page and Explore of that server instead.
 */
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'

import { findBrowser } from '../../src/testing/browsers/browser.ts'
import { median } from './load/load.ts'
import { startBerthServer } from './load/served.ts'
import { fillPages, type MeasuredPage } from './vitals-pages.ts'

/** Limits of every page; Explore also has one of its bytes. */
const limits = { lcpMs: 2_500, cls: 0.01, scriptBytes: 40_000, exploreBytes: 300_000 }
/** Lighthouse's slow 4G (docs: throttling), with its latency and bytes per second. */
const slow4g = {
  offline: false,
  latency: 150,
  downloadThroughput: 204_800,
  uploadThroughput: 93_750,
}
const cpuRate = 4
const runs = 3
const settleMs = 1_500

interface Vitals {
  lcpMs: number
  cls: number
  scriptBytes: number
  imageBytes: number
  bytes: number
}

/** Collects paints and shifts before the page's own scripts. */
const observe = `self.vitals = { lcp: 0, cls: 0 }
new PerformanceObserver((list) => { for (const e of list.getEntries()) vitals.lcp = e.startTime })
  .observe({ type: 'largest-contentful-paint', buffered: true })
new PerformanceObserver((list) => { for (const e of list.getEntries()) if (!e.hadRecentInput) vitals.cls += e.value })
  .observe({ type: 'layout-shift', buffered: true })`

/** Counts the bytes on the wire by type of resource. */
async function countBytes(session: CDPSession): Promise<Map<string, number>> {
  const kinds = new Map<string, string>()
  const sums = new Map<string, number>()
  await session.send('Network.enable')
  session.on('Network.responseReceived', ({ requestId, type }) => void kinds.set(requestId, type))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? 'Other'
    sums.set(kind, (sums.get(kind) ?? 0) + encodedDataLength)
  })
  return sums
}

const readVitals = async (page: Page): Promise<{ lcp: number; cls: number }> => {
  const [lcp, cls] = String(await page.evaluate('`${vitals.lcp} ${vitals.cls}`')).split(' ')
  return { lcp: Number(lcp), cls: Number(cls) }
}

async function measure(
  browser: Browser,
  origin: string,
  { path, session: storageState }: MeasuredPage,
): Promise<Vitals> {
  const context = await browser.newContext({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2.625,
    isMobile: true,
    ...(storageState && { storageState }),
  })
  const page = await context.newPage()
  await page.addInitScript(observe)
  const session = await context.newCDPSession(page)
  const sums = await countBytes(session)
  await session.send('Network.emulateNetworkConditions', slow4g)
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpuRate })
  await page.goto(origin + path, { waitUntil: 'load', timeout: 60_000 })
  await page.waitForTimeout(settleMs)
  const { lcp, cls } = await readVitals(page)
  await context.close()
  return {
    lcpMs: Math.round(lcp),
    cls,
    scriptBytes: sums.get('Script') ?? 0,
    imageBytes: sums.get('Image') ?? 0,
    bytes: [...sums.values()].reduce((sum, one) => sum + one, 0),
  }
}

function medians(all: Vitals[]): Vitals {
  const of = (name: keyof Vitals): number => median(all.map((one) => one[name]))
  const [lcpMs, cls, scriptBytes] = [of('lcpMs'), of('cls'), of('scriptBytes')]
  return { lcpMs, cls, scriptBytes, imageBytes: of('imageBytes'), bytes: of('bytes') }
}

const findProblems = (name: string, one: Vitals): string[] => [
  ...(one.lcpMs > limits.lcpMs ? ['LCP'] : []),
  ...(one.cls > limits.cls ? ['CLS'] : []),
  ...(one.scriptBytes > limits.scriptBytes ? ['JavaScript'] : []),
  ...(name === 'explore' && one.bytes > limits.exploreBytes ? ['bytes'] : []),
]

const shelves: MeasuredPage[] = [
  { name: 'home', path: '/' },
  { name: 'explore', path: '/explore' },
  { name: 'newest', path: '/explore?sort=new' },
]
const kb = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`.padStart(9)

const executablePath = findBrowser('chromium')
if (executablePath === undefined) process.exit(1)
const [given] = Bun.argv.slice(2)
const server = given === undefined ? await startBerthServer() : undefined
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
let hasFailed = false
try {
  const pages = server ? await fillPages(browser, server) : shelves
  const origin = server ? `http://localhost:${server.port}` : String(given)
  for (const page of pages) {
    const { name } = page
    const all: Vitals[] = []
    for (let run = 0; run < runs; run += 1) all.push(await measure(browser, origin, page))
    const one = medians(all)
    const problems = findProblems(name, one)
    hasFailed ||= problems.length > 0
    console.log(
      `${name.padEnd(12)} LCP ${String(one.lcpMs).padStart(5)} ms  CLS ${one.cls.toFixed(4)}  JS${kb(one.scriptBytes)}  images${kb(one.imageBytes)}  all${kb(one.bytes)}  ${problems.join(', ')}`,
    )
  }
} finally {
  await browser.close()
  await server?.stop()
}
process.exitCode = hasFailed ? 1 : 0
