import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('the quay in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let ann: Awaited<ReturnType<TestServer['agent']>>

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    ann = await t.agent('ann')
    await ann.publish({ title: 'Fog', kind: 'game', store: true })
    await ann.publish({ title: 'Draft' })
  }, ms)
  afterAll(() => close())

  test(
    'shows the newest apps as boats that one press plays, and a new one arrives',
    async () => {
      const page = await browser.newPage()
      const requests: string[] = []
      page.on('request', (request) => requests.push(new URL(request.url()).pathname))
      await page.clock.install()
      await page.goto(origin)
      const boats = page.locator('.pier a')
      const names = async () => (await boats.allTextContents()).map((text) => text.trim())
      expect(await names()).toEqual(['Fog by @ann'])
      t.clock.advance(1_000)
      const id = await ann.publish({ title: 'Skiff', kind: 'game', store: true })
      await page.clock.runFor(20_000)
      await page.locator('.arriving', { hasText: 'Skiff' }).waitFor()
      expect(await names()).toEqual(['Skiff by @ann', 'Fog by @ann'])
      // What has not changed is not sent again, and never the page.
      const [again] = await Promise.all([
        page.waitForResponse(`${origin}/boats`),
        page.clock.runFor(20_000),
      ])
      expect(requests.filter((path) => path === '/')).toHaveLength(1)
      expect((await again.request().sizes()).responseBodySize).toBe(0)
      await page.getByRole('link', { name: 'Skiff by @ann' }).click()
      await page.waitForURL(`${origin}/a/${id}`)
      await page.close()
    },
    ms,
  )

  test(
    'lights its lamps by the local clock, in both themes and without motion',
    async () => {
      for (const [hour, time] of [
        [12, 'day'],
        [22, 'night'],
      ] as const) {
        for (const colorScheme of ['light', 'dark'] as const) {
          const page = await browser.newPage({ colorScheme, reducedMotion: 'reduce' })
          await page.clock.setFixedTime(new Date(2026, 5, 1, hour))
          await page.goto(origin)
          await page.locator(`.quay[data-time=${time}]`).waitFor()
          expect(await findViolations(page)).toEqual([])
          expect(await page.evaluate('document.getAnimations().length')).toBe(0)
          await page.close()
        }
      }
    },
    ms,
  )

  test(
    'has the boats of one maker on their page',
    async () => {
      const ben = await t.agent('ben')
      await ben.publish({ title: 'Buoy', store: true })
      const page = await browser.newPage()
      await page.goto(`${origin}/explore/@ben`)
      await page.getByRole('heading', { name: '@ben', level: 1 }).waitFor()
      const boats = await page.locator('.pier a').allTextContents()
      expect(boats.map((text) => text.trim())).toEqual(['Buoy by @ben'])
      expect(await findViolations(page)).toEqual([])
      await page.close()
    },
    ms,
  )

  test(
    'is empty below the message of an unknown page',
    async () => {
      const page = await browser.newPage()
      const response = await page.goto(`${origin}/no-such-page`)
      expect(response?.status()).toBe(404)
      await page.getByRole('heading', { name: 'Page not found' }).waitFor()
      expect(await page.locator('.quay').count()).toBe(1)
      expect(await page.locator('.pier li').count()).toBe(0)
      await page.close()
    },
    ms,
  )
})
