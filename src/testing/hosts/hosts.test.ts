import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { allBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findBrowser, type Tab } from '../browsers/browser.ts'
import { serve } from '../fixtures/serve.ts'
import { startTestServer, type TestServer } from '../fixtures/test-server.ts'
import { until } from '../until.ts'
import { dataPages, type HostPage } from './pages.ts'

const ms = 180_000

/** The driver of WebKit records messages only of pages that the tests serve themselves. */
const browsers = allBrowsers.filter(([name]) => name !== 'webkit')

/** Opens pages for other hosts in the viewer of each browser. */
for (const [name, openBrowser] of browsers) {
  const path = findBrowser(name)
  describe.skipIf(path === undefined)(`pages for other hosts run in ${name}`, () => {
    let t: TestServer
    let server: ReturnType<typeof serve>
    let browser: Browser
    let tab: Tab

    beforeAll(async () => {
      server = serve(() => t)
      t = await startTestServer({ APP_URL: `http://localhost:${server.port}` })
      browser = await openBrowser(path ?? '')
      tab = await browser.open()
    }, ms)
    afterAll(async () => {
      await browser.close()
      await browser.lookups()
      await server.stop(true)
      await t.close()
    })

    /** Opens an app, as a guest who has agreed to share data. */
    async function openJoined(id: string): Promise<void> {
      const origin = `http://localhost:${server.port}`
      // The app would use an agreement of its own page at once, and then run twice.
      await tab.goto(`${origin}/docs`)
      await until(() => tab.evaluate(`document.readyState === 'complete'`).then(Boolean))
      await tab.evaluate(`void fetch('/api/apps/${id}/player', { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: '{}' }).then(() => { self.isJoined = true })`)
      await until(() => tab.evaluate('self.isJoined === true').then(Boolean))
      await tab.goto(`${origin}/a/${id}`)
    }

    async function run({ html, says }: HostPage): Promise<void> {
      const id = await (await t.agent('ann')).publish({ html })
      await openJoined(id)
      const messages = async (): Promise<unknown[]> => {
        const all = await tab
          .evaluate("(self.told ?? []).filter((m) => m && 'said' in m).map((m) => m.said)")
          .catch(() => [])
        return Array.isArray(all) ? all : []
      }
      await until(async () => (await messages()).length >= says.length).catch(() => undefined)
      expect(await messages()).toEqual(says)
    }

    for (const page of dataPages) test(page.name, () => run(page), ms)
  })
}
