import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('the docs in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    t = await startTestServer()
    ;({ browser, origin, close } = await openBrowserSession(() => t))
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
  })

  test(
    'puts the key and the app ID of the reader into the examples, in this tab only',
    async () => {
      const context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(`${origin}/docs/publish`)
      await page.click('docs-values summary')
      await page.fill('docs-values input[name=KEY]', 'ak_mine')
      await page.fill('docs-values input[name=ID]', 'app-1')
      const codes = (await page.locator('.docs pre code').allInnerTexts()).join('\n')
      expect(codes).toContain('authorization: Bearer ak_mine"')
      expect(codes).toContain('/apps/app-1')
      expect(codes).not.toMatch(/\$KEY\b|\$ID\b/)
      // pages.test.ts checks the whole page.
      expect(await findViolations(page, 'docs-values')).toEqual([])
      await page.reload()
      expect(await page.locator('.docs pre code').first().innerText()).not.toContain('$KEY')
      await page.click('docs-values summary')
      await page.click('text=Fill in my newest app')
      await page.locator('docs-values [role=status]', { hasText: 'Sign in first' }).waitFor()
      await page.click('docs-values .clear')
      expect((await page.locator('.docs pre code').allInnerTexts()).join('\n')).toContain('$KEY')
      const other = await context.newPage()
      await other.goto(`${origin}/docs/publish`)
      expect(await other.inputValue('docs-values input[name=KEY]')).toBe('')
      await context.close()
    },
    ms,
  )

  test(
    'a sent request can be copied as curl, TypeScript and Python',
    async () => {
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      page.setDefaultTimeout(ms)
      await page.goto(`${origin}/docs/api`)
      const operation = page.locator('#operations-Start-is_on')
      await operation.locator('.opblock-summary-control').click()
      await operation.getByRole('button', { name: 'Try it out' }).click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      const shown = operation.locator('.request-snippets')
      for (const [language, text] of [
        ['curl', "curl -X 'GET'"],
        ['TypeScript', 'await fetch('],
        ['Python', 'import requests'],
      ] as const) {
        await shown.getByText(language, { exact: true }).click()
        await shown.getByText(text).first().waitFor()
      }
      await page.close()
    },
    ms,
  )
})
