/**
 * `bun scripts/screenshots.ts [folder [prefix]]`: fills a server with sample data and takes
 * screenshots of every page, light and dark, on phone and desktop, into the folder or
 * dist/screenshots. `prefix` selects pages by name. Prints the pages that scroll sideways, shift
 * while they load or request another host, and exits 1 when there is one.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { type Browser, chromium, type Page } from 'playwright-core'

import { findBrowser } from '../src/testing/browsers/browser.ts'
import { startEvmChain } from '../src/testing/fixtures/evm-chain.ts'
import { fixedRates, testXpub } from '../src/testing/fixtures/topups.ts'
import { startBerthServer } from './bench/load/served.ts'
import { consolePages, fillConsole, operatorPath } from './screenshots/operator.ts'
import { fillStudio, ownerPages, type SessionState, signUp } from './screenshots/owner.ts'
import { fillPacks, ownPackPages, packPages } from './screenshots/packs.ts'
import { publicPages } from './screenshots/public-pages.ts'
import { createSampleData } from './screenshots/sample-data.ts'
import { fillSocial } from './screenshots/social.ts'
import { fillWallet, walletPaths } from './screenshots/wallet.ts'

const folder = Bun.argv[2] ?? join(import.meta.dir, '../dist/screenshots')
const prefix = Bun.argv[3] ?? ''
const themes = ['light', 'dark'] as const
const sizes = { phone: { width: 390, height: 844 }, desktop: { width: 1_280, height: 900 } }

/** Measures the cumulative layout shift (web.dev/cls). */
const layoutShift = `new Promise((resolve) => {
  let sum = 0
  new PerformanceObserver((list) => { for (const { value } of list.getEntries()) sum += value })
    .observe({ type: 'layout-shift', buffered: true })
  setTimeout(() => resolve(sum), 100)
})`

const detached = { state: 'detached' } as const

/** Loads lazy images. */
const loadImages = `Promise.all([...document.images].map((image) => {
  image.loading = 'eager'
  return image.decode()
}))`

async function findProblems(page: Page, urls: string[], origin: string): Promise<string[]> {
  const sideways = 'document.documentElement.scrollWidth > document.documentElement.clientWidth'
  const foreign = urls.filter((url) => !url.startsWith(origin))
  return [
    ...((await page.evaluate(sideways)) === true ? ['scrolls sideways'] : []),
    ...(Number(await page.evaluate(layoutShift)) > 0.01 ? ['shifts while it loads'] : []),
    ...foreign.map((url) => `requests ${url}`),
  ]
}

async function takeScreenshots(
  browser: Browser,
  origin: string,
  pages: Record<string, string>,
  storageState?: SessionState,
) {
  const problems: string[] = []
  for (const colorScheme of themes) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const context = await browser.newContext({
        colorScheme,
        viewport,
        reducedMotion: 'reduce',
        ...(storageState && { storageState }),
      })
      for (const [name, path] of Object.entries(pages)) {
        if (!name.startsWith(prefix)) continue
        const page = await context.newPage()
        const urls: string[] = []
        page.on('request', (request) => urls.push(request.url()))
        page.on('console', (message) => {
          const text = message.text()
          if (/Content.Security.Policy/i.test(text)) problems.push(`${name}: ${text}`)
        })
        await page.goto(origin + path, { waitUntil: 'load' })
        await page.locator('api-reference:not(:has(.opblock))').first().waitFor(detached)
        await page.evaluate(loadImages)
        const found = await findProblems(page, urls, origin)
        problems.push(...found.map((problem) => `${name} ${size} ${colorScheme}: ${problem}`))
        const file = join(folder, `${name}-${size}-${colorScheme}.png`)
        await page.screenshot({ path: file, fullPage: true })
        await page.close()
      }
      await context.close()
    }
  }
  return problems
}

const executablePath = findBrowser('chromium')
if (executablePath === undefined) process.exit(1)
mkdirSync(folder, { recursive: true })
const empty = await startBerthServer()
const chain = await startEvmChain()
const server = await startBerthServer(undefined, {
  TRUSTED_PROXIES: '127.0.0.1,::1',
  TOPUP_RATES: fixedRates,
  TOPUP_EVM_XPUB: testXpub,
  TOPUP_EVM_RPC_URLS: chain.url,
})
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
try {
  const data = await createSampleData(server)
  const at = `http://localhost:${server.port}`
  const owner = await signUp(browser, at)
  const studio = await fillStudio(browser, server, owner)
  const invoice = await fillWallet(browser, server, owner)
  const social = await fillSocial(browser, server, owner)
  const packs = await fillPacks(browser, server, owner)
  const cases = await fillConsole(browser, server)
  const own = {
    ...ownerPages(studio),
    ...ownPackPages(packs),
    ...walletPaths,
    ...social,
    'wallet-invoice': invoice,
  }
  const problems = [
    ...(await takeScreenshots(browser, `http://localhost:${empty.port}`, {
      'explore-empty': '/explore',
      'home-empty': '/',
      welcome: operatorPath(empty),
    })),
    ...(await takeScreenshots(browser, at, {
      ...publicPages(data, cases.down),
      ...packPages(packs),
      'collection-public': social.collection,
    })),
    ...(await takeScreenshots(browser, at, own, owner)),
    ...(await takeScreenshots(browser, at, consolePages(cases), cases.state)),
  ]
  for (const problem of problems) console.log(problem)
  console.log(`${folder}: ${problems.length} problems`)
  process.exitCode = problems.length === 0 ? 0 : 1
} finally {
  await browser.close()
  await server.stop()
  await empty.stop()
  await chain.stop()
}
