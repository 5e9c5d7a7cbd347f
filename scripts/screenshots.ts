/**
 * `bun scripts/screenshots.ts [folder [names]]`: fills a house of its own with a dozen apps,
 * pictures, remixes, an owner and an operator, and takes a picture of every page, light and dark,
 * on a phone and on a desk, into dist/screenshots or the folder; with `names`, of those that begin
 * so. Says which pages scroll sideways, move while they load or ask another host; exit 1 when one
 * does.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { type Browser, chromium, type Page } from 'playwright-core'

import { findBrowser } from '../src/testing/browsers/browser.ts'
import { serveHouse } from './bench/load/served.ts'
import { fillHouse } from './screenshots/cast.ts'
import { openPages } from './screenshots/open.ts'
import { consolePages, fillConsole, welcomeOf } from './screenshots/operator.ts'
import { fillStudio, ownPages, signUp, type State } from './screenshots/owner.ts'
import { fillWallet, walletPaths } from './screenshots/wallet.ts'

const folder = Bun.argv[2] ?? join(import.meta.dir, '../dist/screenshots')
const names = Bun.argv[3] ?? ''
const themes = ['light', 'dark'] as const
const sizes = { phone: { width: 390, height: 844 }, desk: { width: 1_280, height: 900 } }

/** How far the page has moved by itself (web.dev/cls). */
const moved = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value })
    .observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 100)
})`

const gone = { state: 'detached' } as const

/** Pictures that wait until they are near the screen come now. */
const shown = `Promise.all([...document.images].map((image) => {
  image.loading = 'eager'
  return image.decode()
}))`

async function faultsOf(page: Page, asked: string[], origin: string): Promise<string[]> {
  const sideways = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  const far = asked.filter((url) => !url.startsWith(origin))
  return [
    ...((await page.evaluate(sideways)) === true ? ['scrolls sideways'] : []),
    ...(Number(await page.evaluate(moved)) > 0.01 ? ['moves while it loads'] : []),
    ...far.map((url) => `asks ${url}`),
  ]
}

async function shoot(
  browser: Browser,
  origin: string,
  pages: Record<string, string>,
  storageState?: State,
) {
  const faults: string[] = []
  for (const colorScheme of themes) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({
        colorScheme,
        viewport,
        reducedMotion: 'reduce',
        ...(storageState && { storageState }),
      })
      for (const [name, path] of Object.entries(pages)) {
        if (!name.startsWith(names)) continue
        const page = await context.newPage()
        const asked: string[] = []
        page.on('request', (request) => asked.push(request.url()))
        page.on('console', (said) => {
          if (/Content.Security.Policy/i.test(said.text())) faults.push(`${name}: ${said.text()}`)
        })
        await page.goto(origin + path, { waitUntil: 'load' })
        await page.locator('api-reference:not(:has(.opblock))').first().waitFor(gone)
        await page.evaluate(shown)
        const found = await faultsOf(page, asked, origin)
        faults.push(...found.map((fault) => `${name} ${size} ${colorScheme}: ${fault}`))
        const file = join(folder, `${name}-${size}-${colorScheme}.png`)
        await page.screenshot({ path: file, fullPage: true })
        await page.close()
      }
      await context.close()
    }
  }
  return faults
}

const executablePath = findBrowser('chromium')
if (executablePath === undefined) process.exit(1)
mkdirSync(folder, { recursive: true })
const empty = await serveHouse()
const ctx = await serveHouse()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const cast = await fillHouse(ctx)
  const at = `http://localhost:${ctx.port}`
  const owner = await signUp(browser, at)
  const studio = await fillStudio(browser, ctx, owner)
  await fillWallet(browser, ctx, owner)
  const operated = await fillConsole(browser, ctx)
  const faults = [
    ...(await shoot(browser, `http://localhost:${empty.port}`, {
      'explore-empty': '/explore',
      'home-empty': '/',
      welcome: welcomeOf(empty),
    })),
    ...(await shoot(browser, at, openPages(cast, operated.down))),
    ...(await shoot(browser, at, { ...ownPages(studio), ...walletPaths }, owner)),
    ...(await shoot(browser, at, consolePages(operated), operated.state)),
  ]
  for (const fault of faults) console.log(fault)
  console.log(`${folder}: ${faults.length} faults`)
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  await browser.close()
  await ctx.stop()
  await empty.stop()
}
