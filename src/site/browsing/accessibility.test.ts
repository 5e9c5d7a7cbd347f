/** Pages of a person and their states that no other test of browsers checks with axe-core. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext } from 'playwright-core'

import { takeDown } from '../../apps/moderation/moderation.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { register, SignIn } from '../../testing/fixtures/oauth-client.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { isPart } from '../../testing/thorough.ts'

const ms = 300_000

describe.skipIf(findBrowser('chromium') === undefined)('accessible pages in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let id = ''
  let down = ''
  let skill = ''
  let consent = ''
  let cookies: Parameters<BrowserContext['addCookies']>[0] = []

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    const olga = await createTestPerson(t, 'olga')
    await olga.call('PATCH', '/people/me/profile', { handle: 'lantern', public: true })
    const ann = await t.agent('ann')
    id = await ann.publish({ title: 'Harbour Lights', kind: 'game', store: true })
    down = await ann.publish({ title: 'Gone', html: '<h1>Gone</h1>', store: true })
    await takeDown(t.ctx, down, 'phishing')
    const text = '---\nname: tie-knots\ndescription: Ties knots.\n---\n# Steps\n1. Tie.'
    skill = (await ann.call('POST', '/skills', { skill: text, store: true })).text('skill.id')
    const { cookie } = await createTestSession(t, olga)
    const [name = '', value = ''] = cookie.split('=')
    cookies = [{ name, value, url: origin }]
    consent = new SignIn(t, await register(t)).page
  }, ms)
  afterAll(() => close())

  /** Pages of a person who has nothing yet, and pages of errors. */
  const own = (): string[] => [
    '/',
    '/@lantern',
    '/agents',
    '/studio',
    '/wallet',
    '/wallet/ledger',
    '/wallet/history',
    '/collections',
    '/notifications',
    '/new',
    '/new/skill',
    '/device',
    consent,
    `/explore/${id}`,
    `/explore/${skill}`,
    `/report/${down}`,
    '/studio/AAAAAAAAAAAA',
    '/wallet/ledger?cursor=odd',
  ]
  const open = (): string[] => [
    '/docs?q=zeppelin',
    '/docs/publish',
    '/docs/ranking',
    '/docs/scan',
    '/catalogue/demo/chat',
    '/catalogue/compare',
    '/explore?kind=skill',
    '/claim/AAAA-AAAA-AAAA',
  ]

  test(
    'pass axe-core and fit, empty and in error',
    async () => {
      const found: string[] = []
      const person = await browser.newContext()
      await person.addCookies(cookies)
      const guest = await browser.newContext()
      for (const [context, paths] of [
        [person, own()],
        [guest, open()],
      ] as const) {
        const page = await context.newPage()
        for (const path of paths) {
          await page.goto(origin + path)
          found.push(...(await findViolations(page)).map((problem) => `${path}: ${problem}`))
        }
        await context.close()
      }
      expect(found).toEqual([])
    },
    ms,
  )

  test(
    'what one presses has 44 pixels on a phone',
    async () => {
      const found: string[] = []
      const context = await browser.newContext({
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
      })
      await context.addCookies(cookies)
      const page = await context.newPage()
      for (const path of [...own(), ...open(), '/explore', '/account', '/sign-in', '/docs/api']) {
        await page.goto(origin + path)
        const small = await page.evaluate<string[]>(smallTargets)
        found.push(...small.map((target) => `${path}: ${target}`))
      }
      await context.close()
      expect(found).toEqual([])
    },
    ms,
  )

  test(
    'read without a script',
    async () => {
      const context = await browser.newContext({ javaScriptEnabled: false })
      await context.addCookies(cookies)
      const page = await context.newPage()
      // All pages have one layout, so CI reads a third of them.
      for (const path of [...own(), ...open()].filter((_, at) => isPart(at, 3))) {
        await page.goto(origin + path)
        expect([path, await page.locator('h1').first().isVisible()]).toEqual([path, true])
        expect([path, await page.locator('main').innerText()]).not.toEqual([path, ''])
      }
      await context.close()
    },
    ms,
  )
})

/**
 * Finds links and controls lower than 44 pixels. Links in a text, and boxes inside a label that is
 * high enough, are as high as their line (WCAG 2.2, 2.5.8, "Inline" and "Equivalent").
 */
const smallTargets = `[...document.querySelectorAll('a, button, summary, select, textarea, input:not([type=hidden])')]
  .filter((one) => one.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
  .filter((one) => !(one.matches('a') && getComputedStyle(one).display === 'inline'))
  .filter((one) => !one.closest('.visually-hidden, .skip'))
  .map((one) => one.matches('[type=checkbox], [type=radio]') ? one.closest('label') ?? one : one)
  .map((one) => [one, one.getBoundingClientRect()])
  .filter(([, { width, height }]) => width > 1 && height < 43.5)
  .map(([one, { height }]) => Math.round(height) + ' ' + one.outerHTML.slice(0, 90).replace(/\\s+/g, ' '))`
