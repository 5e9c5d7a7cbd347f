import { afterEach, beforeEach, expect, test } from 'bun:test'

import { eq } from 'drizzle-orm'

import { expectError } from '../../testing/expect-error.ts'
import { createPlayers, type PlayerCalls, startWithApp } from '../../testing/fixtures/players.ts'
import { takeSnapshot } from '../../testing/fixtures/snapshot.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { versions } from '../tables.ts'
import { players } from './tables.ts'

let t: TestServer
let ann: TestAgent
let app: string
beforeEach(async () => void ({ t, ann, app } = await startWithApp({ uses: ['ai'] })))
afterEach(() => t.close())

const { guest, person } = createPlayers(() => ({ t, app }))

const calls = {
  shared: (call: PlayerCalls) => call('PUT', '/value/shared', { key: 'a', value: 1 }),
  db: (call: PlayerCalls) => call('PUT', '/documents', { path: 'a/1', data: {} }),
  scores: (call: PlayerCalls) => call('POST', '/scores', { score: 1 }),
}
const askingPassword = '<!doctype html><title>Login</title><input type="password" name="code">'
const readAgreed = async (call: PlayerCalls) =>
  Object((await call('GET', '/player')).body).player.agreed

test('a use that the app does not declare waits for the player, each one by itself', async () => {
  const olga = await person('olga')
  expect(await readAgreed(olga)).toEqual([])
  const before = await takeSnapshot(t.ctx)
  for (const send of Object.values(calls)) {
    await expectError(t, 403, 'not_joined', () => send(olga))
  }
  expect(await takeSnapshot(t.ctx)).toEqual(before)
  const agreed: string[] = []
  for (const [use, send] of Object.entries(calls)) {
    agreed.push(use)
    const joined = await olga('POST', '/player', { uses: [use] })
    expect(Object(joined.body).player.agreed).toEqual(agreed)
    expect((await send(olga)).status).toBe(200)
  }
  const gus = await guest()
  await expectError(t, 403, 'not_joined', () => calls.db(gus))
})

test('an agreement holds until a version uses more', async () => {
  app = await ann.publish({ uses: ['db'] })
  const [olga, gus] = [await person('olga'), await guest()]
  const html = '<!doctype html><title>More</title>'
  await ann.call('POST', `/apps/${app}/versions`, { html, uses: ['db', 'shared'] })
  for (const call of [olga, gus]) {
    expect((await calls.db(call)).status).toBe(200)
    await expectError(t, 403, 'not_joined', () => calls.shared(call))
    await call('POST', '/player', {})
    expect((await calls.shared(call)).status).toBe(200)
  }
})

test('boards and challenges are read without an agreement', async () => {
  const olga = await person('olga', false)
  expect((await olga('GET', '/scores')).body).toEqual({ scores: [], mine: null, count: 0 })
  await expectError(t, 404, 'not_found', () => olga('GET', '/challenges/AAAAAAAAAAAA'))
})

test('an app that asks for a password, or uses nothing of service, begins no use', async () => {
  const html = askingPassword
  const hidden = `${html}<script>const app = window.service; app.db.doc('a/1')</script>`
  for (const [name, page] of [
    ['olga', { html: hidden }],
    ['pat', { html, uses: ['ai'] }],
    ['eve', {}],
  ] as const) {
    app = await ann.publish(page)
    const call = await person(name)
    const before = await takeSnapshot(t.ctx)
    for (const [use, send] of Object.entries(calls)) {
      await expectError(t, 403, 'not_declared', () => send(call))
      await expectError(t, 403, 'not_declared', () => call('POST', '/player', { uses: [use] }))
    }
    expect(await takeSnapshot(t.ctx)).toEqual(before)
  }
})

test('files need a version that declares them, since its frame gets their address', async () => {
  const olga = await person('olga')
  await expectError(t, 403, 'not_declared', () => olga('POST', '/player', { uses: ['files'] }))
})

test('an agreement names uses that share data, each once', async () => {
  const olga = await person('olga')
  const before = await takeSnapshot(t.ctx)
  for (const uses of [['ai'], ['network'], ['db', 'db'], 'db', [1]]) {
    await expectError(t, 400, 'bad_request', () => olga('POST', '/player', { uses }))
  }
  expect(await takeSnapshot(t.ctx)).toEqual(before)
})

test('an agreement from before uses were recorded holds for what the app declares', async () => {
  app = await ann.publish({ uses: ['db'] })
  const olga = await person('olga')
  await t.ctx.db.tx((db) => db.update(players).set({ uses: null }).where(eq(players.app, app)))
  expect(await readAgreed(olga)).toEqual(['db'])
  expect((await calls.db(olga)).status).toBe(200)
  await expectError(t, 403, 'not_joined', () => calls.scores(olga))
})

test('an agreement from before uses were recorded does not hold for later versions', async () => {
  app = await ann.publish({ uses: ['db'] })
  const olga = await person('olga')
  await t.ctx.db.tx((db) => db.update(players).set({ uses: null }).where(eq(players.app, app)))
  t.clock.advance(1_000)
  const html = '<!doctype html><title>More</title>'
  await ann.call('POST', `/apps/${app}/versions`, { html, uses: ['db', 'shared'] })
  expect(await readAgreed(olga)).toEqual(['db'])
  await expectError(t, 403, 'not_joined', () => calls.shared(olga))
})

test('a version that only its maker sees opens no use to the players of another', async () => {
  app = await ann.publish({ store: true, html: askingPassword, uses: ['ai'] })
  const gus = await guest()
  const html = "<!doctype html><title>Away</title><script>location = 'https://e.example'</script>"
  await ann.call('POST', `/apps/${app}/versions`, { html, uses: ['db', 'shared'] })
  const before = await takeSnapshot(t.ctx)
  await expectError(t, 403, 'not_declared', () => gus('POST', '/player', { uses: ['db'] }))
  await expectError(t, 403, 'not_declared', () => calls.db(gus))
  expect(await takeSnapshot(t.ctx)).toEqual(before)
})

test('an app from before uses were recorded keeps its data', async () => {
  await t.ctx.db.tx((db) => db.update(versions).set({ uses: null }).where(eq(versions.app, app)))
  const gus = await guest()
  for (const send of Object.values(calls)) expect((await send(gus)).status).toBe(200)
})
