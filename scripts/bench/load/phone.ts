/** A phone in Chromium, on slow 4G, with a CPU four times slower. */
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  CDPSession,
  Page,
} from 'playwright-core'

/** Lighthouse's slow 4G (docs: throttling), with its latency and bytes per second. */
const slow4g = {
  offline: false,
  latency: 150,
  downloadThroughput: 204_800,
  uploadThroughput: 93_750,
}
const cpuRate = 4

/** Opens a profile of its own on a phone of 390 pixels. */
export const openPhone = (
  browser: Browser,
  more: BrowserContextOptions = {},
): Promise<BrowserContext> =>
  browser.newContext({
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: 2.625,
    isMobile: true,
    ...more,
  })

/** Slows a page down, and returns its debugger. */
export async function slowDown(page: Page): Promise<CDPSession> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', slow4g)
  await session.send('Emulation.setCPUThrottlingRate', { rate: cpuRate })
  return session
}
