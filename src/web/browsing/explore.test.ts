import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('Explore in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let id = ''

  beforeAll(async () => {
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    t = await startTestServer({ APP_URL: origin })
    const ann = await t.agent('ann')
    for (let at = 0; at < 60; at += 1) {
      t.clock.advance(1_000)
      id = await ann.publish({ title: `Boat ${at}`, store: true })
    }
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
  })

  const titles = (page: Page) => page.locator('.tile h3').allTextContents()

  test(
    'returns to the results before a typed search on Back',
    async () => {
      const page = await browser.newPage()
      await page.goto(`${origin}/explore?sort=top`)
      const box = page.locator('input[type=search]')
      await box.pressSequentially('boat 1', { delay: 250 })
      await page.waitForURL('**/explore?q=boat+1&sort=top')
      const found = await titles(page)
      await box.press('Tab')
      await box.fill('boat 22')
      await page.waitForURL('**/explore?q=boat+22&sort=top')
      expect(await titles(page)).toEqual(['Boat 22'])
      await page.goBack()
      await page.waitForURL('**/explore?q=boat+1&sort=top')
      await page.locator('.tile').nth(1).waitFor()
      expect([await titles(page), await box.inputValue()]).toEqual([found, 'boat 1'])
      await page.goBack()
      await page.waitForURL('**/explore?sort=top')
      await page.locator('.tile').nth(23).waitFor()
      expect([await box.inputValue(), await page.inputValue('select')]).toEqual(['', 'top'])
      await page.goForward()
      await page.locator('.tile').nth(found.length).waitFor({ state: 'detached' })
      expect(await box.inputValue()).toBe('boat 1')
      await page.close()
    },
    ms,
  )

  test(
    'appends tiles and keeps the place on Back, with and without JavaScript',
    async () => {
      for (const javaScriptEnabled of [true, false]) {
        const context = await browser.newContext({ javaScriptEnabled })
        const page = await context.newPage()
        const more = page.getByRole('link', { name: 'Show more' })
        await page.goto(`${origin}/explore`)
        const first = await titles(page)
        for (const count of [48, 60]) {
          await more.click()
          await page.waitForURL(`**/explore?shown=${count === 60 ? 72 : 48}*`)
          await page
            .locator('.tile')
            .nth(count - 1)
            .waitFor()
          expect(await titles(page)).toHaveLength(count)
        }
        expect((await titles(page)).slice(0, 24)).toEqual(first)
        expect(await more.count()).toBe(0)
        const tile = page.locator('.tile-link').nth(50)
        await tile.click()
        await page.waitForURL('**/explore/*')
        await page.goBack()
        await tile.waitFor()
        expect(await titles(page)).toHaveLength(60)
        await context.close()
      }
    },
    ms,
  )

  test(
    'opens an app without a message in the console',
    async () => {
      const page = await browser.newPage()
      const messages: string[] = []
      page.on('console', (message) => messages.push(message.text()))
      // A page of the site comes first, as for visitors.
      await page.goto(`${origin}/explore/${id}`)
      await page.goto(`${origin}/a/${id}`)
      await page.frameLocator('iframe').frameLocator('iframe').locator('body').waitFor()
      expect(messages).toEqual([])
      await page.close()
    },
    ms,
  )
})
