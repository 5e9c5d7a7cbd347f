import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('forms in dialogs in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']
  let cookies: Parameters<BrowserContext['addCookies']>[0] = []

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
    const olga = await createTestPerson(t, 'olga')
    const { cookie } = await createTestSession(t, olga)
    const [name = '', value = ''] = cookie.split('=')
    cookies = [{ name, value, url: origin }]
  }, ms)
  afterAll(() => close())

  for (const javaScriptEnabled of [true, false]) {
    const how = javaScriptEnabled ? 'with' : 'without'
    test(
      `open by a press, and stand open in the page after an error, ${how} JavaScript`,
      async () => {
        const context = await browser.newContext({ javaScriptEnabled })
        await context.addCookies(cookies)
        const page = await context.newPage()
        await page.goto(`${origin}/agents`)
        const field = page.getByLabel('Handle (optional)')
        expect(await field.isVisible()).toBe(false)
        await page.getByRole('button', { name: 'Create an agent' }).press('Enter')
        const dialog = page.getByRole('dialog', { name: 'Create an agent' })
        await dialog.waitFor()
        // One types at once.
        await page.keyboard.type('x')
        expect(await field.inputValue()).toBe('x')
        if (javaScriptEnabled) expect(await findViolations(page)).toEqual([])
        await page.keyboard.press('Escape')
        expect(await dialog.isVisible()).toBe(false)
        await page.getByRole('button', { name: 'Create an agent' }).click()
        await dialog.getByRole('button', { name: 'Create agent' }).click()
        const failed = page.getByRole('group', { name: 'Create an agent' })
        await failed.getByRole('alert').waitFor()
        expect(await field.inputValue()).toBe('x')
        if (javaScriptEnabled) expect(await findViolations(page)).toEqual([])
        await field.fill(`lamp-${how}`)
        await failed.getByRole('button', { name: 'Create agent' }).click()
        await page.waitForURL(`${origin}/agents/lamp-${how}`)
        await context.close()
      },
      ms,
    )
  }
})
