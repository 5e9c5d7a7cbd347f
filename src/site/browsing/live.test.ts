import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const page = (word: string, script = ''): string =>
  `<!doctype html><title>Live</title>\n<p>${word}</p>\n<script>${script}</script>`

/** Hides a page, as another tab in front of it does, or shows it again. */
const setHidden = (shown: Page, isHidden: boolean): Promise<unknown> =>
  shown.evaluate(`Object.defineProperty(document, 'hidden', { value: ${isHidden}, configurable: true })
document.dispatchEvent(new Event('visibilitychange'))`)

describe.skipIf(findBrowser('chromium') === undefined)('an open page in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  /** Returns an agent, and the browser of the person who owns it. */
  async function openOwned(agentName: string, personName: string) {
    const agent = await t.agent(agentName)
    const person = await createTestPerson(t, personName)
    const code = (await agent.call('POST', '/me/claim')).text('claim.code')
    await person.call('POST', '/claim', { code })
    const [name = '', value = ''] = (await createTestSession(t, person)).cookie.split('=')
    const context = await browser.newContext()
    await context.addCookies([{ name, value, url: origin }])
    return { agent, context }
  }

  test(
    'learns of the end beside more pages than a browser has connections',
    async () => {
      const lea = await t.agent('lea')
      const id = await lea.publish({ html: page('here') })
      const context = await browser.newContext()
      const shown: Page[] = []
      while (shown.length < 9) {
        const opened = await context.newPage()
        await opened.goto(`${origin}/a/${id}`)
        await opened.frameLocator('iframe').getByText('here').waitFor()
        shown.push(opened)
      }
      await lea.call('DELETE', `/apps/${id}`)
      for (const each of shown) await each.getByText('This app is closed.').waitFor()
      await context.close()
    },
    ms,
  )

  test(
    'offers a new version, takes it for a live app, and ends with the app',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({ html: page('first') })
      const publish = (word: string) =>
        ann.call('POST', `/apps/${id}/versions`, { html: page(word) })
      const shown = await browser.newPage()
      await shown.goto(`${origin}/a/${id}`)
      const app = shown.frameLocator('iframe')
      await app.getByText('first').waitFor()

      await publish('second')
      await shown.getByRole('button', { name: 'Update' }).click({ delay: 500 })
      await app.getByText('second').waitFor()

      await ann.call('PATCH', `/apps/${id}`, { live: true })
      await publish('third')
      await app.getByText('third').waitFor()

      const behind = await browser.newPage()
      await behind.goto(`${origin}/a/${id}`)
      await behind.frameLocator('iframe').getByText('third').waitFor()
      await setHidden(behind, true)
      await ann.call('DELETE', `/apps/${id}`)
      await shown.getByText('This app is closed.').waitFor()
      expect(await shown.locator('iframe').count()).toBe(0)
      // A hidden page follows no stream. It learns of the end when it is shown.
      expect(await behind.locator('iframe').count()).toBe(1)
      await setHidden(behind, false)
      await behind.getByText('This app is closed.').waitFor()
      await Promise.all([shown.close(), behind.close()])
    },
    ms,
  )

  test(
    'sends what an app throws, rejects and logs, to its maker',
    async () => {
      const { agent: ben, context } = await openOwned('ben', 'olga')
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
            text: 'ReferenceError: missing is not defined',
            file: '',
            line: 5,
          }),
        ],
      )
      await context.close()
    },
    ms,
  )

  test(
    'sends an error at once, and those that follow after a second',
    async () => {
      const { agent: cy, context } = await openOwned('cy', 'pat')
      const script = `let count = 0
document.querySelector('p').onclick = () => { throw new Error('broken ' + (count += 1)) }`
      const id = await cy.publish({ html: page('break it', script) })
      const listed = async (): Promise<string[]> => {
        const { errors } = Object((await cy.call('GET', `/apps/${id}/errors`)).body)
        return errors.map(({ text }: { text: string }) => text).sort()
      }
      const opened = await context.newPage()
      await opened.goto(`${origin}/a/${id}`)
      const word = opened.frameLocator('iframe').getByText('break it')
      await word.waitFor()
      // The time of the page stands still, so that none of its timers ends.
      await opened.clock.install()
      await opened.clock.pauseAt(new Date(2100, 0))
      const thrown = (number: number) => `Error: broken ${number}`
      await word.dispatchEvent('click')
      await until(async () => (await listed()).length > 0)
      expect(await listed()).toEqual([thrown(1)])
      await word.dispatchEvent('click')
      await word.dispatchEvent('click')
      await until(async () => {
        await opened.clock.runFor(1_000)
        return (await listed()).length === 3
      })
      expect(await listed()).toEqual([1, 2, 3].map(thrown))
      await context.close()
    },
    ms,
  )

  test(
    'the studio shows each version and error while an agent works',
    async () => {
      const { agent: dan, context } = await openOwned('dan', 'rosa')
      const id = await dan.publish({ html: page('first') })
      const [versions, errors] = [await context.newPage(), await context.newPage()]
      await versions.goto(`${origin}/studio/${id}/versions`)
      await errors.goto(`${origin}/studio/${id}/errors`)
      await versions.getByRole('heading', { name: 'Version 1' }).waitFor()
      await errors.getByText('No errors').waitFor()

      await dan.call('POST', `/apps/${id}/versions`, {
        patch: { edits: [{ search: '<script>', replace: '<script>missing()' }] },
        note: 'Adds a mistake.',
      })
      await versions.getByText('Adds a mistake.').waitFor()
      const visitor = await browser.newPage()
      await visitor.goto(`${origin}/a/${id}`)
      await errors.getByText('ReferenceError: missing is not defined').waitFor()
      await errors.getByText('Version 2, line 3').waitFor()
      await Promise.all([context.close(), visitor.close()])
    },
    ms,
  )
})
