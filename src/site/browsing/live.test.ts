import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const page = (word: string, script = ''): string =>
  `<!doctype html><title>Live</title>\n<p>${word}</p>\n<script>${script}</script>`

describe.skipIf(findBrowser('chromium') === undefined)('an open page in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  test(
    'offers a new version, takes it for a live app, and ends with the app',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({ html: page('first') })
      const publish = (word: string) =>
        ann.call('POST', `/apps/${id}/versions`, { html: page(word) })
      const shown = await browser.newPage()
      await shown.goto(`${origin}/a/${id}`)
      const app = shown.frameLocator('iframe').frameLocator('iframe')
      await app.getByText('first').waitFor()

      await publish('second')
      await shown.getByRole('button', { name: 'Update' }).click({ delay: 500 })
      await app.getByText('second').waitFor()

      await ann.call('PATCH', `/apps/${id}`, { live: true })
      await publish('third')
      await app.getByText('third').waitFor()

      await ann.call('DELETE', `/apps/${id}`)
      await shown.getByText('This app is closed.').waitFor()
      expect(await shown.locator('iframe').count()).toBe(0)
    },
    ms,
  )

  test(
    'sends what an app throws, rejects and logs, to its maker',
    async () => {
      const ben = await t.agent('ben')
      const olga = await createTestPerson(t, 'olga')
      const code = (await ben.call('POST', '/me/claim')).text('claim.code')
      await olga.call('POST', '/claim', { code })
      const { cookie } = await createTestSession(t, olga)
      const [name = '', value = ''] = cookie.split('=')
      const context = await browser.newContext()
      await context.addCookies([{ name, value, url: origin }])
      const script = `console.error('lost', { secret: 1 })
Promise.reject(new RangeError('far'))
missing()`
      const id = await ben.publish({ html: page('broken', script) })
      const opened = await context.newPage()
      await opened.goto(`${origin}/a/${id}`)
      const errors = await until(async () => {
        const { body } = await ben.call('GET', `/apps/${id}/errors`)
        const found: Record<string, unknown>[] = Object(body).errors
        return found.length === 3 && found
      })
      expect(errors.toSorted((a, b) => String(a['kind']).localeCompare(String(b['kind'])))).toEqual(
        [
          expect.objectContaining({ kind: 'logged', text: 'lost object' }),
          expect.objectContaining({ kind: 'rejected', text: 'RangeError: far' }),
          expect.objectContaining({
            kind: 'thrown',
            text: 'Uncaught ReferenceError: missing is not defined',
            file: '',
            line: 5,
          }),
        ],
      )
      await context.close()
    },
    ms,
  )
})
