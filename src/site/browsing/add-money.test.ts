import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { coins } from '../../money/payments/coins/method.ts'
import { watchNetwork } from '../../money/payments/coins/watch.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { type EvmChain, startEvmChain } from '../../testing/fixtures/evm-chain.ts'
import { signUp } from '../../testing/fixtures/form-browser.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { testXpub } from '../../testing/fixtures/topups.ts'

const ms = 120_000
const network = 'eip155:1'

describe.skipIf(findBrowser('chromium') === undefined)('adding money in chromium', () => {
  let chain: EvmChain
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let cookie = ''

  beforeAll(async () => {
    chain = await startEvmChain()
    await chain.mine(20)
    t = await startTestServer({
      TOPUP_EVM_XPUB: testXpub,
      TOPUP_EVM_RPC_URLS: chain.url,
      TOPUP_EVM_CONFIRMATIONS: '2',
    })
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    cookie = (await signUp(t, 'olga')).cookie() ?? ''
    await watchNetwork(t.ctx, network)
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
    await chain.stop()
  })

  async function mine(): Promise<void> {
    await chain.mine(1)
    t.clock.advance(10_000)
    await watchNetwork(t.ctx, network)
  }

  test(
    'takes the address away when the invoice expires, while its copy button has the focus',
    async () => {
      const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
      await context.addCookies([{ name: 'berth', value: cookie, url: origin }])
      const page = await context.newPage()
      await page.goto(`${origin}/wallet/add?amount=20&method=usdt`)
      await page.getByRole('button', { name: 'Continue' }).click()
      const address = page.getByLabel('Address', { exact: true }).first()
      await address.waitFor()
      await page.getByRole('button', { name: /Copy/ }).first().focus()
      t.clock.advance(coins.usdt.lockMs)
      await page.getByRole('heading', { name: 'Invoice expired' }).waitFor()
      expect([await address.count(), await page.locator('.qr').count()]).toEqual([0, 0])
      expect(await findViolations(page)).toEqual([])
      await page.getByRole('link', { name: 'Create a new invoice' }).click()
      expect(await page.getByLabel(/Amount in USD/).inputValue()).toBe('20')
      await context.close()
    },
    ms,
  )

  for (const [javaScriptEnabled, width, colorScheme] of [
    [true, 1280, 'light'],
    [false, 390, 'dark'],
  ] as const) {
    const scripts = javaScriptEnabled ? 'with scripts' : 'without scripts'
    const name = `a person pays an invoice ${scripts} at ${width} px`
    test(
      name,
      async () => {
        const viewport = { width, height: 900 }
        const context = await browser.newContext({ javaScriptEnabled, viewport, colorScheme })
        await context.addCookies([{ name: 'berth', value: cookie, url: origin }])
        const page = await context.newPage()
        const see = async (text: string): Promise<void> => {
          // It fails while the sent form still navigates, which brings a new page as well.
          if (!javaScriptEnabled) await page.reload().catch(() => undefined)
          await page.getByText(text).first().waitFor()
        }
        await page.goto(`${origin}/wallet`)
        await page.getByRole('link', { name: 'Add money' }).first().click()
        await page.getByRole('radio', { name: /USDT/ }).check()
        await page.getByLabel(/Amount in USD/).fill('20')
        await page.getByRole('button', { name: 'Continue' }).click()
        await see('Waiting for payment')
        const address = await page.getByLabel('Address', { exact: true }).first().innerText()
        // Cameras read black on white in both themes.
        const colors =
          '(({ fill, stroke }) => [fill, stroke])(getComputedStyle(document.querySelector(".qr path")))'
        expect(await page.evaluate<string[]>(colors)).toEqual(['rgb(0, 0, 0)', 'none'])
        const isFirst = javaScriptEnabled && width === 1280
        expect(isFirst ? await findViolations(page) : []).toEqual([])
        const overflow = 'document.documentElement.scrollWidth - innerWidth'
        expect(await page.evaluate<number>(overflow)).toBeLessThanOrEqual(0)
        await chain.sendUsdt([address.trim(), 20_000_000n])
        await mine()
        await see('Payment seen, waiting for confirmations')
        await mine()
        await see('20,000 credits')
        await context.close()
      },
      ms,
    )
  }
})
