/** Outcomes that are known while the database cannot take them. */
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'

import { dialect } from '../../kernel/db/columns.ts'
import type { Engine } from '../../kernel/db/engine.ts'
import { DatabaseBusy } from '../../kernel/db/error.ts'
import { replicas } from '../../kernel/db/replicas/tables.ts'
import { ApiError } from '../../kernel/errors.ts'
import { fromCredits as credits, zero } from '../../kernel/money.ts'
import { hour, minute, second } from '../../kernel/time.ts'
import { Journal } from '../../store/journal.ts'
import { catchError } from '../../testing/catch-error.ts'
import {
  ann,
  ben,
  fund,
  holdNow,
  holdRequest,
  openTestLedger,
  quickOutcomes,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { until } from '../../testing/until.ts'
import { doctor } from './doctor.ts'
import { expireOrphans } from './expiry.ts'
import { balanceOf, grantTo } from './ledger.ts'
import { PendingSettlements } from './outcomes.ts'
import { UnsettledHoldError, withHold } from './paid-work.ts'
import { defineRow } from './settlement-rows.ts'
import { holds } from './tables.ts'

const secret = 'secret'
let dir = ''
let path = ''
let ledger: TestLedger
let isDown = false

/** A database that is down while `isDown`. */
const withOutage = (db: Engine): Engine => ({
  ...db,
  tx: async (unit) => {
    if (isDown) throw new Error('disk full')
    return db.tx(unit)
  },
})

/** A row of a settlement that can be counted: a grant to ben. */
const giftRow = defineRow('gift', Type.Object({ ref: Type.String() }), {
  async write(ctx: TestLedger, db, rows) {
    for (const { data } of rows) {
      if (data.ref === 'none') throw new ApiError('not_found', { what: 'app' })
      const gift = { amount: credits(1), kind: 'grant', ref: `gift:${data.ref}` }
      await grantTo({ ...ctx, db: { ...ctx.db, tx: (unit) => unit(db) } }, ben, gift)
    }
  },
})

beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), 'berth-outcomes-'))
  path = join(dir, 'journal')
  const opened = await openTestLedger()
  ledger = { ...opened, db: withOutage(opened.db) }
  isDown = false
  await fund(ledger, ann, 100)
  await fund(ledger, ben, 10)
  await startProcess()
})
afterEach(async () => {
  expect(await doctor(ledger)).toMatchObject({ ok: true, problems: [] })
  await ledger.pendingSettlements.close()
  await ledger.db.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Replaces what a process remembers, as a kill and a start do. */
async function startProcess(): Promise<void> {
  await ledger.pendingSettlements.close()
  ledger = { ...ledger, pendingSettlements: quickOutcomes() }
  ledger.pendingSettlements.register(ledger, giftRow)
  ledger.pendingSettlements.replay(ledger, await Journal.open(path, secret))
}

const annHas = () => balanceOf(ledger, ann)
const settled = () => until(async () => ledger.pendingSettlements.pendingCount === 0)

/** Work of 3 credits under a hold of 10, which its deadline would charge. */
const work = (ref: string, gift = ref) =>
  withHold(ledger, holdRequest(ref, 10, { onExpiry: 'settle' }), async () => {
    isDown = true
    return { result: 'made', charge: credits(3), rows: [giftRow.create(ledger, { ref: gift })] }
  })

test('a late settlement charges its amount, and its client gets the result', async () => {
  const done = await work('r')
  expect(done).toMatchObject({ result: 'made', hold: { state: 'settled', charged: credits(3) } })
  expect(await annHas()).toMatchObject({ balance: credits(100), held: credits(10) })
  ledger.clock.advance(hour)
  isDown = false
  await expireOrphans(ledger)
  await settled()
  expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
  expect((await balanceOf(ledger, ben)).balance).toBe(credits(11))
})

test('a late release charges nothing, and its client gets the error', async () => {
  const failed = withHold(ledger, holdRequest('r', 10, { onExpiry: 'settle' }), async () => {
    isDown = true
    throw new Error('no model')
  })
  expect(String(await catchError(failed))).toBe('Error: no model')
  ledger.clock.advance(hour)
  isDown = false
  await expireOrphans(ledger)
  await settled()
  expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
})

test('after kill -9 the journal settles exactly once, before the deadline charges', async () => {
  await Promise.all(Array.from({ length: 5 }, (_, index) => work(`r${index}`)))
  const torn = await holdNow({ ...ledger, db: ledger.db }, holdRequest('x', 0)).catch(String)
  expect(torn).toContain('disk full')
  for (let start = 0; start < 3; start += 1) await startProcess()
  ledger.clock.advance(hour)
  isDown = false
  await expireOrphans(ledger)
  await settled()
  for (let start = 0; start < 2; start += 1) await startProcess()
  await settled()
  expect(await annHas()).toMatchObject({ balance: credits(85), held: zero })
  expect((await balanceOf(ledger, ben)).balance).toBe(credits(15))
})

test('a journaled settlement whose row is rejected releases its hold after a restart', async () => {
  await work('r', 'none')
  await startProcess()
  isDown = false
  await settled()
  expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
})

test('a settlement whose row is rejected late releases its hold and reports the row', async () => {
  await ledger.pendingSettlements.close()
  const waits = { retriesMs: [5], attemptMs: 500, waitMs: 5_000 }
  ledger = { ...ledger, pendingSettlements: new PendingSettlements(waits) }
  const done = work('r', 'none')
  await until(async () => ledger.pendingSettlements.pendingCount === 1)
  isDown = false
  expect(await catchError(done)).toMatchObject({ errorName: 'not_found' })
  expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
})

test('a settlement at the first attempt writes no journal', async () => {
  const done = withHold(ledger, holdRequest('r', 10), async () => ({ result: 1, charge: zero }))
  await done
  await until(async () => Bun.file(path).size === 4 * 1_048_576)
  expect(await Bun.file(path).bytes()).toEqual(new Uint8Array(4 * 1_048_576))
})

test('without a journal the client learns that its charge is pending', async () => {
  await ledger.pendingSettlements.close()
  ledger = { ...ledger, pendingSettlements: quickOutcomes() }
  expect(await catchError(work('r'))).toBeInstanceOf(UnsettledHoldError)
  isDown = false
  await settled()
  expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
})

test('a row that does not fit into the journal leaves its fallback', async () => {
  const row = giftRow.create(ledger, { ref: 'x'.repeat(300_000) })
  row.fallback = { kind: 'gift', data: { ref: 'short' } }
  const terms = holdRequest('r', 10, { onExpiry: 'settle' })
  await withHold(ledger, terms, async () => {
    isDown = true
    return { result: 1, charge: credits(3), rows: [row] }
  })
  await startProcess()
  isDown = false
  await settled()
  expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
  expect((await balanceOf(ledger, ben)).balance).toBe(credits(11))
})

test('an outcome that never succeeds does not stop the others', async () => {
  const badRow = defineRow('bad', Type.Object({}), {
    write: () => Promise.reject(new Error('a bug')),
  })
  const bad = badRow.create(ledger, {})
  const terms = holdRequest('bad', 10, { onExpiry: 'settle' })
  await withHold(ledger, terms, async () => ({ result: 1, charge: credits(3), rows: [bad] }))
  await Promise.all([work('a'), work('b')])
  isDown = false
  await until(async () => ledger.pendingSettlements.pendingCount === 1)
  expect(await annHas()).toMatchObject({ balance: credits(94), held: credits(10) })
})

test('work of this process that outlives its hold by the monotonic clock is ended', async () => {
  const late = withHold(ledger, holdRequest('r', 10), async () => {
    ledger.clock.advance(minute)
    await expireOrphans(ledger)
    return { result: 1, charge: credits(3) }
  })
  expect(String(await catchError(late))).toContain('ended before its work')
  expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
})

test('a jump of the wall clock does not end running work', async () => {
  let wall = ledger.clock.now()
  const clock = { ...ledger.clock, now: () => wall, monotonic: () => 0 }
  const jumping: TestLedger = { ...ledger, clock }
  const terms = holdRequest('r', 10, { onExpiry: 'settle' })
  await withHold(jumping, terms, async () => {
    wall += hour
    expect(await expireOrphans(jumping)).toEqual({ released: 0, settled: 0 })
    return { result: 1, charge: credits(3) }
  })
  expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
})

test('a hanging database is given up on and its late commit counts once', async () => {
  const { db } = ledger
  const opened = Promise.withResolvers<void>()
  const hanging: TestLedger = { ...ledger, db: { ...db } }
  const terms = holdRequest('r', 10, { onExpiry: 'settle' })
  const done = withHold(hanging, terms, async () => {
    hanging.db.tx = async (unit) => {
      await opened.promise
      return db.tx(unit)
    }
    return { result: 1, charge: credits(3) }
  })
  expect(await done).toMatchObject({ hold: { charged: credits(3) } })
  opened.resolve()
  await settled()
  expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
})

test('a hold that commits after its call was given up on is released', async () => {
  const { db } = ledger
  const opened = Promise.withResolvers<void>()
  const hanging: TestLedger = { ...ledger, db: { ...db } }
  hanging.db.tx = async (unit) => {
    await opened.promise
    return db.tx(unit)
  }
  const never = () => Promise.reject(new Error('it ran'))
  const given = withHold(hanging, holdRequest('r', 10, { onExpiry: 'settle' }), never)
  expect(await catchError(given)).toBeInstanceOf(DatabaseBusy)
  await settled()
  opened.resolve()
  const isReleased = async () => {
    const [hold] = await db.read.select().from(holds).where(eq(holds.ref, 'r'))
    return hold?.state === 'released'
  }
  await until(isReleased, 10 * second)
  expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
})

test('a hold whose commit loses its response is released', async () => {
  const { db } = ledger
  const losing: TestLedger = { ...ledger, db: { ...db, kind: 'postgres' } }
  const never = Promise.withResolvers<never>()
  losing.db.tx = async (unit) => {
    losing.db.tx = (next) => db.tx(next)
    await db.tx(unit)
    return never.promise
  }
  const work = () => Promise.reject(new Error('it ran'))
  const given = withHold(losing, holdRequest('r', 10, { onExpiry: 'settle' }), work)
  expect(await catchError(given)).toBeInstanceOf(DatabaseBusy)
  const isReleased = async () => {
    const [hold] = await db.read.select().from(holds).where(eq(holds.ref, 'r'))
    return hold?.state === 'released'
  }
  await until(isReleased, 10 * second)
  expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
})

test('an open hold without its work ends at its deadline, and not before', async () => {
  await holdNow(ledger, holdRequest('r', 10))
  ledger.clock.advance(minute - 1)
  expect(await expireOrphans(ledger)).toEqual({ released: 0, settled: 0 })
  ledger.clock.advance(1)
  expect(await expireOrphans(ledger)).toEqual({ released: 1, settled: 0 })
})

if (dialect === 'postgres')
  test('a late hold of another process that lives is left to it', async () => {
    await holdNow(ledger, holdRequest('r', 10, { onExpiry: 'settle' }))
    const other = { id: 'other', folder: 'elsewhere', version: '1', since: 0, seen: 0 }
    await ledger.db.tx(async (db) => {
      await db.update(holds).set({ process: other.id })
      await db.insert(replicas).values(other)
    })
    ledger.clock.advance(hour)
    expect(await expireOrphans(ledger)).toEqual({ released: 0, settled: 0 })
    await ledger.db.tx((db) => db.delete(replicas))
    expect(await expireOrphans(ledger)).toEqual({ released: 0, settled: 1 })
  })
