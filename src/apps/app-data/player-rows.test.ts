import { afterEach, beforeEach, expect, test } from 'bun:test'

import { expectError } from '../../testing/expect-error.ts'
import {
  createPlayers,
  idOf,
  type PlayerCalls,
  startWithApp,
} from '../../testing/fixtures/players.ts'
import type { TestAgent, TestServer } from '../../testing/fixtures/test-server.ts'
import { forgetGuests } from './players.ts'
import { players } from './tables.ts'

let t: TestServer
let ann: TestAgent
let app: string
beforeEach(async () => void ({ t, ann, app } = await startWithApp({ uses: ['db'] })))
afterEach(() => t.close())

const { callWith, guest, person } = createPlayers(() => ({ t, app }))
const stranger = callWith()
const set = (call: PlayerCalls, path: string) =>
  call('PUT', '/documents', { path, data: { text: 'secret' } })

test('the maker sees how much each player keeps for themselves, and clears it unread', async () => {
  const [olga, gus] = [await person('olga'), await guest('Gus')]
  await olga('PUT', '/value/own', { key: 'diary', value: 'secret' })
  await set(gus, `data/users/${await idOf(gus)}/1`)
  await set(gus, 'a/1')
  const records = `/apps/${app}/records`
  const list = async () => (await ann.call('GET', `${records}?kind=personal`)).body
  const listed = await list()
  expect(listed).toMatchObject({
    records: [
      { kind: 'personal', name: await idOf(gus), authorName: 'Gus', value: null },
      { kind: 'personal', name: await idOf(olga), value: null, bytes: 13 },
    ],
    next: null,
  })
  expect(JSON.stringify(listed)).not.toContain('secret')
  const clear = (name: string) => ann.call('POST', `${records}/delete`, { kind: 'personal', name })
  expect((await clear('nobody')).body).toEqual({ deleted: 0 })
  expect((await clear(await idOf(olga))).body).toEqual({ deleted: 1 })
  expect((await clear(await idOf(gus))).body).toEqual({ deleted: 1 })
  expect(await list()).toEqual({ records: [], next: null })
  expect((await olga('GET', '/value/own?key=diary')).status).toBe(404)
  expect((await gus('GET', '/documents?path=a/1')).body).toMatchObject({ document: { id: '1' } })
  const ben = await t.agent('ben')
  const foreign = { kind: 'personal', name: await idOf(olga) }
  await expectError(t, 404, 'not_found', () => ben.call('POST', `${records}/delete`, foreign))
})

test('what a maker clears no longer counts for their quota', async () => {
  await t.close()
  ;({ t, ann, app } = await startWithApp({ uses: ['db'] }, { BYTES_PER_AGENT: '100000' }))
  const olga = await person('olga')
  const value = 'a'.repeat(80_000)
  await olga('PUT', '/value/own', { key: 'a', value })
  await expectError(t, 409, 'storage_full', () => olga('PUT', '/value/own', { key: 'b', value }))
  const name = await idOf(olga)
  await ann.call('POST', `/apps/${app}/records/delete`, { kind: 'personal', name })
  expect((await olga('PUT', '/value/own', { key: 'b', value })).status).toBe(200)
})

test('a network has so many new guests in an hour, also with cookies of its making', async () => {
  t.ctx.state.limits.newGuests.max = 2
  await guest()
  const made = callWith(`berth_player=${'a'.repeat(40)}`)
  expect((await made('POST', '/player', {})).status).toBe(200)
  await expectError(t, 429, 'guests_limit', () => stranger('POST', '/player', {}))
  const other = callWith(`berth_player=${'b'.repeat(40)}`)
  await expectError(t, 429, 'guests_limit', () => other('POST', '/player', {}))
  // A guest who has joined, a person and another network go on.
  expect((await made('POST', '/player', { name: 'Gus' })).status).toBe(200)
  await person('olga')
  const elsewhere = { body: {}, from: '198.51.100.7' }
  expect((await t.call('POST', `/apps/${app}/player`, elsewhere)).status).toBe(200)
})

test('guests who left nothing are forgotten after 30 days', async () => {
  const [gus, eve, olga] = [await guest(), await guest('Eve'), await person('olga')]
  await set(eve, 'a/1')
  expect(await forgetGuests(t.ctx)).toBe(0)
  t.clock.advance(31 * 24 * 3_600_000)
  expect(await forgetGuests(t.ctx)).toBe(1)
  expect((await gus('GET', '/player')).body).toMatchObject({ player: { joined: false } })
  expect((await eve('GET', '/player')).body).toMatchObject({ player: { joined: true } })
  await eve('DELETE', '/documents?path=a/1')
  expect(await forgetGuests(t.ctx)).toBe(1)
  expect(await t.ctx.db.read.select().from(players)).toHaveLength(1)
  expect((await olga('GET', '/player')).status).toBe(200)
})
