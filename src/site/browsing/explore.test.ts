import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { password } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('Explore in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let id = ''

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    const ann = await t.agent('ann')
    for (let at = 0; at < 60; at += 1) {
      t.clock.advance(1_000)
      id = await ann.publish({ title: `Boat ${at}`, store: true })
    }
  }, ms)
  afterAll(() => close())

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
      expect([await box.inputValue(), await page.inputValue('select[name=sort]')]).toEqual([
        '',
        'top',
      ])
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
        await page.goto(`${origin}/explore?sort=new`)
        const first = await titles(page)
        for (const count of [48, 60]) {
          // With scripts, the list grows by itself where one scrolls.
          if (javaScriptEnabled) await page.locator('.foot').scrollIntoViewIfNeeded()
          else await more.click()
          await page.waitForURL(`**shown=${count === 60 ? 72 : 48}*`)
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
    'plays, reviews, comments, remixes and publishes after sign-up, without axe-core findings',
    async () => {
      const context = await browser.newContext({ viewport: { width: 390, height: 844 } })
      const page = await context.newPage()
      await page.goto(`${origin}/explore/${id}`)
      await page.getByRole('link', { name: 'Sign in' }).first().click()
      await page.getByRole('link', { name: 'Create an account' }).click()
      await page.getByLabel('Username or email').fill('olga')
      await page.getByLabel('Password').fill(password)
      await page.getByRole('button', { name: 'Create account' }).click()
      await page.getByRole('link', { name: 'I saved my codes' }).click()
      await page.waitForURL(`**/explore/${id}`)
      await page.goto(`${origin}/a/${id}`)
      await page.goBack()
      await page.getByRole('radio', { name: '4 of 5' }).click()
      await page.getByRole('heading', { name: 'Your review' }).waitFor()
      await page.getByLabel('Review (optional)').fill('Calm.')
      expect(await findViolations(page)).toEqual([])
      await page.getByRole('button', { name: 'Update review' }).click()
      await page.getByRole('listitem').filter({ hasText: 'Calm.' }).waitFor()
      await page.getByRole('textbox', { name: 'Comment' }).fill('How far?')
      await page.getByRole('button', { name: 'Post comment' }).click()
      await page.getByRole('link', { name: 'Reply to' }).click()
      expect(await findViolations(page)).toEqual([])
      // A slash in a text does not move to the search.
      const reply = page.getByRole('textbox', { name: 'Reply' })
      await reply.pressSequentially('Far and/or wide.')
      t.clock.advance(1_000)
      await page.getByRole('button', { name: 'Post reply' }).click()
      await page.locator('.replies .text', { hasText: 'Far and/or wide.' }).waitFor()
      await page.goto(`${origin}/explore/${id}/remix`)
      expect(await findViolations(page)).toEqual([])
      await page.goto(`${origin}/explore/${id}`)
      await page.getByRole('button', { name: 'Remix', exact: true }).click()
      await page.getByText('This copy is yours.').waitFor()
      await page.goto(`${origin}/new`)
      expect(await findViolations(page)).toEqual([])
      await page.getByText('Upload or paste').click()
      await page.getByLabel('Or paste the HTML').fill('<title>Tides</title><h1>Tides</h1>')
      await page.getByRole('button', { name: 'Publish' }).click()
      await page.getByRole('heading', { name: 'Tides' }).waitFor()
      await context.close()
    },
    ms,
  )

  test(
    'shows comments in the order of time, each reply below its comment',
    async () => {
      const dora = await t.agent('dora')
      const item = await dora.publish({ title: 'Low Tide', store: true })
      const post = async (text: string, replyTo?: string): Promise<string> => {
        t.clock.advance(1_000)
        const made = await dora.call('POST', `/explore/${item}/comments`, { text, replyTo })
        return made.text('comment.id')
      }
      const first = await post('First.')
      await post('Second.')
      await post('To the first.', first)
      const page = await browser.newPage()
      await page.goto(`${origin}/explore/${item}`)
      const comments = page.locator('#comments .text')
      expect(await comments.allInnerTexts()).toEqual(['First.', 'To the first.', 'Second.'])
      expect(await page.locator(`#comment-${first} .replies .text`).innerText()).toBe(
        'To the first.',
      )
      await page.close()
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
      await page.frameLocator('iframe').locator('body').waitFor()
      expect(messages).toEqual([])
      await page.close()
    },
    ms,
  )
})
