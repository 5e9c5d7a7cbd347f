import { type Browser, chromium } from 'playwright-core'

import { lazy } from '../../core/lazy.ts'
import type { TestServer } from '../fixtures/test-server.ts'
import { findBrowser } from './browser.ts'

/** A test server on a port of its own, and Chromium to open it. */
export interface BrowserSession {
  browser: Browser
  origin: string
  close(): Promise<void>
}

/** Without a GPU, Chromium would draw by emulating one, which takes longer. */
const args = ['--no-sandbox', '--disable-gpu']

/** One browser for all files of a process. It ends with the process. */
const launch = lazy(() => chromium.launch({ executablePath: findBrowser('chromium') ?? '', args }))

/** Serves a test server until close(). The server may start after this call. */
export async function openBrowserSession(ctx: () => TestServer): Promise<BrowserSession> {
  const fetch = (request: Request) => ctx().handle(request, '127.0.0.1')
  const server = Bun.serve({ port: 0, fetch })
  const browser = await launch()
  return {
    browser,
    origin: `http://localhost:${server.port}`,
    async close() {
      await Promise.all(browser.contexts().map((context) => context.close()))
      await server.stop(true)
    },
  }
}
