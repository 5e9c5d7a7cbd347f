import { afterEach, beforeEach, expect, test } from 'bun:test'

import { createPlayers, type PlayerCalls, startWithApp } from '../../testing/fixtures/players.ts'
import { takeSnapshot } from '../../testing/fixtures/snapshot.ts'
import type { TestServer } from '../../testing/fixtures/test-server.ts'
import * as limits from './limits.ts'
import { players, spaces } from './tables.ts'

let t: TestServer
let app: string
beforeEach(async () => void ({ t, app } = await startWithApp({ uses: ['shared', 'db'] })))
afterEach(() => t.close())

const { person } = createPlayers(() => ({ t, app }))

const setValue = (scope: 'own' | 'shared', key: string) => (call: PlayerCalls) =>
  call('PUT', `/value/${scope}`, { key, value: 'new' })
const addDocument = (call: PlayerCalls) =>
  call('POST', '/documents', { collection: 'a', data: { text: 'new' } })
const query = (more: object) => (call: PlayerCalls) =>
  call('POST', '/documents/query', { collection: 'a', ...more })
const list = (length: number, value: unknown) => Array.from({ length }, () => value)

interface Bound {
  /** The counters before the call. */
  player?: Partial<typeof players.$inferInsert>
  space?: Partial<typeof spaces.$inferInsert>
  send(call: PlayerCalls): ReturnType<PlayerCalls>
  code: string
  /** A part of the message. */
  says: string
}

const values = { valueBytes: limits.valueBytesPerOwnerMax }
const keys = { values: limits.valuesPerOwnerMax }
const bounds: [name: string, bound: Bound][] = [
  [
    'the bytes that a player keeps',
    { player: values, send: setValue('own', 'b'), code: 'data_full', says: '20 MB' },
  ],
  [
    'the keys that a player keeps',
    { player: keys, send: setValue('own', 'b'), code: 'data_full', says: '2000' },
  ],
  [
    'the bytes of shared values',
    { space: values, send: setValue('shared', 'b'), code: 'data_full', says: '20 MB' },
  ],
  [
    'the keys of shared values',
    { space: keys, send: setValue('shared', 'b'), code: 'data_full', says: '2000' },
  ],
  [
    'the documents of an app',
    {
      space: { documents: limits.documentsPerAppMax },
      send: addDocument,
      code: 'data_full',
      says: '5000 documents',
    },
  ],
  [
    'the bytes of all documents',
    {
      space: { documentBytes: limits.documentBytesPerAppMax },
      send: addDocument,
      code: 'data_full',
      says: '64 MB',
    },
  ],
  [
    'the writes of a batch',
    {
      send: (call) =>
        call('POST', '/documents/batch', {
          writes: list(limits.batchWritesMax + 1, { op: 'delete', path: 'a/1' }),
        }),
      code: 'bad_request',
      says: '100',
    },
  ],
  [
    'the conditions of a query',
    {
      send: query({ where: list(limits.conditionsMax + 1, { field: 'a', op: '==', value: 1 }) }),
      code: 'bad_request',
      says: '10',
    },
  ],
  [
    'the orders of a query',
    {
      send: query({ orderBy: list(limits.ordersMax + 1, { field: 'a' }) }),
      code: 'bad_request',
      says: '3',
    },
  ],
  [
    'the documents that a query returns',
    {
      send: query({ limit: limits.documentsPerAppMax + 1 }),
      code: 'bad_request',
      says: '5000',
    },
  ],
  [
    'the time of a lease',
    {
      send: (call) =>
        call('POST', '/documents/lease', {
          path: 'a/1',
          holder: 'tab',
          ttlMs: limits.leaseMsMax + 1,
        }),
      code: 'bad_request',
      says: '3600000',
    },
  ],
]

test.each(bounds)(
  '%s have a bound, which its error names, and nothing is kept',
  async (_, bound) => {
    const olga = await person('olga')
    for (const scope of ['own', 'shared'] as const) await setValue(scope, 'a')(olga)
    await addDocument(olga)
    await t.ctx.db.tx(async (db) => {
      if (bound.player) await db.update(players).set(bound.player)
      if (bound.space) await db.update(spaces).set(bound.space)
    })
    const before = await takeSnapshot(t.ctx)
    const { status, code, body } = await bound.send(olga)
    expect([code, status < 500]).toEqual([bound.code, true])
    expect(String(Object(body).error)).toContain(bound.says)
    expect(await takeSnapshot(t.ctx)).toEqual(before)
  },
)
