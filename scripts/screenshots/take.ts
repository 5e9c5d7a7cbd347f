/** Takes screenshots of pages in each look, and reports their problems. */
import { join } from 'node:path'

import type { Browser, BrowserContextOptions, Page } from 'playwright-core'

import { runAxe, scrollsSideways } from '../../src/testing/browsers/axe.ts'
import { blockedScript, type SessionState } from './owner.ts'

/** A path, or what opens the page at an origin. */
export type Target = string | ((page: Page, origin: string) => Promise<unknown>)

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

/** Loads lazy images. */
const loadImages = `Promise.all([...document.images].map((image) => {
  image.loading = 'eager'
  return image.decode()
}))`

async function findProblems(page: Page, urls: string[], origin: string): Promise<string[]> {
  const foreign = urls.filter((url) => !url.startsWith(origin) && !url.startsWith('data:'))
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
  /** Selects pages by the start of their names. */
  prefix: string
  origin: string
}

/** Takes screenshots of the pages in a session, or without one. Returns their problems. */
export async function takeScreenshots(
  { browser, folder, prefix, origin }: Run,
  pages: Record<string, Target>,
  storageState?: SessionState,
): Promise<string[]> {
  const problems: string[] = []
  const chosen = Object.entries(pages).filter(([name]) => name.startsWith(prefix))
  if (chosen.length === 0) return problems
  for (const [look, options] of Object.entries(looks)) {
    const context = await browser.newContext({
      ...options,
      reducedMotion: 'reduce',
      ...(storageState && { storageState }),
    })
    for (const [name, target] of chosen) {
      // What opens a page presses buttons by their English names.
      if (options.locale && typeof target !== 'string') continue
      const page = await context.newPage()
      const urls: string[] = []
      page.on('request', (request) => urls.push(request.url()))
      page.on('console', (message) => {
        const text = message.text()
        const isKnown = text.includes(blockedScript)
        if (!isKnown && /Content.Security.Policy/i.test(text)) problems.push(`${name}: ${text}`)
      })
      if (typeof target === 'string') await page.goto(origin + target, { waitUntil: 'load' })
      else await target(page, origin)
      await page.evaluate(loadImages)
      const found = await findProblems(page, urls, origin)
      problems.push(...found.map((problem) => `${name} ${look}: ${problem}`))
      const file = join(folder, `${name}-${look}.png`)
      await page.screenshot({ path: file, fullPage: true })
      await page.close()
    }
    await context.close()
  }
  return problems
}
