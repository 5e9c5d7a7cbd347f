/** Takes screenshots of pages in each look, and reports their problems. */
import { join } from 'node:path'

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

import { runAxe, scrollsSideways } from '../../src/testing/browsers/axe.ts'
import { blockedScript, type SessionState } from './owner.ts'

/** A path, or what opens the page at an origin. */
export type Target = string | ((page: Page, origin: string) => Promise<unknown>)

/** A page that needs longer, or whose script never ends, is reported and left out. */
const pageMsMax = 90_000

const phone = { width: 390, height: 844 }
const desktop = { width: 1_280, height: 900 }

/** Both themes at both sizes in English, and each size in another language. */
export const looks: Record<string, BrowserContextOptions> = {
  'phone-light': { colorScheme: 'light', viewport: phone },
  'phone-dark': { colorScheme: 'dark', viewport: phone },
  'desktop-light': { colorScheme: 'light', viewport: desktop },
  'desktop-dark': { colorScheme: 'dark', viewport: desktop },
  'phone-arabic': { colorScheme: 'light', viewport: phone, locale: 'ar' },
  'desktop-german': { colorScheme: 'light', viewport: desktop, locale: 'de' },
}

/** Measures the cumulative layout shift (web.dev/cls). */
const layoutShift = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => { for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) sum += value })
    .observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 100)
})`

/** Loads lazy images. One that cannot be decoded stays as the page shows it. */
const loadImages = `Promise.allSettled([...document.images].map((image) => {
  image.loading = 'eager'
  return image.decode()
}))`

/** Ends a wait that has no end of its own, such as for a script of a page. */
export async function within<T>(ms: number, name: string, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`${name} took over ${ms / 1_000} s`)), ms)
  try {
    return await Promise.race([work, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

async function findProblems(page: Page, urls: string[], origin: string): Promise<string[]> {
  // Apps start from a blob: URL.
  const own = [origin, 'data:', 'blob:']
  const foreign = urls.filter((url) => !own.some((start) => url.startsWith(start)))
  // The question of the shell takes space above the app, so that nothing covers it.
  const hasQuestion = (await page.locator('#question').count()) > 0
  const shift = hasQuestion ? 0 : Number(await page.evaluate(layoutShift))
  return [
    ...((await scrollsSideways(page)) ? ['scrolls sideways'] : []),
    ...(shift > 0.01 ? ['shifts while it loads'] : []),
    ...foreign.map((url) => `requests ${url}`),
    ...(await runAxe(page)),
  ]
}

export interface Run {
  browser: Browser
  folder: string
  origin: string
  /** Selects pages by their names. */
  isChosen(name: string): boolean
}

interface Shot {
  name: string
  target: Target
  look: string
}

/** Takes a screenshot of a page that is open in a new tab. Returns its problems. */
async function takePage(page: Page, { folder, origin }: Run, shot: Shot): Promise<string[]> {
  const problems: string[] = []
  const urls: string[] = []
  page.on('request', (request) => urls.push(request.url()))
  page.on('console', (message) => {
    const text = message.text()
    const isKnown = text.includes(blockedScript)
    if (!isKnown && /Content.Security.Policy/i.test(text)) problems.push(text)
  })
  const { name, target, look } = shot
  if (typeof target === 'string') await page.goto(origin + target, { waitUntil: 'load' })
  else await target(page, origin)
  await page.evaluate(loadImages)
  problems.push(...(await findProblems(page, urls, origin)))
  // In a window as high as the page, sticky bars and backdrops of dialogs have their places.
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
  await page.setViewportSize({ width: page.viewportSize()?.width ?? desktop.width, height })
  await page.screenshot({ path: join(folder, `${name}-${look}.png`) })
  return problems
}

/**
 * Takes screenshots of the pages in a session, or without one. Returns their problems. A page that
 * fails is one of them, so that the others are still taken.
 */
export async function takeScreenshots(
  run: Run,
  pages: Record<string, Target>,
  storageState?: SessionState,
): Promise<string[]> {
  const problems: string[] = []
  const chosen = Object.entries(pages).filter(([name]) => run.isChosen(name))
  if (chosen.length === 0) return problems
  for (const [at, [look, options]] of Object.entries(looks).entries()) {
    console.log(`${look}: ${chosen.length} pages`)
    const context = await run.browser.newContext({
      ...options,
      // Several pages have a wrong code, of which an address may send a few.
      extraHTTPHeaders: { 'x-forwarded-for': `198.51.100.${at + 1}` },
      reducedMotion: 'reduce',
      ...(storageState && { storageState }),
    })
    for (const [name, target] of chosen) {
      // What opens a page presses buttons by their English names.
      if (options.locale && typeof target !== 'string') continue
      const page = await context.newPage()
      const shot = takePage(page, run, { name, target, look })
      const found = await within(pageMsMax, 'It', shot).catch((error: unknown) => [String(error)])
      problems.push(...found.map((problem) => `${name} ${look}: ${problem}`))
      await page.close()
    }
    await context.close()
  }
  return problems
}
