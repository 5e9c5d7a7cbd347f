import { join } from 'node:path'

import { PreviewBrowser } from '../../../src/apps/browser/preview-browser.ts'
import { previewPages } from '../../../src/apps/viewer/preview-page.ts'
import { readPublic } from '../../../src/kernel/public-files.ts'
import { stopwatch, systemClock } from '../../../src/kernel/time.ts'
import { findBrowser } from '../../../src/testing/browsers/browser.ts'
import { atMost, type BenchRow } from '../row.ts'
import { cpuSecondsOf, listChildren } from './processes.ts'

const pages = 20
const size = { width: 960, height: 600 }
const log = { info() {}, warn: console.error, error: console.error }
const signal = AbortSignal.timeout(3_600_000)

const pageOf = (at: number) => ({
  html: new TextEncoder().encode(
    `<!doctype html><title>${at}</title><h1>Page ${at}</h1><canvas></canvas><script>let n = 0
    const c = document.querySelector('canvas').getContext('2d')
    const draw = () => { c.fillStyle = 'hsl(' + (n += 1) + ' 50% 50%)'; c.fillRect(0, 0, 99, 99)
      requestAnimationFrame(draw) }
    draw()</script>`,
  ),
  files: [],
})

function open(): PreviewBrowser {
  const dataDir = join(import.meta.dir, 'browser')
  const browser = new PreviewBrowser(findBrowser('chromium'), dataDir, log)
  browser.register(previewPages(readPublic(), systemClock, async () => undefined))
  return browser
}

/** CPU and wall time of one page, in seconds. */
interface Cost {
  cpu: number
  wall: number
}

async function costOf(work: (at: number) => Promise<unknown>): Promise<Cost> {
  const startedAt = stopwatch()
  const cpu = await cpuSecondsOf(async () => {
    for (let at = 0; at < pages; at += 1) await work(at)
  })
  return { cpu: cpu / pages, wall: (stopwatch() - startedAt) / 1_000 / pages }
}

/** Checks and captures pages with the warm browser, and with a browser for each page. */
export async function benchBrowser(): Promise<BenchRow[]> {
  if (!findBrowser('chromium')) return []
  const kinds = {
    'check of a build': (browser: PreviewBrowser, at: number) =>
      browser.preview(pageOf(at), signal),
    cover: (browser: PreviewBrowser, at: number) => browser.capture(pageOf(at), size, signal),
  }
  const rows: BenchRow[] = []
  const warm = open()
  for (const [name, check] of Object.entries(kinds)) {
    const shared = await costOf((at) => check(warm, at))
    const own = await costOf(async (at) => {
      const browser = open()
      await check(browser, at)
      await browser.close()
    })
    const seconds = `${shared.cpu.toFixed(2)} s, ${shared.wall.toFixed(1)} s wall`
    const before = `${own.cpu.toFixed(2)} s, ${own.wall.toFixed(1)} s wall`
    const text = `builds: CPU time of a ${name} (${seconds}), vs. a browser of its own (${before})`
    rows.push(atMost(text, shared.cpu / own.cpu, 0.9))
  }
  await warm.preview(pageOf(0), signal)
  const megabytes = listChildren().reduce((sum, { bytes }) => sum + bytes, 0) / 1_048_576
  await warm.close()
  return [
    ...rows,
    atMost('builds: memory of the warm browser without a page', megabytes, 300, 'MB'),
  ]
}
