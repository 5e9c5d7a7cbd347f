import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openBrowserSession } from '../../testing/browsers/session.ts'
import {
  createTestPerson,
  createTestSession,
  type TestPerson,
} from '../../testing/fixtures/people.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const html = `<!doctype html><title>Data</title><script>
self.run = async (code) => {
  try { return { value: await eval('(async () => { ' + code + ' })()') } }
  catch ({ code, message }) { return { code, message } }
}
// service.store, service.db, shared
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('data of an app in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ browser, origin, close } = await openBrowserSession(() => t))
    t = await startTestServer({ APP_URL: origin })
  }, ms)
  afterAll(async () => {
    await close()
    await t.close()
  })

  const publish = async () => (await t.agent('ann')).publish({ html })

  interface Player {
    page: Page
    /** Runs code in the app, and returns its value or its error. */
    run(code: string): Promise<unknown>
  }

  async function open(app: string, context: BrowserContext): Promise<Player> {
    const page = await context.newPage()
    await page.goto(`${origin}/a/${app}`)
    const frame = await until(async (): Promise<Frame | undefined> => {
      const inner = page.mainFrame().childFrames()[0]?.childFrames()[0]
      const isReady = await inner?.evaluate(`typeof run`).catch(() => '')
      return isReady === 'function' ? inner : undefined
    })
    return {
      page,
      run: (code) => frame.evaluate((text) => Reflect.get(globalThis, 'run')(text), code),
    }
  }

  /** Presses a button of the bar, which takes no press in its first moment. */
  async function respond(bar: Locator, name: string): Promise<void> {
    await until(async () => {
      await bar.getByRole('button', { name }).click()
      return (await bar.count()) === 0
    })
  }

  /** Opens a browser where a person is signed in. */
  async function contextOf(person: TestPerson): Promise<BrowserContext> {
    const { cookie } = await createTestSession(t, person)
    const context = await browser.newContext()
    const [name = '', value = ''] = cookie.split('=')
    await context.addCookies([{ name, value, url: origin }])
    return context
  }

  test(
    'values of a guest stay in the browser, those of a person follow to another one',
    async () => {
      const app = await publish()
      const context = await browser.newContext()
      const guest = await open(app, context)
      expect(
        await guest.run(
          `await service.store.set('level', { at: 3 }); return service.store.get('level')`,
        ),
      ).toEqual({ value: { at: 3 } })
      expect(await guest.run(`return service.store.list('le')`)).toEqual({ value: ['level'] })
      await guest.page.reload()
      const again = await open(app, context)
      expect(await again.run(`return service.store.get('level')`)).toEqual({ value: { at: 3 } })
      expect(await again.run(`return service.store.delete('level')`)).toEqual({ value: true })
      expect(await again.run(`return service.store.get('level')`)).toEqual({ value: null })

      const olga = await createTestPerson(t, 'olga')
      for (const expected of [null, 7]) {
        const own = await contextOf(olga)
        const player = await open(app, own)
        expect(await player.run(`return service.store.get('level')`)).toEqual({ value: expected })
        await player.run(`await service.store.set('level', 7)`)
        await own.close()
      }
    },
    ms,
  )

  test(
    'two windows share documents after each player agreed in the bar of the shell',
    async () => {
      const app = await publish()
      const ann = await open(app, await contextOf(await createTestPerson(t, 'pat')))
      const ben = await open(app, await browser.newContext())
      const written = ann.run(`await service.db.doc('games/1').set({ turn: 'x', board: { a: 1 } })`)
      const bar = ann.page.getByRole('alertdialog')
      expect(await bar.textContent()).toContain('other players and its maker, @ann')
      await respond(bar, 'Share and play')
      expect(await written).toEqual({})
      const read = ben.run(
        `return (await service.db.collection('games').where('turn', '==', 'x').get()).docs.map((d) => d.data())`,
      )
      const other = ben.page.getByRole('alertdialog')
      await respond(other, 'Share and play')
      expect(await read).toEqual({ value: [{ turn: 'x', board: { a: 1 } }] })
      expect(
        await ben.run(
          `const d = await service.db.doc('games/1').update({ board: { b: 2 }, moves: { $add: 1 } }); return [d.exists, d.data()]`,
        ),
      ).toEqual({
        value: [true, { turn: 'x', board: { a: 1, b: 2 }, moves: 1 }],
      })
      expect(
        await ann.run(
          `const d = await service.db.doc('games/2').get(); return [d.exists, d.data() === undefined]`,
        ),
      ).toEqual({ value: [false, true] })
      expect(
        await ann.run(
          `return (await service.db.doc('games/1').acquire({ holder: 'a', ttlMs: 5000 })).acquired`,
        ),
      ).toEqual({ value: true })
      expect(
        await ben.run(
          `return (await service.db.doc('games/1').acquire({ holder: 'a', ttlMs: 5000 })).acquired`,
        ),
      ).toEqual({ value: false })
      expect(await ben.run(`await service.db.doc('games').get()`)).toMatchObject({
        code: 'bad_request',
      })
    },
    ms,
  )

  test(
    'a player who does not agree shares nothing, and is asked again after a reload',
    async () => {
      const app = await publish()
      const context = await browser.newContext()
      const guest = await open(app, context)
      const written = guest.run(`await service.store.set('a', 1, { shared: true })`)
      const bar = guest.page.getByRole('alertdialog')
      await respond(bar, 'Not now')
      expect(await written).toMatchObject({ code: 'not_granted' })
      expect(await guest.run(`await service.db.doc('a/1').get()`)).toMatchObject({
        code: 'not_granted',
      })
      expect(await context.cookies()).toEqual([])
    },
    ms,
  )
})
