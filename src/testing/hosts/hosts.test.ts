import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { openServedBrowser, sharedBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findForPages, type Tab } from '../browsers/browser.ts'
import type { TestServer } from '../fixtures/test-server.ts'
import { isPart } from '../thorough.ts'
import { until } from '../until.ts'
import { dataPages, type HostPage } from './pages.ts'
import { type WrittenPage, writtenPages } from './written-pages.ts'

const ms = 180_000

/** In CI, Chromium opens every ninth page, Firefox every 24th, and WebKit every 48th. */
const everyOf = { chromium: 9, firefox: 24, webkit: 48 }

/** The messages to this page. The driver of WebKit records none before this runs. */
const transcript =
  "(self.told ??= (() => { const all = []; addEventListener('message', ({ data }) => all.push(data)); return all })())"

/** Opens pages for other hosts in the viewer of each browser. */
for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`pages for other hosts run in ${name}`, () => {
    let t: TestServer
    let browser: Browser
    let origin: string
    let close: () => Promise<void>
    let tab: Tab

    beforeAll(async () => {
      ;({ t, browser, origin, close } = await openServedBrowser(openBrowser, path ?? ''))
      tab = await browser.open()
    }, ms)
    afterAll(() => close())

    /** Opens an app, as a guest who has agreed to share data. */
    async function openJoined(id: string): Promise<void> {
      // The app would use an agreement of its own page at once, and then run twice.
      await tab.goto(`${origin}/robots.txt`)
      await until(() => tab.evaluate(`document.readyState === 'complete'`).then(Boolean))
      await tab.evaluate(`void fetch('/api/apps/${id}/player', { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: '{}' }).then(() => { self.isJoined = true })`)
      await until(() => tab.evaluate('self.isJoined === true').then(Boolean))
      await tab.goto(`${origin}/a/${id}`)
    }

    /** Returns what the page has posted to the page around it. */
    async function messages(): Promise<unknown[]> {
      const all = await tab
        .evaluate(`${transcript}.filter((m) => m && 'said' in m).map((m) => m.said)`)
        .catch(() => [])
      return Array.isArray(all) ? all : []
    }

    async function run({ html, says }: HostPage): Promise<void> {
      const id = await (await t.agent('ann')).publish({ html })
      await openJoined(id)
      await until(async () => (await messages()).length >= says.length).catch(() => undefined)
      expect(await messages()).toEqual(says)
    }

    /** Runs a page whose maker pays for its models. */
    async function runWritten({ html, outcome }: WrittenPage): Promise<void> {
      const ann = await t.agent('ann')
      const id = await ann.publish({ html })
      await ann.call('PUT', `/apps/${id}/sponsor`, { dailyCap: 300, playerDailyCap: 300 })
      await openJoined(id)
      const isDone = (message: unknown): boolean =>
        Bun.deepEquals(message, outcome) || String(message).startsWith('failed')
      await until(async () => (await messages()).some(isDone)).catch(() => undefined)
      expect(await messages()).toContainEqual(outcome)
    }

    // Their messages are compared from the first one.
    if (name !== 'webkit')
      for (const [at, page] of dataPages.entries())
        if (isPart(at, name === 'chromium' ? 1 : 3)) test(page.name, () => run(page), ms)
    for (const [at, page] of writtenPages().entries()) {
      if (isPart(at, everyOf[name])) test(`the page ${page.name}`, () => runWritten(page), ms)
    }
  })
}
