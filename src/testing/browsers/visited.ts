import { type Browser, chromium } from 'playwright-core'

import type { TestHouse } from '../test-server.ts'
import { findBrowser } from './browser.ts'

/** A house behind a port of its own, and Chromium to look at it. */
export interface Visited {
  browser: Browser
  origin: string
  close(): Promise<void>
}

/** Serves a house to this machine until it is closed; there need be none before the first visit. */
export async function openVisited(ctx: () => TestHouse): Promise<Visited> {
  const fetch = (request: Request) => ctx().door(request, '127.0.0.1')
  const server = Bun.serve({ port: 0, fetch })
  const executablePath = findBrowser('chromium') ?? ''
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  return {
    browser,
    origin: `http://localhost:${server.port}`,
    async close() {
      await browser.close()
      await server.stop(true)
    },
  }
}
