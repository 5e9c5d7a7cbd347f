import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type BrowserContext, chromium } from 'playwright-core'

import { serve } from '../fixtures/serve.ts'
import { startTestServer, type TestServer } from '../fixtures/test-server.ts'
import {
  addressBar,
  type Browser,
  lessOptimizing,
  localName,
  recorder,
  type Tab,
  viewport,
} from './browser.ts'
import { openFirefox } from './firefox.ts'
import { BrowserLender } from './lender.ts'
import { openWebkit } from './webkit.ts'

type Opener = [name: Browser['name'], open: (path: string) => Promise<Browser>]

/** Starts a browser of its own. */
export const startBrowser: Record<Browser['name'], Opener[1]> = {
  chromium: (path) => openChromium(path),
  firefox: (path) => openFirefox(path),
  webkit: (path) => openWebkit(path),
}
const names = ['chromium', 'firefox', 'webkit'] as const
const only = Bun.env['TEST_BROWSER']

/** The browsers of tests that run in each: all, or the one that TEST_BROWSER names. */
export const allBrowsers = names
  .filter((name) => only === undefined || name === only)
  .map((name): Opener => [name, startBrowser[name]])

/**
 * The same browsers, of which all files of a process share one. Its close() closes the tabs that
 * the file opened. Tests of its lookups, its crashes or its processes start their own.
 */
export const sharedBrowsers = allBrowsers.map(([name, open]): Opener => {
  const lender = new BrowserLender<Browser>(open, {
    isRunning: () => true,
    close: (browser) => browser.close().then(() => browser.lookups()),
  })
  return [name, (path) => borrowFrom(lender, path)]
})

async function borrowFrom(lender: BrowserLender<Browser>, path: string): Promise<Browser> {
  const [browser, giveBack] = await lender.borrow(path)
  const tabs = new Set<Tab>()
  return {
    name: browser.name,
    async open(kind) {
      const tab = await browser.open(kind)
      tabs.add(tab)
      return { ...tab, close: () => (tabs.delete(tab), tab.close()) }
    },
    async close() {
      await Promise.all([...tabs].map((tab) => tab.close()))
      giveBack()
    },
    lookups: async () => '',
  }
}

/** Starts a test server whose APP_URL is its own port, and a browser to open it. */
export async function openServedBrowser(
  open: Opener[1],
  path: string,
): Promise<{ t: TestServer; browser: Browser; origin: string; close(): Promise<void> }> {
  let t: TestServer
  const server = serve(() => t)
  const origin = `http://localhost:${server.port}`
  t = await startTestServer({ APP_URL: origin })
  const browser = await open(path)
  const close = async (): Promise<void> => {
    await browser.close()
    await browser.lookups()
    await server.stop(true)
    await t.close()
  }
  return { t, browser, origin, close }
}

// Playwright's default flags disable preconnect and prefetch, which the red team tests.
const flags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --no-default-browser-check ' +
  '--disable-component-update --disable-sync --disable-background-timer-throttling ' +
  '--disable-renderer-backgrounding --disable-backgrounding-occluded-windows ' +
  '--allow-loopback-in-peer-connection --disable-dev-shm-usage --renderer-process-limit=8 --remote-debugging-pipe'

/** Starts Chromium with a network log, which records host lookups. */
async function openChromium(path: string): Promise<Browser> {
  const folder = await mkdtemp(join(tmpdir(), 'chromium-'))
  const log = join(folder, 'net.json')
  const profile = join(folder, 'profile')
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: path,
    ignoreDefaultArgs: true,
    args: [
      ...flags.split(' '),
      ...lessOptimizing,
      `--disable-features=${addressBar.join()}`,
      `--user-data-dir=${profile}`,
      `--log-net-log=${log}`,
      // A host of the local network, and one with a certificate of the tests.
      `--host-resolver-rules=MAP ${localName} 127.0.0.1`,
      '--ignore-certificate-errors',
    ],
    viewport,
  })
  const lookups = async (): Promise<string> => {
    const text = await readFile(log, 'utf8').catch(() => '')
    await rm(folder, { recursive: true, force: true })
    return text
  }
  return { name: 'chromium', open: () => openTab(context), close: () => context.close(), lookups }
}

async function openTab(context: BrowserContext): Promise<Tab> {
  const page = await context.newPage()
  const seen: string[] = []
  await page.addInitScript(recorder)
  page.on('dialog', (dialog) => {
    seen.push(`dialog ${dialog.type()}`)
    void dialog.dismiss().catch(() => undefined)
  })
  page.on('download', (download) => seen.push(`download ${download.suggestedFilename()}`))
  // A crashed frame disconnects the page's debugger. The messages received before it stay here.
  const fieldNames = new Map<string, string[]>()
  let at = ''
  page.on('console', (message) => {
    const [mark, url = '', ...names] = message.text().split(' ')
    if (mark === 'told') fieldNames.set(url, [...(fieldNames.get(url) ?? []), ...names])
  })
  return {
    received: async () => fieldNames.get(at) ?? [],
    goto: async (url) => {
      at = url
      await page.goto(url, { waitUntil: 'commit' })
    },
    evaluate: (expression) => page.evaluate(expression),
    click: (x, y, button = 'left') => page.mouse.click(x, y, { button }),
    press: (key) => page.keyboard.press(key),
    screenshot: async (path) => void (await page.screenshot({ path })),
    seen: () => seen,
    close: () => page.close(),
  }
}
