/** Rows of tiles, facts of skills, prices and the balance, as a newcomer sees them. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { day } from '../../kernel/time.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('a newcomer sees in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  /** Returns the titles of the tiles that a page shows, and how many rows they are in. */
  async function rowsOf(page: Page, path: string): Promise<{ titles: string[]; rows: number }> {
    await page.goto(origin + path)
    await page.locator('.tile').first().waitFor()
    return {
      titles: await page.locator('main .tile h3:visible').allInnerTexts(),
      rows: await page.locator('main .tiles:visible').count(),
    }
  }

  test(
    'one row of a few items, and later each item in one row alone',
    async () => {
      const [dot, eve] = [await t.agent('dot'), await t.agent('eve')]
      const publish = async (count: number): Promise<void> => {
        for (let at = 0; at < count; at += 1) {
          t.clock.advance(1_000)
          const item = await dot.publish({ title: `Boat ${at} of ${count}`, store: true })
          await t.request('GET', `/a/${item}`, { key: eve.key, from: eve.from })
          await eve.call('PUT', `/explore/${item}/review`, { stars: 5 })
        }
      }
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      await publish(5)
      for (const path of ['/', '/explore']) {
        expect([path, (await rowsOf(page, path)).rows]).toEqual([path, 1])
      }
      await publish(12)
      t.clock.advance(60_000)
      for (const path of ['/', '/explore']) {
        const { titles, rows } = await rowsOf(page, path)
        expect(rows).toBeGreaterThan(1)
        expect([path, new Set(titles).size]).toEqual([path, titles.length])
      }
      await page.close()
    },
    ms,
  )

  test(
    'what cannot be built before anything is written, and three ways that need no model',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      await (await t.agent('ivy')).publish({ title: 'Buoy', store: true })
      const choose = (way: string) => page.getByText(way, { exact: true }).first().click()
      const limit = page.getByText('This server has no model that builds what you describe.')
      await page.goto(origin)
      await choose('Demo builder')
      await limit.waitFor()
      await choose('Connect your agent')
      await page.getByLabel('Prompt for your agent', { exact: true }).first().waitFor()
      await choose('Upload or paste')
      await page.getByRole('link', { name: 'Choose a page' }).click()
      await page.waitForURL(`${origin}/new?way=page`)
      await page.getByLabel('Or paste the HTML').waitFor()
      expect(await limit.isVisible()).toBe(false)
      await choose('Demo builder')
      await limit.waitFor()
      expect(await page.getByLabel('Or paste the HTML').isVisible()).toBe(false)
      // Only the operator can change that.
      expect(await page.getByRole('link', { name: 'Add a model' }).count()).toBe(0)
      await choose('Connect your agent')
      await page.getByLabel('Prompt for your agent', { exact: true }).waitFor()
      await choose('Remix an app')
      await page.getByRole('link', { name: 'Choose an app' }).click()
      await page.waitForURL(`${origin}/explore?price=free`)
      await page.locator('.tile').first().waitFor()
      await page.close()
    },
    ms,
  )

  test(
    'on the tile of a skill what it does, its license, its success rate and its age',
    async () => {
      const skill =
        '---\nname: tie-knots\ndescription: Ties knots.\nlicense: MIT\ncompatibility: Agents with git\n---\n# Steps\n1. Tie.'
      const made = await (await t.agent('finn')).call('POST', '/skills', { skill, store: true })
      const pack = made.text('skill.id')
      const page = await browser.newPage()
      await page.goto(`${origin}/explore?kind=skill`)
      const tile = page.locator('.tile', { hasText: 'tie-knots' })
      const facts = ['Ties knots.', 'Agents with git', 'MIT', 'KB', 'Updated']
      for (const fact of [...facts, 'No counted run yet']) await tile.getByText(fact).waitFor()
      const runners = [
        [await t.agent('gil'), 'worked'],
        [await t.agent('hal'), 'failed'],
      ] as const
      // The runs of new agents do not count.
      t.clock.advance(2 * day)
      for (const [{ call }, outcome] of runners) {
        const run = (await call('POST', '/runs', { pack, goal: 'Moor' })).text('run.id')
        const evidence = [{ kind: 'text', value: 'The log ends.' }]
        const report = { outcome, summary: 'The knot.', minutes: 7, evidence }
        await call('POST', `/runs/${run}/report`, report)
      }
      t.clock.advance(60_000)
      await page.reload()
      for (const fact of [...facts, 'Score 50% from 2 counted runs']) {
        await tile.getByText(fact).waitFor()
      }
      await page.close()
    },
    ms,
  )

  test(
    'first what a build usually costs, once three were built, and the most that it can cost',
    async () => {
      const page = await browser.newPage()
      const priceOn = async (path: string): Promise<string> => {
        await page.goto(origin + path)
        return (await page.locator('.prompt-send').textContent())?.trim().replace(/\s+/g, ' ') ?? ''
      }
      expect(await priceOn('/')).toMatch(/^At most \d+ credits/)
      const hana = await t.agent('hana')
      for (const prompt of ['Snake in neon', 'A quiz about the planets', 'A packing list']) {
        expect((await hana.call('POST', '/apps', { prompt })).status).toBe(202)
        await t.ctx.jobs.runDue()
      }
      for (const path of ['/', '/new']) {
        const [, usual, most] =
          /^About ([\d.]+) credits?, at most (\d+)\./.exec(await priceOn(path)) ?? []
        expect(Number(usual)).toBeGreaterThan(0)
        expect(Number(usual)).toBeLessThan(Number(most))
      }
      await page.close()
    },
    ms,
  )

  test(
    'one balance in the header and the wallet, and no way to pay where there is none',
    async () => {
      const olga = await createTestPerson(t, 'olga')
      const code = (await (await t.agent('gwen')).call('POST', '/me/claim')).text('claim.code')
      await olga.call('POST', '/claim', { code })
      const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
      const [name = '', value = ''] = (await createTestSession(t, olga)).cookie.split('=')
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      await page.goto(`${origin}/wallet`)
      expect(await page.locator('.top .balance').innerText()).toContain('400 cr')
      await page.getByText('Available, in your wallet and your agents').waitFor()
      expect(await page.locator('main').innerText()).toMatch(/400\s+credits/)
      expect(await page.getByRole('link', { name: 'Add money' }).count()).toBe(0)
      await context.close()
    },
    ms,
  )
})
