import { afterEach, beforeEach, expect, test } from 'bun:test'

import { Type } from '@sinclair/typebox'
import { sql } from 'drizzle-orm'

import { dialect } from '../../kernel/db/columns.ts'
import type { Db, Engine } from '../../kernel/db/engine.ts'
import { databaseErrorKind } from '../../kernel/db/error.ts'
import { ApiError } from '../../kernel/errors.ts'
import { fromCredits as credits, zero } from '../../kernel/money.ts'
import { catchError } from '../../testing/catch-error.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import {
  ann,
  ben,
  expectApiError,
  fund,
  holdRequest,
  openTestLedger,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { doctor } from './doctor.ts'
import { createHold, type Hold, type HoldRequest } from './holds.ts'
import { balanceOf, grant, openOwnerAccount } from './ledger.ts'
import { listEntries } from './reports.ts'
import { defineRow, type SettlementRow } from './settlement-rows.ts'
import { endUnit, openUnit, type Unit, type UnitResult } from './units.ts'

const income = { kind: 'house', owner: 'income' } as const
const cap = { key: 'ak_1', max: null }

let books: TestLedger
/** Texts of the statements of SQLite. */
let statements: string[] = []
/** The transactions of the ledger: `true` for a soft one. */
let commits: boolean[] = []
beforeEach(async () => {
  statements = []
  books = await openTestLedger(await freshEngine((text) => void statements.push(text)))
  await fund(books, ann, 100)
  await fund(books, ben, 100)
  commits = []
  const { tx } = books.db
  const counted: Engine['tx'] = (work, isSoft = false) => {
    commits.push(isSoft)
    return tx(work, isSoft)
  }
  books.db = { ...books.db, tx: counted }
})
afterEach(async () => {
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  await books.db.close()
})

const commit = (unit: Unit): Promise<UnitResult> =>
  books.pendingSettlements.groups.commit(books, unit)
const open = (ref: string, amount: number, more: Partial<HoldRequest> = {}) => {
  const request = holdRequest(ref, amount, { cap, ...more })
  return commit(openUnit(createHold(books.clock.now(), request), request))
}
const hold = async (...terms: Parameters<typeof open>): Promise<Hold> => (await open(...terms)).hold
const settle = (one: Hold, amount: number, rows?: SettlementRow[]): Promise<UnitResult> =>
  commit(endUnit(one, 'settled', credits(amount), rows))
const refs = (count: number): string[] => Array.from({ length: count }, (_, at) => `r${at}`)

test('units that wait together share a commit, and their income is one entry', async () => {
  const holds = await Promise.all(refs(20).map((ref) => hold(ref, 4)))
  expect(commits).toEqual([true])
  await Promise.all(holds.map((one) => settle(one, 3)))
  expect(commits).toEqual([true, false])
  expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(40), held: zero })
  const earned = await listEntries(books, income, { limit: 100 })
  expect(earned).toMatchObject([{ number: 1, amount: credits(60), kind: 'income' }])
  const paid = await listEntries(books, ann, { limit: 100 })
  expect(paid.map(({ number }) => number)).toEqual(Array.from({ length: 21 }, (_, at) => 21 - at))
})

if (dialect === 'sqlite')
  test('a group writes an account once, however many of its units change it', async () => {
    await settle(await hold('first', 1), 1)
    const holds = await Promise.all(refs(20).map((ref) => hold(ref, 4)))
    statements = []
    await Promise.all(holds.map((one) => settle(one, 3)))
    const writesTo = (table: string) =>
      statements.filter((text) => text.startsWith(`insert into "${table}"`)).length
    expect([writesTo('accounts'), writesTo('caps')]).toEqual([1, 1])
  })

test('a unit that fails is taken out of its group, and the others commit', async () => {
  const [first, tooMuch, last] = await Promise.allSettled([
    hold('a', 60),
    hold('b', 60),
    hold('c', 40),
  ])
  expect([first.status, tooMuch.status, last.status]).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
  ])
  expect(tooMuch).toMatchObject({ reason: { errorName: 'not_enough_credits' } })
  expect(commits).toEqual([true])
  expect(await balanceOf(books, ann)).toMatchObject({ held: credits(100) })
})

test('a charge that commits returns its rest to the holds of the same group', async () => {
  const first = await hold('a', 100)
  const [, next] = await Promise.all([settle(first, 10), hold('b', 90)])
  expect(next.state).toBe('held')
  expect(commits.at(-1)).toBe(false)
  expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(90), held: credits(90) })
})

test('a row that is rejected fails its charge alone', async () => {
  const strict = defineRow('strict', Type.Object({ isGood: Type.Boolean() }), {
    async write(_ctx: TestLedger, _db, rows) {
      for (const { data } of rows)
        if (!data.isGood) throw new ApiError('not_found', { what: 'app' })
    },
  })
  const holds = await Promise.all(refs(3).map((ref) => hold(ref, 10)))
  const ends = await Promise.allSettled(
    holds.map((one, at) => settle(one, 7, [strict.create(books, { isGood: at !== 1 })])),
  )
  expect(ends.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(ends[1]).toMatchObject({ reason: { errorName: 'not_found' } })
  expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(86), held: credits(10) })
})

test('a statement that fails in a group fails its own unit alone', async () => {
  const clashing = defineRow('clashing', Type.Object({ id: Type.String() }), {
    async write(ctx: TestLedger, db: Db, rows) {
      for (const { data } of rows) {
        await openOwnerAccount(ctx, db, { kind: 'agent', owner: data.id })
        if (data.id === 'bad') await db.values(sql`select * from no_such_table`)
      }
    },
  })
  const holds = await Promise.all(refs(2).map((ref) => hold(ref, 10)))
  const [good, bad] = await Promise.allSettled(
    holds.map((one, at) =>
      settle(one, 7, [clashing.create(books, { id: at === 0 ? 'good' : 'bad' })]),
    ),
  )
  expect([good?.status, bad?.status]).toEqual(['fulfilled', 'rejected'])
  expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(93), held: credits(10) })
})

test('a row may pay from the ledger in the transaction of its charge', async () => {
  const bonus = defineRow('bonus', Type.Object({}), {
    async write(ctx: TestLedger, db, rows) {
      for (const { ended } of rows)
        await grant(ctx, db, {
          account: ended.account,
          amount: credits(1),
          ref: `bonus:${ended.ref}`,
          kind: 'grant',
        })
    },
  })
  await settle(await hold('a', 10), 7, [bonus.create(books, {})])
  expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(94), held: zero })
})

test('of parallel holds with one ref the first has it', async () => {
  const [first, twin, other] = await Promise.allSettled([
    open('a', 10),
    open('a', 10),
    open('a', 11),
  ])
  expect(first).toMatchObject({ value: { isChanged: true } })
  expect(twin).toMatchObject({ value: { isChanged: false } })
  expect(other).toMatchObject({ reason: { errorName: 'ref_conflict' } })
  expect(await balanceOf(books, ann)).toMatchObject({ held: credits(10) })
})

test('a limit of open calls counts the holds of its own group', async () => {
  const called = refs(70).map((ref) => hold(ref, 1, { caller: { id: 'ak_1', max: 64 } }))
  const ends = await Promise.allSettled(called)
  expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(64)
  await expectApiError(hold('more', 1, { caller: { id: 'ak_1', max: 64 } }), 'holds_limit', {})
})

if (dialect === 'sqlite')
  test('a group that the disk has no space for changes nothing, and commits later', async () => {
    const limit = (pages: number) =>
      books.db.tx(async (db) => void (await db.values(sql.raw(`pragma max_page_count = ${pages}`))))
    await limit(1)
    const failed = await Promise.allSettled(
      refs(60).map((ref) => hold(`${ref}:${'x'.repeat(2_000)}`, 1)),
    )
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true)
    const [first] = failed
    expect(databaseErrorKind(first?.status === 'rejected' && first.reason)).toBe('full')
    expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(100), held: zero })
    await limit(1_000_000)
    await Promise.all(refs(60).map((ref) => hold(ref, 1)))
    expect(await balanceOf(books, ann)).toMatchObject({ held: credits(60) })
  })

test('a failed group leaves the next ones alone', async () => {
  const { tx } = books.db
  books.db = { ...books.db, tx: () => Promise.reject(new Error('gone')) }
  expect(String(await catchError(hold('a', 1)))).toBe('Error: gone')
  books.db = { ...books.db, tx }
  expect((await hold('a', 1)).state).toBe('held')
})
