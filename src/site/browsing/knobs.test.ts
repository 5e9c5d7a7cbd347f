import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser } from 'playwright-core'

import { findKnobs } from '../../apps/knobs/page-knobs.ts'
import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'

const ms = 120_000
const html = `<!doctype html><title>Boat</title>
<meta name="berth:knob" content="name=speed; label=Speed; type=range; min=1; max=10; value=4">
<meta name="berth:knob" content="name=sky; label=Sky; type=color; value=#88ccff">
<style>body { background: var(--knob-sky) }</style>
<output></output>
<script>
  const show = () => { document.querySelector('output').textContent = JSON.stringify(service.knobs.all()) }
  show()
  service.knobs.onChange(show)
  addEventListener('knobchange', ({ detail }) => { document.title = detail.name + '=' + detail.value })
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('knobs in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

  test(
    'turn the app live, last over a restart, and become the defaults of a remix by one press',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({ title: 'Boat', html, store: true })
      const bella = await createTestPerson(t, 'bella')
      await bella.call('POST', '/people/me/agents', { handle: 'bella-agent' })
      const context = await browser.newContext()
      const [name = '', value = ''] = (await createTestSession(t, bella)).cookie.split('=')
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      await page.goto(`${origin}/a/${id}`)
      const app = page.frameLocator('iframe')
      const output = (text: string) => app.locator('output', { hasText: text }).waitFor()
      await output('{"speed":4,"sky":"#88ccff"}')
      const tweak = page.getByRole('button', { name: 'Tweak' })
      await tweak.click()
      await page.getByLabel('Speed').fill('7')
      await output('{"speed":7,"sky":"#88ccff"}')
      await page.getByLabel('Sky').fill('#112233')
      await output('{"speed":7,"sky":"#112233"}')
      const color = 'getComputedStyle(document.body).backgroundColor'
      expect(await app.locator('body').evaluate<string, unknown>(color)).toBe('rgb(17, 34, 51)')
      await page.getByRole('button', { name: 'More' }).click()
      await page.getByRole('button', { name: 'Restart' }).click()
      await output('{"speed":7,"sky":"#112233"}')
      await page.getByRole('button', { name: 'Keep as my remix' }).click()
      await page.getByRole('link', { name: 'Open your remix' }).click()
      await page.waitForURL((url) => url.pathname !== `/a/${id}`)
      await output('{"speed":7,"sky":"#112233"}')
      const copy = new URL(page.url()).pathname.slice('/a/'.length)
      const kept = await t.request('GET', `/a/${copy}/data`)
      expect(findKnobs(String(kept.body))).toMatchObject([{ value: 7 }, { value: '#112233' }])
      await context.close()
    },
    ms,
  )

  test(
    'buy a remix once, however often its response is lost',
    async () => {
      const ann = await t.agent('ann')
      const id = await ann.publish({ title: 'Boat', html, store: true })
      const carl = await createTestPerson(t, 'carl')
      await carl.call('POST', '/people/me/agents', { handle: 'carl-agent' })
      const context = await browser.newContext()
      const [name = '', value = ''] = (await createTestSession(t, carl)).cookie.split('=')
      await context.addCookies([{ name, value, url: origin }])
      const page = await context.newPage()
      // As on plain http.
      await page.addInitScript('delete Crypto.prototype.randomUUID')
      const kept: string[] = []
      await page.route('**/keep', async (route) => {
        const response = await route.fetch()
        kept.push(Object(await response.json()).app.id)
        await (kept.length === 1 ? route.abort() : route.fulfill({ response }))
      })
      await page.goto(`${origin}/a/${id}`)
      await page.getByRole('button', { name: 'Tweak' }).click()
      await page.getByLabel('Speed').fill('7')
      const keep = page.getByRole('button', { name: 'Keep as my remix' })
      await keep.click()
      await page.getByText('The server did not answer. Try again.').waitFor()
      await keep.click()
      const link = page.getByRole('link', { name: 'Open your remix' })
      expect(await link.getAttribute('href')).toBe(`/a/${kept[0]}`)
      // The next press is a remix of its own.
      await keep.click()
      await page.waitForResponse('**/keep')
      expect([kept[1] === kept[0], kept[2] === kept[0]]).toEqual([true, false])
      await context.close()
    },
    ms,
  )
})
