/** One topic, the messages and ends of a live connection, with the server of each test. */
import { afterEach, beforeEach, expect, spyOn, test } from 'bun:test'

import { Signals } from '../../kernel/db/signals.ts'
import { setGroup, setProvidedGroups } from '../../people/groups.ts'
import { suspendPerson } from '../../people/sessions.ts'
import { createTestPerson, createTestSession } from '../../testing/fixtures/people.ts'
import { startWithApp } from '../../testing/fixtures/players.ts'
import { openSession, type RealtimeClient } from '../../testing/fixtures/realtime-client.ts'
import { serve } from '../../testing/fixtures/serve.ts'
import type { TestResponse, TestServer } from '../../testing/fixtures/test-server.ts'
import { until } from '../../testing/until.ts'
import { takeDown } from '../moderation/moderation.ts'
import { DocumentCache } from './document-cache.ts'
import {
  liveMessagesPerSecond,
  roomPlayersMax,
  roomsPerPageMax,
  watchesPerPageMax,
} from './limits.ts'
import { LiveQueries } from './live-queries.ts'
import { keepLive, LiveSession } from './live-session.ts'
import { Rooms } from './rooms.ts'

let t: TestServer
let app: string
let server: ReturnType<typeof serve>
beforeEach(async () => {
  ;({ t, app } = await startWithApp({ uses: ['db', 'room'] }))
  server = serve(() => t)
})
afterEach(async () => {
  await server.stop(true)
  await t.close()
})

interface Guest {
  id: string
  call(method: string, path: string, body?: unknown): Promise<TestResponse>
  connect(headers?: Record<string, string>): Promise<RealtimeClient>
}

/** Returns a guest who has joined. */
async function guest(): Promise<Guest> {
  const joined = await t.call('POST', `/apps/${app}/player`, { body: {} })
  const cookie = /^[^;]+/.exec(joined.headers.get('set-cookie') ?? '')?.[0] ?? ''
  return {
    id: joined.text('player.id'),
    call: (method, path, body) =>
      t.call(method, `/apps/${app}${path}`, { body, headers: { cookie } }),
    connect: (headers) =>
      openSession(`http://localhost:${server.port}/api/apps/${app}/live`, {
        headers: { cookie, ...headers },
      }),
  }
}

const set = (player: Guest, path: string, data: object) =>
  player.call('PUT', '/documents', { path, data })

/** The documents of an event as `at id`. */
const placesOf = (event: Record<string, unknown>) =>
  Object(event).docs.map(([at, { id }]: [number, { id: string }]) => `${at} ${id}`)

test('a page is told of changes of the documents that it watches, with their places', async () => {
  const [gus, eve] = [await guest(), await guest()]
  await set(gus, 'scores/a', { n: 1 })
  await set(gus, 'scores/b', { n: 3 })
  const page = await gus.connect()
  const query = { collection: 'scores', orderBy: [{ field: 'n', direction: 'desc' }], limit: 2 }
  page.send('watch', { watch: 1, query })
  const first = await page.next('documents')
  expect(first).toMatchObject({ watch: 1, full: true })
  expect(placesOf(first)).toEqual(['0 b', '1 a'])
  await set(eve, 'scores/c', { n: 2 })
  const second = await page.next('documents')
  expect([placesOf(second), second['removed']]).toEqual([['1 c'], ['a']])
  expect(Object(second).docs[0][1].author).toBe(eve.id)
  await eve.call('DELETE', '/documents?path=scores/b')
  const third = await page.next('documents')
  expect([placesOf(third), third['removed']]).toEqual([['1 a'], ['b']])
  page.send('unwatch', { watch: 1 })
  page.send('watch', { watch: 2, path: 'scores/a' })
  expect(placesOf(await page.next('documents'))).toEqual(['0 a'])
  await set(eve, 'scores/c', { n: 9 })
  await eve.call('DELETE', '/documents?path=scores/a')
  expect(await page.next('documents')).toMatchObject({ watch: 2, docs: [], removed: ['a'] })
  page.close()
})

test('a page that connects again gets what it missed, also removals', async () => {
  const gus = await guest()
  for (const id of ['a', 'b', 'c']) await set(gus, `games/${id}`, { id })
  const page = await gus.connect()
  const query = { collection: 'games' }
  page.send('watch', { watch: 1, query })
  const { version } = await page.next('documents')
  page.close()
  await page.closed
  await set(gus, 'games/b', { changed: true })
  await gus.call('DELETE', '/documents?path=games/a')
  await set(gus, 'games/d', {})
  const again = await gus.connect()
  again.send('watch', { watch: 1, query, since: version })
  const missed = await again.next('documents')
  expect(placesOf(missed)).toEqual(['0 b', '2 d'])
  expect(missed).toMatchObject({ ids: ['b', 'c', 'd'] })
  again.close()
})

test('equal queries of many pages are read once, and each page is told', async () => {
  const gus = await guest()
  const pages = await Promise.all([gus.connect(), (await guest()).connect(), gus.connect()])
  for (const page of pages) page.send('watch', { watch: 1, query: { collection: 'games' } })
  await Promise.all(pages.map((page) => page.next('documents')))
  await set(gus, 'games/a', {})
  for (const page of pages) expect(placesOf(await page.next('documents'))).toEqual(['0 a'])
  for (const page of pages) page.close()
})

test('players of a room see each other, hear events and the newest presence', async () => {
  const [gus, eve] = [await guest(), await guest()]
  const [one, two] = [await gus.connect(), await eve.connect()]
  one.send('join', { room: 'lobby', presence: { x: 0 } })
  const { you } = await one.next('room')
  two.send('join', { room: 'lobby' })
  const joined = await two.next('room')
  expect(joined['peers']).toMatchObject([
    { peer: you, by: gus.id, presence: { x: 0 } },
    { peer: joined['you'], by: eve.id, presence: null },
  ])
  expect(await one.next('room')).toMatchObject({ joined: [{ peer: joined['you'], by: eve.id }] })
  two.send('emit', { room: 'lobby', topic: 'hi', data: { n: 1 } })
  const event = { room: 'lobby', topic: 'hi', data: { n: 1 }, from: joined['you'] }
  for (const page of [one, two]) expect(await page.next('event')).toMatchObject(event)
  for (let x = 1; x <= 100; x += 1) one.send('presence', { room: 'lobby', data: { x } })
  await until(() => JSON.stringify(two.events.at(-1)).includes('"x":100'))
  const moves = two.events.filter((one) => 'presence' in one)
  expect(moves.length).toBeLessThan(50)
  two.close()
  await until(() =>
    one.events.some((one) => JSON.stringify(one['left']) === JSON.stringify([joined['you']])),
  )
  one.close()
})

test('a connection needs the agreement of the player, a WebSocket and a page of this site', async () => {
  const path = `/apps/${app}/live`
  const gus = await guest()
  expect((await gus.call('GET', '/live')).code).toBe('needs_websocket')
  const url = `http://localhost:${server.port}/api${path}`
  const upgrade = {
    connection: 'upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  expect((await fetch(url, { headers: upgrade })).status).toBe(403)
  await expect(gus.connect({ origin: 'https://evil.example' })).rejects.toThrow('closed')
})

test('errors of a message reach the page, and the connection goes on', async () => {
  const [gus, eve] = [await guest(), await guest()]
  const page = await gus.connect()
  const codeOf = async () => Object((await page.next('error'))['error']).code
  const bad = [
    ['watch', { watch: 1, path: 'games' }, 'bad_request'],
    [
      'watch',
      { watch: 1, query: { collection: 'a', where: [{ field: 'a', op: '=', value: 1 }] } },
      'bad_request',
    ],
    ['watch', { watch: 1, path: `data/users/${eve.id}/a` }, 'not_found'],
    ['emit', { room: 'lobby', topic: 'a' }, 'not_found'],
    ['join', { room: '' }, 'bad_request'],
    ['nothing', {}, 'bad_request'],
    ['join', { room: 'a', presence: 'a'.repeat(4_097) }, 'too_large'],
  ] as const
  for (const [type, fields, code] of bad) {
    page.send(type, fields)
    expect([type, await codeOf()]).toEqual([type, code])
  }
  for (let watch = 1; watch <= watchesPerPageMax; watch += 1) {
    page.send('watch', { watch, path: `games/${watch}` })
  }
  page.send('watch', { watch: 100, path: 'games/100' })
  expect(await codeOf()).toBe('data_full')
  for (let at = 0; at <= roomsPerPageMax; at += 1) page.send('join', { room: `room ${at}` })
  expect(await codeOf()).toBe('data_full')
  page.send('leave', { room: 'room 0' })
  page.send('emit', { room: 'room 1', topic: 'a', data: 'a'.repeat(4_097) })
  expect(await codeOf()).toBe('too_large')
  page.send('join', { room: 'lobby' })
  t.clock.advance(2_000)
  for (let at = 0; at <= 40; at += 1) page.send('emit', { room: 'lobby', topic: 'spam', data: at })
  expect(await codeOf()).toBe('room_limit')
  page.close()
})

test('a page that floods its connection is closed, and an app that is taken down', async () => {
  const gus = await guest()
  const flood = await gus.connect()
  for (let at = 0; at <= liveMessagesPerSecond; at += 1) flood.send('unwatch', { watch: 1 })
  expect((await flood.closed).code).toBe(1_008)
  const large = await gus.connect()
  large.write('a'.repeat(70_000))
  expect((await large.closed).code).toBe(1_008)
  const page = await gus.connect()
  await keepLive(t.ctx)
  await takeDown(t.ctx, app, 'spam', 'operator')
  await keepLive(t.ctx)
  expect((await page.closed).code).toBe(1_008)
})

test('a connection ends at once with the session, the suspension or the audience', async () => {
  const open = async (name: string) => {
    const who = await createTestPerson(t, name)
    const { cookie } = await createTestSession(t, who)
    const headers = { cookie }
    await t.call('POST', `/apps/${app}/player`, { body: {}, headers })
    const page = await openSession(`http://localhost:${server.port}/api/apps/${app}/live`, {
      headers,
    })
    page.send('join', { room: 'lobby' })
    await page.next('room')
    return { page, headers }
  }
  const [olga, pat, sam] = [await open('olga'), await open('pat'), await open('sam')]
  const signOut = { headers: { ...olga.headers, 'sec-fetch-site': 'same-origin' } }
  expect((await t.call('DELETE', '/session', signOut)).status).toBe(200)
  expect((await olga.page.closed).code).toBe(1_008)
  await suspendPerson(t.ctx, 'pat', 'spam', 'operator')
  expect((await pat.page.closed).code).toBe(1_008)
  const guestPage = await (await guest()).connect()
  guestPage.send('join', { room: 'lobby' })
  await guestPage.next('room')
  const ann = await t.agent('ann')
  await ann.call('PATCH', `/apps/${app}/audience`, { audience: 'instance' })
  expect((await guestPage.closed).code).toBe(1_008)
  sam.page.send('join', { room: 'still' })
  await until(() => sam.page.events.some((event) => event['room'] === 'still'))
  sam.page.close()
})

test('a connection ends at once when its player leaves the group that may open the app', async () => {
  const gina = await createTestPerson(t, 'gina')
  await setGroup(t.ctx, 'design', ['gina'], 'operator')
  const ann = await t.agent('ann')
  const open = { audience: 'people', groups: ['design'] }
  expect((await ann.call('PATCH', `/apps/${app}/audience`, open)).status).toBe(200)
  const connect = async () => {
    const headers = { cookie: (await createTestSession(t, gina)).cookie }
    await t.call('POST', `/apps/${app}/player`, { body: {}, headers })
    return openSession(`http://localhost:${server.port}/api/apps/${app}/live`, { headers })
  }
  const first = await connect()
  await setGroup(t.ctx, 'design', [], 'operator')
  expect((await first.closed).code).toBe(1_008)
  await setProvidedGroups(t.ctx, gina.person.id, ['design'])
  const second = await connect()
  await setProvidedGroups(t.ctx, gina.person.id, [])
  expect((await second.closed).code).toBe(1_008)
})

test('a change at another server of the database ends a connection, too', async () => {
  const who = await createTestPerson(t, 'olga')
  const { cookie } = await createTestSession(t, who)
  await t.call('POST', `/apps/${app}/player`, { body: {}, headers: { cookie } })
  const page = await openSession(`http://localhost:${server.port}/api/apps/${app}/live`, {
    headers: { cookie },
  })
  page.send('join', { room: 'lobby' })
  await page.next('room')
  const send = spyOn(t.ctx.signals, 'send')
  // The other server changes the database, and its signal follows.
  const announce = spyOn(t.ctx.state.accessChanges, 'announce').mockImplementation(() => undefined)
  await suspendPerson(t.ctx, 'olga', 'spam', 'operator')
  expect(announce).toHaveBeenCalledWith(who.person.id)
  announce.mockRestore()
  t.ctx.state.accessChanges.announce(who.person.id)
  expect(send).toHaveBeenCalledWith('access', who.person.id)
  expect((await page.closed).code).toBe(1_008)
})

test('one network does not take the places of all others', async () => {
  t.ctx.state.limits.networkPages.max = 2
  const pages = [await (await guest()).connect(), await (await guest()).connect()]
  const gus = await guest()
  await expect(gus.connect()).rejects.toThrow('closed')
  for (const page of pages) page.close()
  await until(() => t.ctx.state.sessions.size === 0)
  const page = await gus.connect()
  page.close()
})

test('a player has eight open pages of an app, and a room 64 players', async () => {
  const gus = await guest()
  const pages = []
  for (let at = 0; at < 8; at += 1) pages.push(await gus.connect())
  await expect(gus.connect()).rejects.toThrow('closed')
  // A browser hides why a connection did not open, so its page asks.
  expect((await gus.call('GET', '/live')).code).toBe('busy')
  for (const page of pages) page.close()
  await until(() => t.ctx.state.sessions.size === 0)
  for (let at = 0; at < roomPlayersMax; at += 1) {
    t.ctx.rooms.join(app, 'full', { by: `${at}`, presence: null, send: () => undefined })
  }
  const page = await gus.connect()
  page.send('join', { room: 'full' })
  expect(Object((await page.next('error'))['error']).code).toBe('data_full')
  page.close()
})

test('a page at another server of the database is told of a change', async () => {
  const listeners: ((value: string | undefined) => void)[] = []
  const signals = Object.assign(Object.create(Signals.prototype), {
    on: (_: string, listener: (value: string | undefined) => void) => listeners.push(listener),
  })
  const cache = new DocumentCache({ db: t.ctx.db, signals })
  const queries = new LiveQueries({ cache, log: t.ctx.log })
  const send = spyOn(t.ctx.signals, 'send')
  const received: string[] = []
  const query = { conditions: [], orders: [], limit: 10 }
  const end = await queries.watch(
    { app, collection: 'a', query },
    (text) => void received.push(text),
  )
  await set(await guest(), 'a/1', { n: 1 })
  expect(send).toHaveBeenCalledWith('documents', `${app} a`)
  for (const listener of listeners) listener(`${app} a`)
  await until(() => received.length === 2)
  expect(received[1]).toContain('"data":{"n":1}')
  end()
})

test('rooms reach over the servers of a database, and forget a server that ended', () => {
  const listeners: ((value: string | undefined) => void)[] = []
  const openRooms = () => {
    const own = listeners.length
    const signals = Object.assign(Object.create(Signals.prototype), {
      on: (_: string, listener: (value: string | undefined) => void) => listeners.push(listener),
      send: (_: string, value: string) =>
        listeners.forEach((listener, at) => at !== own && listener(value)),
    })
    return new Rooms({ signals, clock: t.clock })
  }
  const [here, there] = [openRooms(), openRooms()]
  const received: Record<string, unknown[]> = { here: [], there: [] }
  const member = (name: string) => ({
    by: name,
    presence: { name },
    send: (text: string) => void received[name]?.push(JSON.parse(text)),
  })
  const first = here.join(app, 'lobby', member('here'))
  const second = there.join(app, 'lobby', member('there'))
  expect(received['here']?.at(-1)).toMatchObject({
    joined: [{ by: 'there', presence: { name: 'there' } }],
  })
  expect(received['there']).toMatchObject([
    { peers: [{ by: 'there' }] },
    { joined: [{ by: 'here' }] },
  ])
  first.emit('hi', 1)
  expect(received['there']?.at(-1)).toMatchObject({ topic: 'hi', data: 1 })
  t.clock.advance(20_000)
  there.keep()
  t.clock.advance(20_000)
  here.keep()
  expect(received['here']?.at(-1)).not.toHaveProperty('left')
  t.clock.advance(20_000)
  here.keep()
  expect(received['here']?.at(-1)).toMatchObject({ left: [expect.any(String)] })
  second.leave()
})

test('a page watches and enters only what its app says that it uses', async () => {
  app = await (await t.agent('ben')).publish()
  const page = await (await guest()).connect()
  const error = { code: 'not_declared' }
  page.send('watch', { watch: 1, query: { collection: 'a' } })
  expect(await page.next('error')).toMatchObject({ watch: 1, error })
  page.send('join', { room: 'lobby' })
  expect(await page.next('error')).toMatchObject({ room: 'lobby', error })
  page.close()
})

test('an open page goes on with a use that its player agreed to later', async () => {
  app = await (await t.agent('ben')).publish({ uses: ['db'] })
  const gus = await guest()
  const page = await gus.connect()
  page.send('join', { room: 'lobby' })
  expect(await page.next('error')).toMatchObject({ room: 'lobby', error: { code: 'not_joined' } })
  await gus.call('POST', '/player', { uses: ['room'] })
  page.send('join', { room: 'lobby' })
  expect(await page.next('room')).toMatchObject({ peers: [{ by: gus.id }] })
  page.close()
})

test('a page that leaves while its agreement is read enters no room', async () => {
  app = await (await t.agent('ben')).publish({ uses: ['db'] })
  const gus = await guest()
  const page = await gus.connect()
  const session = [...t.ctx.state.sessions].find((one) => one instanceof LiveSession)
  await gus.call('POST', '/player', { uses: ['room'] })
  session?.message(JSON.stringify({ type: 'join', room: 'lobby' }))
  page.close()
  session?.close()
  const eve = await guest()
  await eve.call('POST', '/player', { uses: ['room'] })
  const other = await eve.connect()
  other.send('join', { room: 'lobby' })
  expect(Object(await other.next('room')).peers).toHaveLength(1)
  other.close()
})

test('a page that asks for a password shares nothing live, whatever players agreed to', async () => {
  const ben = await t.agent('ben')
  app = await ben.publish({ uses: ['db', 'room'] })
  const gus = await guest()
  const html =
    '<!doctype html><title>Sign in</title><input type="password"><script>const app = window.service</script>'
  const next = await ben.call('POST', `/apps/${app}/versions`, { html, uses: ['ai'] })
  expect(next.status).toBe(201)
  const page = await gus.connect()
  const error = { code: 'not_declared' }
  page.send('join', { room: 'lobby', presence: { typed: 'secret' } })
  expect(await page.next('error')).toMatchObject({ room: 'lobby', error })
  page.send('watch', { watch: 1, query: { collection: 'a' } })
  expect(await page.next('error')).toMatchObject({ watch: 1, error })
  page.close()
})
