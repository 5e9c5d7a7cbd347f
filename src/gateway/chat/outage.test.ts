/** Calls that end while the database cannot write, or after the clock was set. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { join } from 'node:path'

import { databaseUrl } from '../../config/load.ts'
import type { Clock } from '../../core/time.ts'
import { hour, stopwatch } from '../../core/time.ts'
import { dialect } from '../../db/dialect.ts'
import type { Engine } from '../../db/engine.ts'
import { DatabaseBusy } from '../../db/error.ts'
import { migratePostgres } from '../../db/migrate.ts'
import { openPostgres } from '../../db/postgres.ts'
import { Journal } from '../../storage/journal.ts'
import { scripts } from '../../testing/fakes/chat-scripts.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import {
  fakeModel,
  type FakeUpstreamServer,
  startFakeUpstreamServer,
} from '../../testing/fixtures/fake-upstream-server.ts'
import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { quickOutcomes } from '../../testing/fixtures/ledger.ts'
import { startPausableProxy } from '../../testing/fixtures/pausable-proxy.ts'
import { until } from '../../testing/until.ts'
import { expireHolds } from '../usage/expire-holds.ts'

/** A database that can be stopped: behind a connection on PostgreSQL, in its writer on SQLite. */
interface StoppableDatabase {
  db: Engine
  stop(): void
  resume(): void
  close(): Promise<void>
}

async function openStoppable(): Promise<StoppableDatabase> {
  if (dialect === 'postgres') {
    const url = await createDatabase()
    await migratePostgres(url)
    const proxy = startPausableProxy(new URL(databaseUrl()))
    const through = new URL(url)
    through.host = proxy.host
    const db = await openPostgres(through.href, 500)
    const close = async () => {
      proxy.close()
      await dropDatabase(url)
    }
    return { db, stop: () => proxy.pause(), resume: () => proxy.resume(), close }
  }
  let isStopped = false
  const db = await freshEngine()
  return {
    db: {
      ...db,
      tx: (unit) => (isStopped ? Promise.reject(new DatabaseBusy('disk full')) : db.tx(unit)),
    },
    stop: () => void (isStopped = true),
    resume: () => void (isStopped = false),
    close: async () => {},
  }
}

const worth = 0.000037
const clock: Clock & { wall: number } = {
  wall: Date.UTC(2026, 4, 4),
  now: () => clock.wall,
  monotonic: stopwatch,
}
let database: StoppableDatabase
let server: FakeUpstreamServer
let gus: GatewayUser
let release: () => void
beforeEach(async () => {
  database = await openStoppable()
  const models = ['late', 'late-500'].map((name) => ({
    ...fakeModel('ok', { id: `fake/${name}` }),
    offers: fakeModel('ok').offers.map((offer) => ({ ...offer, model: `fake/${name}` })),
  }))
  server = await startFakeUpstreamServer({}, models, {
    db: database.db,
    clock,
    pendingSettlements: quickOutcomes(),
  })
  const { ctx, fake } = server
  const path = join(ctx.config.dataDir, 'settlements.journal')
  ctx.pendingSettlements.replay(ctx, await Journal.open(path, ctx.secret))
  gus = await server.gus()
  const gate = Promise.withResolvers<void>()
  release = gate.resolve
  const later = { until: gate.promise }
  fake.script('fake/late', [later, ...(scripts.ok?.stream ?? [])])
  fake.script('fake/late-500', [later, ...(scripts['500']?.plain ?? [])])
})
afterEach(async () => {
  expect(await server.findProblems(gus)).toEqual([])
  await server.close()
  await database.close()
})

const chat = async (model: string, more: object = {}, headers: Record<string, string> = {}) => {
  const response = await fetch(`${server.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${gus.key}`,
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify({
      model: `fake/${model}`,
      messages: [{ role: 'user', content: 'Hello.' }],
      stream: true,
      ...more,
    }),
  })
  return { status: response.status, text: await response.text() }
}

const spent = async (): Promise<number> => {
  const { body } = await gus.call('POST', '/credits/balance')
  return Number((1 - Number(Reflect.get(Object(body), 'balance'))).toFixed(9))
}

const begun = (count: number) => until(() => server.fake.received.length >= count)
const settled = () => until(() => server.ctx.pendingSettlements.pendingCount === 0)

test('calls that end during an outage are charged for what they were worth', async () => {
  const calls = Array.from({ length: 15 }, () => chat('late'))
  const failures = Array.from({ length: 4 }, () => chat('late-500', { stream: false }))
  await begun(19)
  database.stop()
  release()
  for (const { text } of await Promise.all(calls)) expect(text).toContain('[DONE]')
  for (const { status } of await Promise.all(failures)) expect(status).toBe(502)
  clock.wall += hour
  database.resume()
  await expireHolds(server.ctx)
  await settled()
  expect(await spent()).toBe(Number((15 * worth).toFixed(9)))
  const { total } = await server.lastUse(gus)
  expect(total).toBe(19)
}, 60_000)

test('a call under an idempotency key is busy until its outcome is stored, then replayed', async () => {
  const named = { 'idempotency-key': 'one' }
  const first = chat('late', {}, named)
  await begun(1)
  database.stop()
  release()
  const { text } = await first
  expect(text).toContain('[DONE]')
  expect((await chat('late', {}, named)).status).toBe(409)
  database.resume()
  expect(await chat('late', {}, named)).toMatchObject({ status: 200, text })
  await settled()
  expect(await spent()).toBe(worth)
}, 60_000)

test('a clock that is set 1 h ahead during a stream does not charge its hold', async () => {
  const call = chat('late')
  await begun(1)
  clock.wall += hour
  expect(await expireHolds(server.ctx)).toEqual({ released: 0, settled: 0 })
  release()
  expect((await call).text).toContain('[DONE]')
  expect(await spent()).toBe(worth)
  expect((await server.lastUse(gus)).use).toMatchObject({ status: 'completed' })
}, 60_000)
