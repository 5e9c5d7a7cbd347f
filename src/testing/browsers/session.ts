import { type Browser, chromium } from 'playwright-core'

import { serve } from '../fixtures/serve.ts'
import { startTestServer, type TestServer } from '../fixtures/test-server.ts'
import { chromiumFlags, findForPages } from './browser.ts'
import { BrowserLender } from './lender.ts'

/** A test server on a port of its own, and Chromium to open it. */
export interface BrowserSession {
  browser: Browser
  origin: string
  close(): Promise<void>
}

const lender = new BrowserLender<Browser>(
  (executablePath) => chromium.launch({ executablePath, args: chromiumFlags }),
  { isRunning: (browser) => browser.isConnected(), close: (browser) => browser.close() },
)

/** Lends the Chromium of this process. `giveBack` closes what was opened in it since. */
export async function borrowBrowser(executablePath: string): Promise<{
  browser: Browser
  giveBack(): Promise<void>
}> {
  const [browser, giveBack] = await lender.borrow(executablePath)
  const others = new Set(browser.contexts())
  return {
    browser,
    async giveBack() {
      const own = browser.contexts().filter((context) => !others.has(context))
      await Promise.all(own.map((context) => context.close()))
      giveBack()
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
