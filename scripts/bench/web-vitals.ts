/**
 * `bun scripts/bench/web-vitals.ts [origin | page ...]`: fills a server with sample data and loads
 * its pages, or those of these names, on slow 4G with a CPU four times slower at 390 pixels, cold,
 * three times each. Prints the fastest LCP, since other work of the machine only adds time, the
 * largest CLS, and the medians of the bytes before the first paint, of JavaScript, of images and in
 * total, and exits 1 above a limit. With an origin, it loads the home page and Explore of that
 * server instead.
 */
import { type Browser, type CDPSession, chromium, type Page } from 'playwright-core'

import { findBrowser } from '../../src/testing/browsers/browser.ts'
import { median } from './load/load.ts'
import { openPhone, slowDown } from './load/phone.ts'
import { startBerthServer } from './load/served.ts'
import { fillPages, type MeasuredPage } from './vitals-pages.ts'

/** Limits of every page. */
const limits = { lcpMs: 2_500, cls: 0.01, scriptBytes: 40_000 }
/** Limits of the pages that newcomers open first. */
const firstPages = new Set(['home', 'explore'])
const firstLimits = { lcpMs: 1_000, paintBytes: 150_000, bytes: 300_000 }
const runs = 3
const settleMs = 1_500

interface Vitals {
  lcpMs: number
  /** Of all files that arrived before the first paint. */
  paintBytes: number
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
function countBytes(session: CDPSession): Map<string, number> {
  const kinds = new Map<string, string>()
  const sums = new Map<string, number>()
  session.on('Network.responseReceived', ({ requestId, type }) => void kinds.set(requestId, type))
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const kind = kinds.get(requestId) ?? 'Other'
    sums.set(kind, (sums.get(kind) ?? 0) + encodedDataLength)
  })
  return sums
}

const hasPainted = `performance.getEntriesByName('first-contentful-paint').length > 0`

/** Returns LCP, CLS and the bytes of the files that arrived before the first paint. */
const vitals = `(() => {
  const [paint] = performance.getEntriesByName('first-contentful-paint')
  const files = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')]
  const early = files.filter((one) => one.responseEnd > 0 && one.responseEnd <= paint.startTime)
  return [vitals.lcp, vitals.cls, early.reduce((sum, one) => sum + one.transferSize, 0)].join(' ')
})()`

async function readVitals(page: Page) {
  const [lcp = 0, cls = 0, paintBytes = 0] = String(await page.evaluate(vitals))
    .split(' ')
    .map(Number)
  return { lcp, cls, paintBytes }
}

async function measure(
  browser: Browser,
  origin: string,
  { path, session: storageState }: MeasuredPage,
): Promise<Vitals> {
  const context = await openPhone(browser, { ...(storageState && { storageState }) })
  const page = await context.newPage()
  await page.addInitScript(observe)
  const sums = countBytes(await slowDown(page))
  await page.goto(origin + path, { waitUntil: 'load', timeout: 60_000 })
  // On a busy machine a page can be loaded before it is painted.
  await page.waitForFunction(hasPainted, undefined, { timeout: 60_000 })
  await page.waitForTimeout(settleMs)
  const { lcp, cls, paintBytes } = await readVitals(page)
  await context.close()
  return {
    lcpMs: Math.round(lcp),
    paintBytes,
    cls,
    scriptBytes: sums.get('Script') ?? 0,
    imageBytes: sums.get('Image') ?? 0,
    bytes: [...sums.values()].reduce((sum, one) => sum + one, 0),
  }
}

function summary(all: Vitals[]): Vitals {
  const of = (name: keyof Vitals): number => median(all.map((one) => one[name]))
  return {
    lcpMs: Math.min(...all.map(({ lcpMs }) => lcpMs)),
    paintBytes: of('paintBytes'),
    cls: Math.max(...all.map(({ cls }) => cls)),
    scriptBytes: of('scriptBytes'),
    imageBytes: of('imageBytes'),
    bytes: of('bytes'),
  }
}

function findProblems(name: string, one: Vitals): string[] {
  const own = { ...limits, ...(firstPages.has(name) && firstLimits) }
  return Object.entries(own).flatMap(([value, limit]) =>
    Number(Reflect.get(one, value)) > limit ? [`${value} above ${limit}`] : [],
  )
}

const shelves: MeasuredPage[] = [
  { name: 'home', path: '/' },
  { name: 'explore', path: '/explore' },
  { name: 'newest', path: '/explore?sort=new' },
]
const kb = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} KB`.padStart(9)

const executablePath = findBrowser('chromium')
if (executablePath === undefined) process.exit(1)
const names = new Set(Bun.argv.slice(2))
const given = [...names].find((name) => name.startsWith('http'))
const server = given === undefined ? await startBerthServer() : undefined
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
let hasFailed = false
try {
  const pages = server ? await fillPages(browser, server, names) : shelves
  const origin = server ? `http://localhost:${server.port}` : String(given)
  for (const page of pages) {
    const { name } = page
    const measured: Vitals[] = []
    for (let run = 0; run < runs; run += 1) measured.push(await measure(browser, origin, page))
    const one = summary(measured)
    const problems = findProblems(name, one)
    hasFailed ||= problems.length > 0
    console.log(
      `${name.padEnd(12)} LCP ${String(one.lcpMs).padStart(5)} ms  CLS ${one.cls.toFixed(4)}  first paint${kb(one.paintBytes)}  JS${kb(one.scriptBytes)}  images${kb(one.imageBytes)}  all${kb(one.bytes)}  ${problems.join(', ')}`,
    )
  }
} finally {
  await browser.close()
  await server?.stop()
}
process.exitCode = hasFailed ? 1 : 0
