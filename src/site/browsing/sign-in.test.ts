import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext, Page } from 'playwright-core'

import { operatorLink } from '../../people/people.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { addPasskeyDevice } from '../../testing/browsers/passkey-device.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { IdentityProvider } from '../../testing/fakes/identity-provider.ts'
import { password } from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('signing in, in chromium', () => {
  const provider = new IdentityProvider()
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    t = await startTestServer({ ...provider.settings, APP_URL: origin })
  }, ms)
  afterAll(async () => {
    await close()
    await provider.close()
    await t.close()
  })

  /** Opens a browser context and collects its CSP violations. */
  async function open(): Promise<{ context: BrowserContext; page: Page; errors: string[] }> {
    const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
    context.setDefaultTimeout(ms / 2)
    const page = await context.newPage()
    const errors: string[] = []
    page.on(
      'console',
      (message) => void (message.type() === 'error' && errors.push(message.text())),
    )
    return { context, page, errors }
  }

  test(
    'uses the operator’s link, signs in with a passkey and removes it',
    async () => {
      const { context, page, errors } = await open()
      await addPasskeyDevice(page)
      await page.goto((await operatorLink(t.ctx)) ?? '')
      await page.fill('input[name=name]', 'olga')
      await page.fill('input[name=password]', password)
      await page.click('form button')
      expect(await page.locator('.codes li').count()).toBe(8)
      expect(await findViolations(page)).toEqual([])
      await page.click('text=I saved my codes')
      await page.waitForURL(`${origin}/console`)
      await page.goto(`${origin}/account`)
      expect(await page.textContent('main')).toContain('You are the operator')

      await page.fill('passkey-form input[name=name]', 'Phone')
      await page.click('text=Add passkey')
      await page.getByRole('region', { name: 'Passkeys' }).getByText('Phone').first().waitFor()
      expect(await findViolations(page)).toEqual([])
      await page.fill('passkey-form input[name=name]', 'Again')
      await page.click('text=Add passkey')
      await page.getByText('This device already has a passkey').waitFor()

      await page.getByRole('button', { name: 'Sign out' }).first().click()
      await page.goto(`${origin}/sign-in?next=/wallet`)
      expect(await findViolations(page)).toEqual([])
      await page.click('text=Sign in with a passkey')
      await page.waitForURL(`${origin}/wallet`)

      await page.goto(`${origin}/account`)
      await page.click('[aria-label="Remove Phone"]')
      expect(await findViolations(page)).toEqual([])
      expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Cancel')
      await page.getByRole('dialog').getByText('You can no longer sign in with it.').click()
      expect(await page.evaluate('document.activeElement.role')).toBe('dialog')
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      expect(await page.getByRole('region', { name: 'Passkeys' }).count()).toBe(0)
      await page.getByRole('button', { name: 'Sign out' }).first().click()
      await page.goto(`${origin}/sign-in`)
      await page.click('text=Sign in with a passkey')
      await page.getByText('This passkey is not registered for any account').waitFor()
      expect(errors.filter((text) => !text.includes('401'))).toEqual([])
      await context.close()
    },
    ms,
  )

  test(
    'creates no passkey without user verification',
    async () => {
      const { context, page } = await open()
      await addPasskeyDevice(page, 'unknown')
      await page.goto(`${origin}/sign-in`)
      await page.click('text=Sign in with a passkey')
      await page.getByText('The passkey was not used').waitFor()
      expect(page.url()).toBe(`${origin}/sign-in`)
      await context.close()
    },
    ms,
  )

  test(
    'signs up with a provider and links it to another account',
    async () => {
      const { context, page, errors } = await open()
      await page.goto(`${origin}/sign-up`)
      await page.click('text=Sign in with Harbour ID')
      await page.click('text=I saved my codes')
      await page.waitForURL(`${origin}/new`)
      await page.goto(`${origin}/account`)
      expect(await page.textContent('h1')).toBe('ann.sailor')
      expect(await findViolations(page)).toEqual([])

      await context.clearCookies()
      await page.goto(`${origin}/sign-up`)
      await page.fill('input[name=name]', 'bea')
      await page.fill('input[name=password]', password)
      await page.click('form button')
      await page.goto(`${origin}/account`)
      await page.click('text=Connect Harbour ID')
      await page.getByText('This sign-in belongs to another account').waitFor()
      expect(errors.filter((text) => !text.includes('409'))).toEqual([])
      await context.close()
    },
    ms,
  )

  test(
    'ignores a second submit of a form',
    async () => {
      const { context, page } = await open()
      await page.goto(`${origin}/sign-up`)
      await page.fill('input[name=name]', 'dora')
      await page.fill('input[name=password]', password)
      const sent: string[] = []
      const pressed = Promise.withResolvers<void>()
      await page.route(`${origin}/sign-up`, async (route) => {
        sent.push(route.request().method())
        await pressed.promise
        await route.continue()
      })
      // Waiting for a navigation would wait for the delayed one.
      const { x = 0, y = 0 } = (await page.locator('form button').boundingBox()) ?? {}
      const begun = page.waitForRequest(`${origin}/sign-up`)
      await page.mouse.click(x + 9, y + 9)
      await begun
      await page.mouse.click(x + 9, y + 9)
      pressed.resolve()
      await page.locator('.codes').waitFor()
      expect(sent).toEqual(['POST'])
      await context.close()
    },
    ms,
  )

  test(
    'works without JavaScript, except for passkeys',
    async () => {
      const context = await browser.newContext({ javaScriptEnabled: false })
      const page = await context.newPage()
      await page.goto(`${origin}/sign-in?next=/account`)
      expect(await page.getByText('Sign in with a passkey').isVisible()).toBe(false)
      provider.user = { sub: 'u-2', preferred_username: 'cyrus' }
      await page.click('text=Sign in with Harbour ID')
      await page.click('text=I saved my codes')
      await page.waitForURL(`${origin}/account`)
      await context.close()
    },
    ms,
  )
})
