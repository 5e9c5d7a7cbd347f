import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import { and, eq } from 'drizzle-orm'

import { documents } from '../../apps/app-data/tables.ts'
import { openServedBrowser, sharedBrowsers } from '../browsers/all-browsers.ts'
import { type Browser, findForPages, type Tab } from '../browsers/browser.ts'
import type { TestServer } from '../fixtures/test-server.ts'
import { until } from '../until.ts'

const ms = 180_000

const screen = `<!doctype html><title>Tanks</title><script>
service.room.controller({ buttons: ['Jump'] }).then((pads) => {
  pads.on('input', ({ player, pressed }) => {
    if (pressed.includes('Jump')) service.db.doc('seen/press').set({ player })
  })
})
</script>`

const game = `<!doctype html><title>Race</title><script>
(async () => {
  const [seed, challenge] = [await service.seed, await service.challenge]
  await service.scores.submit(challenge ? 120 : 95)
  if (challenge) return service.db.doc('seen/friend').set({ seed, ...challenge })
  const { url } = await service.scores.challenge()
  await service.db.doc('seen/link').set({ seed, url })
})()
</script>`

/** Opens pages for several devices or people in each browser. */
for (const [name, openBrowser] of sharedBrowsers) {
  const path = findForPages(name)
  describe.skipIf(path === undefined)(`playing together in ${name}`, () => {
    let t: TestServer
    let browser: Browser
    let origin = ''
    let close: () => Promise<void>

    beforeAll(async () => {
      ;({ t, browser, origin, close } = await openServedBrowser(openBrowser, path ?? ''))
    }, ms)
    afterAll(() => close())

    /** Waits for a truthy value of an expression in the page around the app. */
    const valueOf = (tab: Tab, expression: string): Promise<unknown> =>
      until(async () => (await tab.evaluate(expression).catch(() => undefined)) || undefined)

    /** Opens a tab as a guest who has agreed to share data with an app. */
    async function openJoined(app: string, at: string): Promise<Tab> {
      const tab = await browser.open()
      await tab.goto(`${origin}/robots.txt`)
      await valueOf(tab, `document.readyState === 'complete'`)
      await tab.evaluate(`void fetch('/api/apps/${app}/player', { method: 'POST',
        headers: { 'content-type': 'application/json' }, body: '{"name":"Ben"}' }).then(() => { self.isJoined = true })`)
      await valueOf(tab, 'self.isJoined')
      await tab.goto(origin + at)
      return tab
    }

    /** Waits for a document that a page has written. */
    const written = (app: string, id: string): Promise<unknown> =>
      until(async () => {
        const isOne = and(eq(documents.app, app), eq(documents.id, id))
        const [row] = await t.ctx.db.read.select().from(documents).where(isOne)
        return row?.data ?? undefined
      })

    test(
      'a phone that enters the code of a screen presses its buttons',
      async () => {
        const app = await (await t.agent('ann')).publish({ html: screen })
        const tv = await openJoined(app, `/a/${app}`)
        const code = await valueOf(tv, `document.querySelector('#phones .code')?.textContent`)
        const phone = await openJoined(app, `/a/${app}/controller`)
        await valueOf(phone, `document.readyState === 'complete'`)
        await phone.evaluate(`document.querySelector('input').value = '${String(code)}'`)
        await phone.evaluate(`document.querySelector('form').requestSubmit()`)
        const place = await valueOf(
          phone,
          `(() => { const at = document.querySelector('#pad button')?.getBoundingClientRect()
            return at && at.width > 0 && [at.x + at.width / 2, at.y + at.height / 2] })()`,
        )
        const [x, y] = [place].flat().map(Number)
        await phone.click(x ?? 0, y ?? 0)
        expect(await written(app, 'press')).toEqual({ player: 1 })
        await phone.close()
        await tv.close()
      },
      ms,
    )

    test(
      'a link has the seed and the score of a friend, and the shell says who won',
      async () => {
        const app = await (await t.agent('ann')).publish({ html: game })
        const first = await openJoined(app, `/a/${app}`)
        expect(await written(app, 'link')).toEqual({
          seed: expect.any(Number),
          url: expect.stringContaining(`/a/${app}?challenge=`),
        })
        const olga = await t.call('POST', `/apps/${app}/player`, { body: { name: 'Olga' } })
        const cookie = /^[^;]+/.exec(olga.headers.get('set-cookie') ?? '')?.[0] ?? ''
        const body = { score: 100, seed: 7 }
        const made = await t.call('POST', `/apps/${app}/challenges`, { body, headers: { cookie } })
        const { pathname, search } = new URL(made.text('link'))
        await first.goto(origin + pathname + search)
        expect(await written(app, 'friend')).toMatchObject({ seed: 7, by: 'Olga', score: 100 })
        const message = await valueOf(first, `document.querySelector('dialog')?.textContent`)
        expect(message).toContain('You won the challenge!')
        await first.close()
      },
      ms,
    )
  })
}
