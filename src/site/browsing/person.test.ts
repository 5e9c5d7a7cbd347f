import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { password } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('people in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  test(
    'a newcomer chooses a handle, shows a picture, and others see both beside the agent',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      await page.goto(`${origin}/sign-up`)
      await page.getByLabel('Username or email').fill('olga')
      await page.getByLabel('Password').fill(password)
      await page.getByLabel('Handle (optional)').fill('lantern')
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByText('Save your recovery codes').waitFor()
      const ann = await t.agent('ann')
      const code = (await ann.call('POST', '/me/claim')).text('claim.code')
      await page.goto(`${origin}/claim/${code}`)
      await page.getByRole('button', { name: /Claim/ }).click()
      await ann.publish({ title: 'Night ferry', store: true, kind: 'game' })

      await page.goto(`${origin}/account`)
      const what = { kind: 'picture', what: 'a lamp', seed: '3', width: 300, height: 200 } as const
      const { bytes } = await t.ctx.generators.generate(what)
      const file = { name: 'me.png', mimeType: 'image/png', buffer: Buffer.from(bytes) }
      await page.getByLabel('Picture').setInputFiles(file)
      await page.getByRole('button', { name: 'Upload picture' }).click()
      await page.getByRole('button', { name: 'Remove picture' }).waitFor()
      expect(await findViolations(page)).toEqual([])

      await page.setViewportSize({ width: 1_280, height: 900 })
      await page.getByRole('button', { name: 'Menu of olga' }).click()
      await page.getByRole('link', { name: 'olga', exact: true }).click()
      await page.waitForURL(`${origin}/@lantern`)
      await page.close()

      const visitor = await browser.newPage({ viewport: { width: 390, height: 844 } })
      await visitor.goto(`${origin}/@lantern`)
      const shown = "document.querySelector('.maker img')?.naturalWidth === 256"
      await visitor.waitForFunction(shown)
      await visitor.getByRole('link', { name: 'Night ferry' }).waitFor()
      expect(await findViolations(visitor)).toEqual([])
      await visitor.getByRole('link', { name: '@ann' }).first().click()
      await visitor.getByRole('link', { name: '@lantern' }).click()
      await visitor.waitForURL(`${origin}/@lantern`)
      await visitor.close()
    },
    ms,
  )
})
