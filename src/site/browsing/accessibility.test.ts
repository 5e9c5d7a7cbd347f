/** Pages of a person and their states that no other test of browsers checks with axe-core. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext } from 'playwright-core'

import { takeDown } from '../../apps/moderation/moderation.ts'
import { claimTriesPerHour } from '../../kernel/limits.ts'
import { day } from '../../kernel/time.ts'
import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { findSmallTargets, touchPhone } from '../../testing/browsers/targets.ts'
import { fakeCaptures } from '../../testing/fixtures/fake-captures.ts'
import { register, SignIn } from '../../testing/fixtures/oauth-client.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { isPart } from '../../testing/thorough.ts'
import { until } from '../../testing/until.ts'

const ms = 300_000

/** The pictures of a change, and of the first version. */
const haveLoaded = `(({ length }) => length === 3)(
  [...document.querySelectorAll('figure img')].filter(({ naturalWidth }) => naturalWidth > 0))`

describe.skipIf(findBrowser('chromium') === undefined)('accessible pages in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let id = ''
  let down = ''
  let skill = ''
  let remixed = ''
  let run = ''
  let consent = ''
  let cookies: Parameters<BrowserContext['addCookies']>[0] = []

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    const olga = await createTestPerson(t, 'olga')
    await olga.call('PATCH', '/people/me/profile', { handle: 'lantern', public: true })
    const ann = await t.agent('ann')
    id = await ann.publish({ title: 'Harbour Lights', kind: 'game', store: true })
    down = await ann.publish({ title: 'Gone', html: '<h1>Gone</h1>', store: true })
    await takeDown(t.ctx, down, 'phishing', 'operator')
    const text = '---\nname: tie-knots\ndescription: Ties knots.\n---\n# Steps\n1. Tie.'
    skill = (await ann.call('POST', '/skills', { skill: text, store: true })).text('skill.id')
    const ben = await t.agent('ben')
    remixed = (await ben.call('POST', `/apps/${id}/remix`)).text('app.id')
    await ben.call('PATCH', `/apps/${remixed}`, { title: 'Night Lights', store: true })
    const capture = fakeCaptures(t)
    await capture()
    await ann.call('POST', `/apps/${id}/versions`, { html: '<h1>2</h1>', note: 'A second pier.' })
    await capture()
    t.clock.advance(2 * day)
    run = (await ben.call('POST', '/runs', { pack: skill, goal: 'Moor' })).text('run.id')
    const evidence = [{ kind: 'text', value: 'The log ends.' }]
    const report = { outcome: 'worked', summary: 'It held.', minutes: 7, evidence }
    await ben.call('POST', `/runs/${run}/report`, report)
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
    `/explore/${id}/family`,
    `/explore/${id}/log`,
    `/runs/${run}`,
    '/notifications/following',
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
    '/sign-in',
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
      const context = await browser.newContext(touchPhone)
      await context.addCookies(cookies)
      const page = await context.newPage()
      const others = ['/explore', '/account', '/docs/api', `/a/${id}`, `/a/${down}`]
      for (const path of [...own(), ...open(), ...others]) {
        await page.goto(origin + path)
        const small = await findSmallTargets(page)
        found.push(...small.map((target) => `${path}: ${target}`))
      }
      await context.close()
      expect(found).toEqual([])
    },
    ms,
  )

  test(
    'say in an error what happened, whose side it is on, and what to do',
    async () => {
      const context = await browser.newContext()
      await context.addCookies(cookies)
      const page = await context.newPage()
      const shown = async (path: string): Promise<[heading: string, text: string]> => {
        await page.goto(origin + path)
        expect(await page.locator('.message .actions a').count()).toBe(2)
        return [
          await page.locator('.message h1').innerText(),
          await page.locator('.message .lead').innerText(),
        ]
      }
      // The reader's address, the reader's haste, the maker, and this server.
      expect(await shown('/nowhere')).toEqual([
        'Page not found',
        'There is no page at this address.',
      ])
      for (let tries = 0; tries < claimTriesPerHour; tries += 1) {
        await fetch(`${origin}/claim/BBBB-BBBB-BBBB`)
      }
      expect(await shown('/claim/BBBB-BBBB-BBBB')).toEqual([
        'Too many wrong claim codes',
        expect.stringMatching(/^Your address sent \d+ wrong codes\. .*\.$/),
      ])
      expect(await shown(`/report/${down}`)).toEqual([
        'Taken down',
        'This was taken down: phishing. Its maker can appeal in the studio.',
      ])
      const { read } = t.ctx.storage
      t.ctx.storage.read = () => {
        throw new TypeError('the disk is gone')
      }
      expect(await shown(`/explore/${skill}`)).toEqual([
        'Something went wrong',
        expect.stringMatching(
          /^This server failed .* Nothing was charged\. Send the operator this request id: \S+$/,
        ),
      ])
      t.ctx.storage.read = read
      await context.clearCookies()
      await page.goto(`${origin}/sign-in`)
      await page.getByLabel('Username or email').fill('olga')
      await page.getByLabel('Password').fill('not the password')
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      expect(await page.getByRole('alert').innerText()).toBe(
        'Wrong username or password. Check both.',
      )
      await context.close()
    },
    ms,
  )

  test(
    'walk the family tree, and show the log with pictures of each change, by the keyboard',
    async () => {
      const page = await browser.newPage()
      await page.goto(`${origin}/explore/${remixed}`)
      const press = async (name: string, path: string): Promise<void> => {
        await page.getByRole('link', { name }).first().focus()
        await page.keyboard.press('Enter')
        await page.waitForURL(origin + path)
      }
      await press('See the family tree', `/explore/${remixed}/family`)
      const origins = page.getByRole('list', { name: 'Origins' })
      await origins.getByRole('link', { name: 'Harbour Lights' }).focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(`${origin}/explore/${id}/family`)
      const remixes = page.getByRole('list', { name: 'Remixes of Harbour Lights' })
      await remixes.getByRole('link', { name: 'Night Lights' }).waitFor()
      await press('Harbour Lights', `/explore/${id}`)
      await press('See all changes', `/explore/${id}/log`)
      const second = page.getByRole('listitem').filter({ hasText: 'A second pier.' })
      for (const when of ['Before', 'After']) {
        await second.locator('figure', { hasText: when }).locator('img').scrollIntoViewIfNeeded()
      }
      await until(() => page.evaluate<boolean>(haveLoaded))
      await page.close()
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
