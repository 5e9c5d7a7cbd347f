import { type Browser, chromium } from 'playwright-core'

import { serve } from '../fixtures/serve.ts'
import { startTestServer, type TestServer } from '../fixtures/test-server.ts'
import { chromiumFlags, findForPages } from './browser.ts'

/** A test server on a port of its own, and Chromium to open it. */
export interface BrowserSession {
  browser: Browser
  origin: string
  close(): Promise<void>
}

/** A Chromium of this process, and how many sessions have it now. */
interface SharedBrowser {
  browser: Promise<Browser>
  sessions: number
  end?: ReturnType<typeof setTimeout>
}
const shared = new Map<string, SharedBrowser>()
/** The time after which a browser without a session ends. The next file of a run comes sooner. */
const idleMs = 5_000

async function startOrFind(executablePath: string): Promise<SharedBrowser> {
  const known = shared.get(executablePath)
  if ((await known?.browser)?.isConnected() && known) return known
  const browser = chromium.launch({ executablePath, args: chromiumFlags })
  const started = { browser, sessions: 0 }
  shared.set(executablePath, started)
  return started
}

/**
 * Lends the Chromium of this process, because a start takes most of a second of the processor.
 * `giveBack` closes what was opened in it since.
 */
export async function borrowBrowser(executablePath: string): Promise<{
  browser: Browser
  giveBack(): Promise<void>
}> {
  const lent = await startOrFind(executablePath)
  lent.sessions += 1
  clearTimeout(lent.end)
  const browser = await lent.browser
  const others = new Set(browser.contexts())
  return {
    browser,
    async giveBack() {
      const own = browser.contexts().filter((context) => !others.has(context))
      await Promise.all(own.map((context) => context.close()))
      lent.sessions -= 1
      if (lent.sessions > 0) return
      lent.end = setTimeout(() => {
        if (shared.get(executablePath) === lent) shared.delete(executablePath)
        void browser.close()
      }, idleMs)
    },
  }
}

/**
 * Serves a test server until close(). The server may start after this call. `find` returns
 * where Chromium is.
 */
export async function openBrowserSession(
  ctx: () => Pick<TestServer, 'handle'>,
  find: () => string | undefined = findForPages,
): Promise<BrowserSession> {
  const server = serve(ctx)
  const { browser, giveBack } = await borrowBrowser(find() ?? '')
  return {
    browser,
    origin: `http://localhost:${server.port}`,
    async close() {
      await giveBack()
      await server.stop(true)
    },
  }
}

/** Starts a test server whose APP_URL is its own port, and Chromium to open it. */
export async function openServedSession(
  find: () => string | undefined = findForPages,
): Promise<BrowserSession & { t: TestServer }> {
  let t: TestServer
  const session = await openBrowserSession(() => t, find)
  t = await startTestServer({ APP_URL: session.origin })
  return {
    ...session,
    t,
    async close() {
      await session.close()
      await t.close()
    },
  }
}
