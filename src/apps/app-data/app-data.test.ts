import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import { createPlayers, type PlayerCalls, startWithApp } from '../../testing/fixtures/players.ts'
import { takeSnapshot } from '../../testing/fixtures/snapshot.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { takeDown } from '../moderation/moderation.ts'
import { documentsPerAppMax, valueBytesPerOwnerMax } from './limits.ts'
import { spaces } from './tables.ts'

let t: TestServer
let ann: TestAgent
let app: string
beforeEach(async () => void ({ t, ann, app } = await startWithApp({ uses: ['shared', 'db'] })))
afterEach(() => t.close())

const { callWith, guest, person } = createPlayers(() => ({ t, app }))
const stranger: PlayerCalls = (...given) => callWith()(...given)

const docs = '/documents'
const set = (call: PlayerCalls, path: string, data: object, more = {}) =>
  call('PUT', docs, { path, data, ...more })
const get = async (call: PlayerCalls, path: string) => call('GET', `${docs}?path=${path}`)
const find = async (call: PlayerCalls, query: object) => {
  const { body } = await call('POST', `${docs}/query`, query)
  return Object(body).documents.map(({ id }: { id: string }) => id)
}

test('a guest joins once and stays the same player in one browser', async () => {
  expect((await stranger('GET', '/player')).body).toEqual({
    player: {
      id: null,
      signedIn: false,
      joined: false,
      name: null,
      agreed: [],
      declared: ['shared', 'db'],
      undeclared: ['room', 'scores'],
    },
  })
  const gus = await guest('Gus')
  const known = await gus('GET', '/player')
  expect(known.body).toMatchObject({ player: { signedIn: false, joined: true, name: 'Gus' } })
  await gus('POST', '/player', { name: 'Gustav' })
  expect((await gus('GET', '/player')).body).toEqual({
    player: { ...Object(known.body).player, name: 'Gustav' },
  })
})

test('a value of null is no value', async () => {
  const olga = await person('olga')
  for (const scope of ['own', 'shared']) {
    for (const value of ['x', null]) await olga('PUT', `/value/${scope}`, { key: 'turn', value })
    expect((await olga('GET', `/values/${scope}`)).body).toEqual({ keys: [] })
  }
})

test('a player has another id in each app', async () => {
  const olga = await person('olga')
  const id = (await olga('GET', '/player')).text('player.id')
  app = await ann.publish({ title: 'Other' })
  expect((await olga('GET', '/player')).body).toMatchObject({ player: { joined: false } })
  expect((await olga('GET', '/player')).text('player.id')).not.toBe(id)
})

test('personal values follow a person and are seen by nobody else', async () => {
  const [olga, pat] = [await person('olga', false), await person('pat', false)]
  expect((await olga('PUT', '/value/own', { key: 'level', value: { at: 3 } })).status).toBe(200)
  expect((await olga('GET', '/value/own?key=level')).body).toMatchObject({
    key: 'level',
    value: { at: 3 },
    author: null,
  })
  await olga('PUT', '/value/own', { key: 'lives', value: 2 })
  expect((await olga('GET', '/values/own?prefix=le')).body).toEqual({ keys: ['level'] })
  await expectError(t, 404, 'not_found', () => pat('GET', '/value/own?key=level'))
  expect((await pat('DELETE', '/value/own?key=level')).body).toEqual({ deleted: false })
  expect((await olga('DELETE', '/value/own?key=level')).body).toEqual({ deleted: true })
  await expectError(t, 404, 'not_found', () => olga('GET', '/value/own?key=level'))
  await expectError(t, 401, 'no_key', () => stranger('PUT', '/value/own', { key: 'a', value: 1 }))
})

test('shared data needs the agreement of the player', async () => {
  const olga = await person('olga', false)
  for (const call of [stranger, olga]) {
    const requests = [
      () => set(call, 'a/1', {}),
      () => get(call, 'a/1'),
      () => call('POST', `${docs}/query`, { collection: 'a' }),
      () => call('POST', docs, { collection: 'a', data: {} }),
      () => call('PATCH', docs, { path: 'a/1', data: {} }),
      () => call('DELETE', `${docs}?path=a/1`),
      () => call('POST', `${docs}/lease`, { path: 'a/1', holder: 'x', ttlMs: 1 }),
      () => call('PUT', '/value/shared', { key: 'a', value: 1 }),
      () => call('GET', '/value/shared?key=a'),
      () => call('GET', '/values/shared'),
      () => call('DELETE', '/value/shared?key=a'),
    ]
    for (const send of requests) await expectError(t, 403, 'not_joined', send)
  }
})

test('shared values are of all players and name their author', async () => {
  const [olga, gus] = [await person('olga'), await guest()]
  await olga('PUT', '/value/shared', { key: 'best', value: 10 })
  const author = (await olga('GET', '/player')).text('player.id')
  expect((await gus('GET', '/value/shared?key=best')).body).toMatchObject({ value: 10, author })
  await gus('PUT', '/value/shared', { key: 'best', value: 12 })
  const gusId = (await gus('GET', '/player')).text('player.id')
  expect((await olga('GET', '/value/shared?key=best')).body).toMatchObject({ author: gusId })
})

test('documents are set, merged, listed and deleted by all players', async () => {
  const [olga, gus] = [await person('olga'), await guest()]
  await set(olga, 'games/1', { turn: 'x', board: { a: 1 }, moves: [1] })
  const changed = await gus('PATCH', docs, {
    path: 'games/1',
    data: {
      board: { b: 2 },
      count: { $add: 2 },
      moves: { $union: [1, 2] },
      turn: { $remove: true },
    },
  })
  expect(changed.body).toMatchObject({
    document: {
      id: '1',
      path: 'games/1',
      data: { board: { a: 1, b: 2 }, count: 2, moves: [1, 2] },
    },
  })
  expect(Object(changed.body).document.data).not.toHaveProperty('turn')
  const added = (await olga('POST', docs, { collection: 'games', data: { $now: 1 } })).text(
    'document.id',
  )
  expect(await find(gus, { collection: 'games' })).toEqual(['1', added])
  expect((await gus('DELETE', `${docs}?path=games/1`)).body).toEqual({ deleted: true })
  expect((await gus('DELETE', `${docs}?path=games/1`)).body).toEqual({ deleted: false })
  expect((await get(olga, 'games/1')).body).toEqual({ document: null })
  expect(await find(gus, { collection: 'games' })).toEqual([added])
  await expectError(t, 404, 'not_found', () =>
    gus('PATCH', docs, { path: 'games/1', data: { a: 1 } }),
  )
  const made = await gus('PATCH', docs, { path: 'games/1', data: { a: 1 }, create: true })
  expect(made.body).toMatchObject({ document: { data: { a: 1 } } })
})

test('queries filter, order and limit', async () => {
  const gus = await guest()
  const scores = { ann: 3, ben: 10, cy: 7 }
  for (const [id, score] of Object.entries(scores)) {
    await set(gus, `scores/${id}`, {
      score,
      tags: [id, 'all'],
      in: { team: score > 5 ? 'a' : 'b' },
    })
  }
  const where = (field: string, op: string, value: unknown) =>
    find(gus, { collection: 'scores', where: [{ field, op, value }] })
  expect(await where('score', '>', 3)).toEqual(['ben', 'cy'])
  expect(await where('score', '!=', 7)).toEqual(['ann', 'ben'])
  expect(await where('in.team', '==', 'a')).toEqual(['ben', 'cy'])
  expect(await where('score', 'in', [3, 7, '10'])).toEqual(['ann', 'cy'])
  expect(await where('score', 'not-in', [3])).toEqual(['ben', 'cy'])
  expect(await where('tags', 'array-contains', 'cy')).toEqual(['cy'])
  expect(await where('tags', 'array-contains-any', ['cy', 'ann'])).toEqual(['ann', 'cy'])
  const top = { collection: 'scores', orderBy: [{ field: 'score', direction: 'desc' }], limit: 2 }
  expect(await find(gus, top)).toEqual(['ben', 'cy'])
  await expectError(t, 400, 'bad_request', () =>
    gus('POST', `${docs}/query`, {
      collection: 'scores',
      where: [{ field: 'a', op: 'in', value: 1 }],
    }),
  )
})

test('only its author changes a protected document, and private ones are read by one player', async () => {
  const [olga, gus] = [await person('olga'), await guest()]
  await set(olga, 'notes/1', { text: 'mine' }, { own: true })
  const changes = [
    () => set(gus, 'notes/1', {}),
    () => gus('PATCH', docs, { path: 'notes/1', data: {} }),
    () => gus('DELETE', `${docs}?path=notes/1`),
    () => gus('POST', `${docs}/lease`, { path: 'notes/1', holder: 'x', ttlMs: 1 }),
  ]
  for (const send of changes) await expectError(t, 403, 'not_own', send)
  expect((await set(olga, 'notes/1', { text: 'new' })).status).toBe(200)
  const id = (await olga('GET', '/player')).text('player.id')
  const secret = `data/users/${id}/diary`
  expect((await set(olga, secret, { text: 'hush' })).status).toBe(200)
  await expectError(t, 404, 'not_found', () => get(gus, secret))
  await expectError(t, 404, 'not_found', () => set(gus, secret, {}))
  await expectError(t, 404, 'not_found', () =>
    gus('POST', `${docs}/query`, { collection: `data/users/${id}` }),
  )
  const records = await ann.call('GET', `/apps/${app}/records`)
  expect(Object(records.body).records).toMatchObject([{ name: 'notes/1' }])
})

test('a lease has one holder until it ends or is given back', async () => {
  const [olga, gus] = [await person('olga'), await guest()]
  const acquire = async (call: PlayerCalls, ttlMs = 5_000) =>
    (
      await call('POST', `${docs}/lease`, {
        path: 'turns/1',
        holder: 'tab',
        ttlMs,
        data: { ttlMs },
      })
    ).body
  expect(await acquire(olga)).toMatchObject({ acquired: true })
  expect(await acquire(gus, 9_000)).toMatchObject({
    acquired: false,
    document: { data: { ttlMs: 5_000 } },
  })
  expect(await acquire(olga, 0)).toMatchObject({ acquired: false, until: null })
  expect(await acquire(gus)).toMatchObject({ acquired: true })
  t.clock.advance(5_000)
  expect(await acquire(olga)).toMatchObject({ acquired: true })
})

test('rejects what is too large or malformed, and stores nothing of it', async () => {
  const gus = await guest()
  const large = 'a'.repeat(256 * 1_024)
  await expectError(t, 413, 'too_large', () => set(gus, 'a/1', { large }))
  const value = 'a'.repeat(5 * 1_024 * 1_024)
  await expectError(t, 413, 'too_large', () => gus('PUT', '/value/shared', { key: 'a', value }))
  for (const path of [
    'a',
    'a/b/c',
    '',
    'a//',
    '../a',
    `a/${'b'.repeat(121)}`,
    'a/b\u0000',
    '1/2/3/4/5/6/7/8/9/10',
  ]) {
    await expectError(t, 400, 'bad_request', () => set(gus, path, {}))
  }
  for (const key of ['', 'a\u0000', 'a'.repeat(501)]) {
    await expectError(t, 400, 'bad_request', () => gus('PUT', '/value/shared', { key, value: 1 }))
  }
  await expectError(t, 400, 'bad_request', () => gus('POST', docs, { collection: 'a/b', data: {} }))
  await expectError(t, 400, 'bad_request', () => gus('PUT', docs, { path: 'a/1', data: [] }))
  await expectError(t, 400, 'bad_request', () => gus('PUT', '/value/all', { key: 'a', value: 1 }))
  await expectError(t, 400, 'bad_request', () => gus('POST', '/player', { name: 'a\nb' }))
})

test('an own __proto__ stays data', async () => {
  const gus = await guest()
  const path = `/apps/${app}${docs}`
  const cookie = (await stranger('POST', '/player', {})).headers.get('set-cookie') ?? ''
  const body = '{"path":"a/1","data":{"__proto__":{"admin":true}}}'
  const headers = { cookie: cookie.split(';')[0] ?? '', 'content-type': 'application/json' }
  await t.call('PUT', path, { body, headers })
  const stored = await get(gus, 'a/1')
  expect(Object.hasOwn(Object(stored.body).document.data, '__proto__')).toBe(true)
})

test('data counts for the quota of the maker, and is released with the app', async () => {
  await t.close()
  ;({ t, ann, app } = await startWithApp({ uses: ['shared', 'db'] }, { BYTES_PER_AGENT: '100000' }))
  const gus = await guest()
  await set(gus, 'a/1', { text: 'a'.repeat(60_000) })
  await expectError(t, 409, 'storage_full', () => set(gus, 'a/2', { text: 'a'.repeat(60_000) }))
  await gus('DELETE', `${docs}?path=a/1`)
  expect((await set(gus, 'a/2', { text: 'a'.repeat(60_000) })).status).toBe(200)
})

test('an app has 5,000 documents and 20 MB of shared values', async () => {
  const gus = await guest()
  await set(gus, 'a/1', {})
  const full = { documents: documentsPerAppMax, valueBytes: valueBytesPerOwnerMax }
  await t.ctx.db.tx((db) => db.update(spaces).set(full))
  await expectError(t, 409, 'data_full', () => set(gus, 'a/2', {}))
  expect((await set(gus, 'a/1', { changed: true })).status).toBe(200)
  await expectError(t, 409, 'data_full', () => gus('PUT', '/value/shared', { key: 'a', value: 1 }))
})

test('a page that loops is stopped for a minute', async () => {
  const gus = await guest()
  t.ctx.state.limits.dataCalls.max = 3
  for (let call = 0; call < 3; call += 1) await get(gus, 'a/1')
  await expectError(t, 429, 'data_limit', () => get(gus, 'a/1'))
})

test('the maker and the operator list and delete records, with their authors', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  await set(olga, 'a/1', { n: 1 })
  await set(gus, 'a/2', { n: 2 })
  await gus('PUT', '/value/shared', { key: 'best', value: 1 })
  const author = (await gus('GET', '/player')).text('player.id')
  const list = async (query = '') =>
    Object((await ann.call('GET', `/apps/${app}/records${query}`)).body)
  const first = await list('?limit=1')
  expect(first.records).toMatchObject([{ kind: 'document', name: 'a/1', value: { n: 1 } }])
  const second = await list(`?limit=1&cursor=${first.next}`)
  expect(second).toMatchObject({
    records: [{ name: 'a/2', author, authorName: 'Gus' }],
    next: null,
  })
  expect(await list('?kind=value')).toMatchObject({ records: [{ name: 'best', author }] })
  const records = `/apps/${app}/records`
  const ben = await t.agent('ben')
  const byAuthor = { kind: 'author', name: author }
  await expectError(t, 404, 'not_found', () => ben.call('GET', records))
  await expectError(t, 404, 'not_found', () => ben.call('POST', `${records}/delete`, byAuthor))
  await expectError(t, 401, 'no_key', () => t.call('GET', records))
  await expectError(t, 400, 'bad_request', () => ann.call('POST', `${records}/delete`, {}))
  expect((await ann.call('POST', `${records}/delete`, byAuthor)).body).toEqual({
    deleted: 2,
  })
  expect(await find(olga, { collection: 'a' })).toEqual(['1'])
  expect(
    (await ann.call('POST', `${records}/delete`, { kind: 'document', name: 'a/1' })).body,
  ).toEqual({
    deleted: 1,
  })
  expect(await find(olga, { collection: 'a' })).toEqual([])
})

test('a takedown ends the data of an app for its players', async () => {
  const gus = await guest()
  await set(gus, 'a/1', {})
  await takeDown(t.ctx, app, 'spam', 'operator')
  await expectError(t, 410, 'taken_down', () => get(gus, 'a/1'))
  await expectError(t, 410, 'taken_down', () => gus('POST', '/player', {}))
})

test('another site cannot call for a player', async () => {
  const headers = { origin: 'https://evil.example' }
  await expectError(t, 403, 'cross_site', () =>
    t.call('POST', `/apps/${app}/player`, { body: {}, headers }),
  )
})

test('who replaces or changes a document is its author, and cannot protect that of another', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  const author = (await gus('GET', '/player')).text('player.id')
  await set(olga, 'chat/1', { text: 'Hello' })
  await set(gus, 'chat/1', { text: 'Rude' }, { own: true })
  expect((await get(olga, 'chat/1')).body).toMatchObject({ document: { author } })
  expect((await set(olga, 'chat/1', { text: 'Hello again' })).status).toBe(200)
  await set(olga, 'chat/2', { text: 'Hello' })
  await gus('PATCH', docs, { path: 'chat/2', data: { text: 'Rude' } })
  expect((await get(olga, 'chat/2')).body).toMatchObject({ document: { author } })
})

test('conditions of a query are short, however many documents there are', async () => {
  const olga = await person('olga')
  const value = Array.from({ length: 3_000 }, () => 1)
  const query = { collection: 'a', where: [{ field: 'n', op: '!=', value }] }
  const sent = await olga('POST', `${docs}/query`, query)
  expect([sent.status, sent.code]).toEqual([400, 'bad_request'])
})

test('only lower case makes a collection private, for the maker too', async () => {
  const olga = await person('olga')
  await set(olga, 'Data/users/x/1', { text: 'Rude' })
  const { body } = await ann.call('GET', `/apps/${app}/records`)
  expect(body).toMatchObject({ records: [{ name: 'Data/users/x/1' }] })
})

test('an app keeps only what it says that it uses, and the maker still lists what it kept', async () => {
  const gus = await guest('Gus')
  await set(gus, 'a/1', { text: 'kept' })
  const html = '<!doctype html><title>Quiet</title>'
  const version = (more: object) => ann.call('POST', `/apps/${app}/versions`, { html, ...more })
  expect((await version({ uses: [] })).status).toBe(201)
  const before = await takeSnapshot(t.ctx)
  for (const [use, call] of [
    ['db', () => gus('POST', docs, { collection: 'a', data: { text: 'x'.repeat(200_000) } })],
    ['db', () => set(gus, 'a/2', {})],
    ['shared', () => gus('PUT', '/value/shared', { key: 'a', value: 1 })],
    ['scores', () => gus('POST', '/scores', { score: 1 })],
  ] as const) {
    const { status, code, body } = await call()
    expect([status, code]).toEqual([403, 'not_declared'])
    expect(Object(body).error).toContain(`"uses": ["${use}"]`)
  }
  expect(await takeSnapshot(t.ctx)).toEqual(before)
  const records = `/apps/${app}/records`
  expect((await ann.call('GET', records)).body).toMatchObject({ records: [{ authorName: 'Gus' }] })
  const all = { kind: 'document', name: 'a/1' }
  expect((await ann.call('POST', `${records}/delete`, all)).body).toEqual({ deleted: 1 })
  await version({ uses: ['db'] })
  expect((await set(gus, 'a/2', {})).status).toBe(200)
})
