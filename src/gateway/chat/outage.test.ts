/** Calls that end while the database cannot write, or after the clock was set. */
import { afterEach, expect, test } from 'bun:test'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { databaseUrl } from '../../kernel/config/load.ts'
import { dialect } from '../../kernel/db/columns.ts'
import type { Engine } from '../../kernel/db/engine.ts'
import { DatabaseBusy } from '../../kernel/db/error.ts'
import { migratePostgres, migrateSqlite } from '../../kernel/db/open.ts'
import { openPostgres } from '../../kernel/db/postgres.ts'
import { openSqlite } from '../../kernel/db/sqlite.ts'
import { type Clock, hour, stopwatch } from '../../kernel/time.ts'
import { Journal } from '../../store/journal.ts'
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

/** A database that can be stopped, and the folder of the journal beside it. */
interface StoppableDatabase {
  db: Engine
  dir: string
  stop(): void
  resume(): void
  close(): Promise<void>
}

const newFolder = () => mkdtempSync(join(tmpdir(), 'berth-outage-'))

/** On PostgreSQL the connection stops, on SQLite the writer. */
async function openStoppable(): Promise<StoppableDatabase> {
  const dir = newFolder()
  if (dialect === 'postgres') {
    const url = await createDatabase()
    await migratePostgres(url)
    const proxy = startPausableProxy(new URL(databaseUrl()))
    const through = new URL(url)
    through.host = proxy.host
    const db = await openPostgres(through.href, 2_000)
    const close = async () => {
      proxy.close()
      await dropDatabase(url)
      rmSync(dir, { recursive: true })
    }
    return { db, dir, stop: () => proxy.pause(), resume: () => proxy.resume(), close }
  }
  let isStopped = false
  const db = await freshEngine()
  const tx: Engine['tx'] = (unit) =>
    isStopped ? Promise.reject(new DatabaseBusy('It is stopped.')) : db.tx(unit)
  return {
    db: { ...db, tx },
    dir,
    stop: () => void (isStopped = true),
    resume: () => void (isStopped = false),
    close: async () => rmSync(dir, { recursive: true }),
  }
}

const mayMount =
  dialect === 'sqlite' && Bun.spawnSync(['unshare', '--mount', 'true']).success === true

/** A SQLite database on a disk of its own that fills up. */
async function openOnSmallDisk(): Promise<StoppableDatabase> {
  const dir = newFolder()
  Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=12m', 'tmpfs', dir])
  const file = join(dir, 'berth.sqlite')
  migrateSqlite(file)
  const filler = join(dir, 'filler')
  return {
    db: await openSqlite(file),
    dir,
    stop() {
      const out = openSync(filler, 'w')
      for (let size = 1_048_576; size >= 1; size = Math.floor(size / 4)) {
        try {
          for (;;) writeSync(out, new Uint8Array(size))
        } catch {
          // A smaller piece may still have space.
        }
      }
      closeSync(out)
    },
    resume: () => rmSync(filler),
    async close() {
      Bun.spawnSync(['umount', dir])
      rmSync(dir, { recursive: true })
    },
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
async function start(opened: StoppableDatabase): Promise<void> {
  database = opened
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
  const path = join(database.dir, 'settlements.journal')
  ctx.pendingSettlements.replay(ctx, await Journal.open(path, ctx.secret))
  gus = await server.gus()
  const gate = Promise.withResolvers<void>()
  release = gate.resolve
  const later = { until: gate.promise }
  fake.script('fake/late', [later, ...(scripts.ok?.stream ?? [])])
  fake.script('fake/late-500', [later, ...(scripts['500']?.plain ?? [])])
}
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

const begun = (count: number) => server.fake.arrival(count - 1)
const settled = () => until(() => server.ctx.pendingSettlements.pendingCount === 0)

const outages = [
  ['a stopped database', openStoppable],
  ...(mayMount ? ([['a full disk', openOnSmallDisk]] as const) : []),
] as const

test.each(outages)(
  'calls that end during %s are charged for their tokens',
  async (_name, open) => {
    await start(await open())
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
  },
  60_000,
)

test('a call under an idempotency key is busy until its outcome is stored, then replayed', async () => {
  await start(await openStoppable())
  const named = { 'idempotency-key': 'one' }
  const first = chat('late', {}, named)
  await begun(1)
  database.stop()
  release()
  const { text } = await first
  expect(text).toContain('[DONE]')
  expect((await chat('late', {}, named)).status).toBe(409)
  database.resume()
  const again = await until(async () => {
    const retried = await chat('late', {}, named)
    return retried.status !== 409 && retried
  })
  expect(again).toMatchObject({ status: 200, text })
  await settled()
  expect(await spent()).toBe(worth)
}, 60_000)

test('a clock that is set 1 h ahead during a stream does not charge its hold', async () => {
  await start(await openStoppable())
  const call = chat('late')
  await begun(1)
  clock.wall += hour
  expect(await expireHolds(server.ctx)).toEqual({ released: 0, settled: 0 })
  release()
  expect((await call).text).toContain('[DONE]')
  expect(await spent()).toBe(worth)
  expect((await server.lastUse(gus)).use).toMatchObject({ status: 'completed' })
}, 60_000)
