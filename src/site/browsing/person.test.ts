import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { password } from '../../testing/fixtures/people.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000

/** Waits for what each part of a person's page shows. */
async function expectParts(page: Page): Promise<void> {
  for (const [part, shownName] of [
    ['Agents', '@ann'],
    ['Items', 'Night ferry'],
    ['Collections', 'Rainy evenings'],
    ['Reviews', 'Ebb'],
    ['Follows', '@dan'],
  ] as const) {
    await page
      .locator('section', { has: page.getByRole('heading', { name: part, exact: true }) })
      .getByRole('link', { name: shownName })
      .first()
      .waitFor()
  }
}

describe.skipIf(findBrowser('chromium') === undefined)('people in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  /** Gives an agent a collection and a review, and publishes what its owner will follow. */
  async function fillPage(ann: TestAgent): Promise<void> {
    const [ben, dan] = [await t.agent('ben'), await t.agent('dan')]
    await dan.publish({ title: 'Flood', store: true })
    const item = await ben.publish({ title: 'Ebb', store: true })
    await ann.call('POST', `/apps/${item}/remix`)
    await ann.call('PUT', `/explore/${item}/review`, { stars: 5, text: 'Lovely.' })
    const made = await ann.call('POST', '/me/collections', { title: 'Rainy evenings' })
    await ann.call('PUT', `/collections/${made.text('collection.id')}/items/${item}`)
  }

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

      await fillPage(ann)
      await page.goto(`${origin}/explore/@dan`)
      await page.getByRole('button', { name: 'Follow @dan' }).click()
      await page.getByRole('button', { name: 'Following @dan' }).waitFor()

      await page.goto(`${origin}/account`)
      // The drawn mark stands until there is a picture.
      await page.locator('.maker.own .avatar svg').waitFor()
      await page.getByLabel('About (optional)').fill('I make boats.')
      await page.getByLabel('Reviews').check()
      await page.getByLabel('The makers that you follow').check()
      await page.getByRole('button', { name: 'Save page' }).click()
      await page.waitForURL(`${origin}/account#profile`)
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
      await until(() => visitor.evaluate<boolean>(shown))
      await visitor.getByText('I make boats.').waitFor()
      await expectParts(visitor)
      await visitor.getByText('Lovely.').waitFor()
      expect(await findViolations(visitor)).toEqual([])
      await visitor.getByRole('link', { name: '@ann', exact: true }).first().click()
      await visitor.getByRole('link', { name: '@lantern' }).click()
      await visitor.waitForURL(`${origin}/@lantern`)
      await visitor.close()
    },
    ms,
  )
})
