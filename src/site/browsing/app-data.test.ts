import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'

import type { Browser, BrowserContext, Frame, Locator, Page } from 'playwright-core'

import { findBrowser } from '../../testing/browsers/browser.ts'
import { type BrowserSession, openServedSession } from '../../testing/browsers/session.ts'
import {
  createTestPerson,
  createTestSession,
  type TestPerson,
} from '../../testing/fixtures/people.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'

const ms = 120_000
const html = `<!doctype html><title>Data</title><script>
self.run = async (code) => {
  try { return { value: await eval('(async () => { ' + code + ' })()') } }
  catch ({ code, message }) { return { code, message } }
}
// service.store, service.db, service.room, shared
</script>`

describe.skipIf(findBrowser('chromium') === undefined)('data of an app in chromium', () => {
  let t: TestServer
  let browser: Browser
  let origin = ''
  let close: BrowserSession['close']

  beforeAll(async () => {
    ;({ t, browser, origin, close } = await openServedSession())
  }, ms)
  afterAll(() => close())

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
      const inner = page.mainFrame().childFrames()[0]
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

  /** Opens an app as a guest who agrees to share data. */
  async function openJoined(app: string): Promise<Player> {
    const player = await open(app, await browser.newContext())
    const joined = player.run(`await service.db.doc('a/1').get()`)
    await respond(player.page.getByRole('alertdialog'), 'Share and play')
    expect(await joined).toEqual({})
    return player
  }

  test(
    'a window sees at once what another one changes, also after its connection broke',
    async () => {
      const app = await publish()
      const [one, two] = [await openJoined(app), await openJoined(app)]
      await one.run(`self.seen = []
        service.db.collection('moves').orderBy('n').onSnapshot((found) => seen.push([
          found.docs.map((d) => d.data().n).join(), found.docChanges().map(({ type }) => type).join(),
        ]))
        service.db.doc('moves/last').onSnapshot((doc) => { self.last = doc.exists && doc.data().n })`)
      const seen = async (moves: string) =>
        until(async () =>
          JSON.stringify(await one.run('return [seen.at(-1), last]')).includes(moves),
        )
      await seen('[["",""],false]')
      await two.run(`await service.db.collection('moves').add({ n: 2 })`)
      await seen('["2","added"]')
      await two.run(`await service.db.doc('moves/last').set({ n: 1 })`)
      await seen('[["1,2","added"],1]')
      for (const session of t.ctx.state.sessions) session.stop()
      await two.run(`await service.db.doc('moves/last').update({ n: 3 })`)
      await seen('[["2,3","modified"],3]')
      await two.run(`await service.db.doc('moves/last').delete()`)
      await seen('[["2","removed"],false]')
      expect(
        await one.run(`service.db.doc('moves').onSnapshot(() => {}, (e) => { self.bad = e.code })`),
      ).toEqual({})
      await until(async () =>
        JSON.stringify(await one.run('return self.bad')).includes('bad_request'),
      )
    },
    ms,
  )

  test(
    'a page learns that its player has too many open pages, and that data is no JSON',
    async () => {
      const app = await publish()
      const { livePages } = t.ctx.state.limits
      const { max } = livePages
      const one = await openJoined(app)
      await one.run(`await service.room.join('lobby')`)
      livePages.max = 1
      const two = await open(app, one.page.context())
      const isBusy = { code: 'busy', message: expect.stringContaining('live pages of this app') }
      expect(await two.run(`await service.room.join('lobby')`)).toMatchObject(isBusy)
      livePages.max = max
      const watch = `return new Promise((next, fail) => service.db.doc('a/1').onSnapshot(next, fail))`
      expect(await two.run(`await (async () => { ${watch} })()`)).toEqual({})
      const cycle = `const data = {}; data.data = data`
      for (const call of [
        `await service.store.set('a', 1n)`,
        `${cycle}; await service.db.doc('a/1').set(data)`,
        `await service.ai.chat()`,
        `await service.store.set('a', () => 1)`,
        `void service.store.set('a', 1); await service.store.set('a', { f() {} })`,
        `await service.files.upload('text')`,
        `await service.room.join('other', { presence: { f() {} } })`,
        `(await service.room.join('lobby')).emit('move', () => 1)`,
        `(await service.room.join('lobby')).presence({ f() {} })`,
      ]) {
        expect([call, await two.run(call)]).toMatchObject([call, { code: 'bad_request' }])
      }
      for (const shared of [true, false]) {
        const set = `await service.store.set('a', 'x'.repeat(12_582_912), { shared: ${shared} })`
        expect(await two.run(set)).toEqual({
          code: 'too_large',
          message: 'This value has 12.0 MB of JSON. The limit is 5 MB. Store less.',
        })
      }
    },
    ms,
  )

  test(
    'a window keeps what it watches while it has no place, and an early one waits for its place',
    async () => {
      const app = await publish()
      const one = await openJoined(app)
      const two = await open(app, one.page.context())
      const watch = `self.seen = []; self.errors = []
        addEventListener('error', ({ error }) => errors.push(error.code))
        service.db.collection('moves').onSnapshot((found) => seen.push(found.size))`
      const shows = (player: Player, count: number) =>
        until(async () => {
          await player.page.clock.fastForward(1_000)
          return JSON.stringify(await player.run('return seen.at(-1)')) === `{"value":${count}}`
        })
      await one.run(watch)
      await until(async () => JSON.stringify(await one.run('return seen')).includes('[0]'))
      const places = spyOn(t.ctx.state.limits.livePages, 'begin').mockReturnValue(undefined)
      // The pauses take no time, and calls have time to be taken.
      for (const { page } of [one, two]) await page.clock.install()
      await two.run(watch)
      await until(async () => JSON.stringify(await two.run('return errors')).includes('busy'))
      // The page gets no reason for its failed attempt, so it must not wait for it.
      let requests = 0
      await one.page.route(`**/api/apps/${app}/live`, (route) => {
        requests += 1
        return requests === 1 ? undefined : route.continue()
      })
      for (const session of t.ctx.state.sessions) session.stop()
      await until(async () => {
        await one.page.clock.fastForward(1_000)
        return requests > 1
      })
      places.mockRestore()
      await one.run(`await service.db.collection('moves').add({ n: 1 })`)
      await shows(one, 1)
      await shows(two, 1)
      expect(await one.run('return errors')).toEqual({ value: [] })
      expect(await two.run('return errors')).toEqual({ value: ['busy'] })
    },
    ms,
  )

  test(
    'two windows in a room see each other, and hear what each sends',
    async () => {
      const app = await publish()
      const [one, two] = [await openJoined(app), await openJoined(app)]
      const join = `self.heard = []; self.room = await service.room.join('lobby')
        room.on('move', (data, from) => heard.push([data, from.isMe]))`
      await one.run(join)
      await two.run(join)
      const peers = `return room.peers.map(({ isMe, presence }) => [isMe, presence])`
      const shows = (player: Player, code: string, text: string) =>
        until(async () => JSON.stringify(await player.run(code)).includes(text))
      await shows(one, peers, '[[true,null],[false,null]]')
      await two.run(`for (let x = 0; x <= 100; x += 1) room.presence({ x })`)
      await shows(one, peers, '[false,{"x":100}]')
      await one.run(`room.emit('move', 'e4')`)
      await shows(two, 'return heard', '["e4",false]')
      await shows(one, 'return heard', '["e4",true]')
      const flood = `for (let at = 0; at < 41; at += 1) room.emit('move', at)`
      expect(await one.run(flood)).toMatchObject({ code: 'room_limit' })
      const large = `'x'.repeat(100_000)`
      expect(await two.run(`room.emit('move', ${large})`)).toMatchObject({ code: 'too_large' })
      expect(await two.run(`await service.room.join('b', { presence: ${large} })`)).toMatchObject({
        code: 'too_large',
      })
      await two.run(`room.presence(${large}); room.emit('move', 'still here')`)
      await shows(one, 'return heard', '["still here",false]')
      await two.run(`room.leave()`)
      await shows(one, 'return room.peers.length', '1')
    },
    ms,
  )
})
