import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { findViolations } from '../../testing/browsers/axe.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000

describe.skipIf(findBrowser('chromium') === undefined)('the docs in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

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
    'lead from a goal to its page and on, find words in all pages, and list all for programs',
    async () => {
      const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
      await context.grantPermissions(['clipboard-read', 'clipboard-write'])
      const page = await context.newPage()
      await page.goto(`${origin}/docs`)
      await page.getByRole('link', { name: 'Publish a page' }).first().click()
      const turn = page.getByRole('navigation', { name: 'Pages of the docs' })
      const first = new URL(page.url()).pathname
      await turn.getByRole('link', { name: /^Next/ }).click()
      await turn.getByRole('link', { name: /^Previous/ }).click()
      await page.waitForURL(origin + first)
      await page.getByRole('button', { name: /^Copy/ }).first().click()
      await page.getByText('Copied', { exact: true }).waitFor()
      expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain('curl')

      await page.goto(`${origin}/docs`)
      await page.getByRole('searchbox', { name: 'Search the docs' }).fill('standardwebhooks')
      await page.locator('#search-results').getByRole('link', { name: 'Webhooks' }).waitFor()
      await page.locator('#search-results mark').first().waitFor()
      const marked = await page.locator('#search-results mark').allInnerTexts()
      expect(new Set(marked.map((word) => word.toLowerCase()))).toEqual(
        new Set(['standardwebhooks']),
      )
      await page.getByRole('searchbox', { name: 'Search the docs' }).fill('transcriptions')
      const operation = page.locator('#search-results a[href$="/create_transcription"]')
      await operation.first().waitFor()

      await page.goto(`${origin}/llms-full.txt`)
      const index = await page.locator('body').innerText()
      const operations = await (await fetch(`${origin}/api/openapi.json`)).text()
      for (const [, name = ''] of operations.matchAll(/"operationId":"(\w+)"/g)) {
        expect(index).toContain(`### ${name}: `)
      }
      await context.close()
    },
    ms,
  )

  test(
    'an operation is tried with a key, and copied as curl, TypeScript and Python',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({ title: 'Harbour Lights' })
      const page = await browser.newPage({ viewport: { width: 1_280, height: 900 } })
      page.setDefaultTimeout(ms)
      await page.goto(`${origin}/docs/api/operations/get_app`)
      await page.getByLabel('id', { exact: true }).fill(id)
      await page.getByLabel('API key').fill(ann.key)
      for (const [language, text] of [
        ['TypeScript', `await fetch('${t.ctx.urls.base}/apps/${id}'`],
        ['Python', 'import httpx'],
        ['curl', `/apps/${id} `],
      ] as const) {
        await page.getByText(language, { exact: true }).click()
        const code = page.getByLabel(`Request in ${language}`, { exact: true })
        await code.getByText(text).waitFor()
        expect(await code.textContent()).not.toContain(ann.key)
      }
      await page.getByRole('button', { name: 'Send request' }).click()
      await page.getByText(/^200 OK · /).waitFor()
      await page.getByLabel('Response').getByText('"title": "Harbour Lights"').waitFor()

      // Another page of the tab has the key, and sends what is in its form.
      await page.goto(`${origin}/docs/api/operations/change_app`)
      await page.getByLabel('id', { exact: true }).fill(id)
      await page.getByLabel('Body').fill('{"title": "Tide"}')
      await page.getByRole('button', { name: 'Send request' }).click()
      await page.getByLabel('Response').getByText('"title": "Tide"').waitFor()
      await page.close()
    },
    ms,
  )
})
