import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { and, eq } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { fromCredits as credits, nano, zero } from '../../kernel/money.ts'
import {
  ann,
  ben,
  fund,
  holdNow,
  holdRequest,
  openTestLedger,
  settleNow,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { accountOf } from './accounts.ts'
import { doctor } from './doctor.ts'
import { accounts, caps, entries, holds } from './tables.ts'

let books: TestLedger
beforeEach(async () => {
  books = await openTestLedger()
  await fund(books, ann, 400)
  await fund(books, ben, 400, false)
  const cap = { key: 'ak_1', max: null }
  const { hold } = await holdNow(books, holdRequest('settled', 10, { cap }))
  await settleNow(books, hold, credits(4))
  await holdNow(books, holdRequest('open', 20, { cap }))
})
afterEach(() => books.db.close())

const id = accountOf(ann)
const isAnn = eq(accounts.id, id)
const second = and(eq(entries.account, id), eq(entries.number, 2))

/** Manipulations of the tables, each with the doctor's message. */
const harms: [what: string, says: unknown, harm: (db: Db) => PromiseLike<unknown>][] = [
  [
    'a balance',
    'all balances sum to 1000000 instead of 0',
    (db) =>
      db
        .update(accounts)
        .set({ balance: credits(397) })
        .where(isAnn)
        .returning(),
  ],
  [
    'the hold',
    'agent:ann: holds 19000000, but its open holds sum to 20000000',
    (db) =>
      db
        .update(accounts)
        .set({ held: credits(19) })
        .where(isAnn)
        .returning(),
  ],
  [
    'the free credits',
    'agent:ann: free is 395000000, but its entries sum to 396000000',
    (db) =>
      db
        .update(accounts)
        .set({ free: credits(395) })
        .where(isAnn)
        .returning(),
  ],
  [
    'the amount of an entry',
    'agent:ann: entry 2: 400000000 and -3000000 do not sum to 396000000',
    (db) =>
      db
        .update(entries)
        .set({ amount: credits(-3) })
        .where(second)
        .returning(),
  ],
  [
    'an entry away',
    expect.stringMatching(/^\w{12}: its entries do not sum to zero$/),
    (db) => db.delete(entries).where(second).returning(),
  ],
  [
    'an entry of an older version away',
    'old: its entries do not sum to zero',
    async (db) => {
      const old = { group: null, ref: 'old' }
      await db.update(entries).set(old).where(eq(entries.kind, 'build'))
      await db
        .update(entries)
        .set({ ...old, line: 1 })
        .where(eq(entries.kind, 'income'))
      await db.delete(entries).where(second)
    },
  ],
  [
    'an entry after the last',
    'agent:ann: number is 3, but its entries sum to 2',
    (db) => db.update(accounts).set({ entries: 3 }).where(isAnn).returning(),
  ],
  [
    'a hold away',
    'agent:ann: holds 20000000, but its open holds sum to 0',
    (db) => db.delete(holds).where(eq(holds.ref, 'open')).returning(),
  ],
  [
    'the counter of a key',
    'key ak_1 counts 1 on 2026-11-21, but its holds sum to 24000000',
    (db) =>
      db
        .update(caps)
        .set({ used: nano(1n) })
        .returning(),
  ],
]

describe('the doctor', () => {
  test('reports a sound ledger with its size', async () => {
    expect(await doctor(books)).toEqual({
      ok: true,
      text: 'The ledger is sound: 4 accounts, 6 entries.',
      accounts: 4,
      entries: 6,
      problems: [],
    })
  })

  test('reads a ledger of several pages of accounts and of entries', async () => {
    const at = Date.UTC(2026, 0, 1)
    const parts = { free: zero, earned: zero, at }
    const names = Array.from({ length: 250 }, (_, n) =>
      accountOf({ kind: 'agent', owner: `x${n}` }),
    )
    const rows = names.flatMap((account) =>
      Array.from({ length: 22 }, (_, n) => {
        const [ref, amount] = [`${account} ${n >> 1}`, nano(n % 2 === 0 ? 1n : -1n)]
        const balance = nano(n % 2 === 0 ? 1n : 0n)
        return { account, number: n + 1, ref, line: n % 2, kind: 'gift', amount, balance, ...parts }
      }),
    )
    const owners = names.map((id) => ({ id, kind: 'agent' as const, entries: 22, at }))
    await books.db.tx(async (db) => void (await db.insert(accounts).values(owners)))
    while (rows.length > 0) {
      const some = rows.splice(0, 1_000)
      await books.db.tx(async (db) => void (await db.insert(entries).values(some)))
    }
    const report = await doctor(books)
    expect(report).toMatchObject({ ok: true, accounts: 254, entries: 5_506 })
    const [account] = names.slice(-1)
    const broken = and(eq(entries.account, account ?? id), eq(entries.number, 22))
    await books.db.tx(async (db) => void (await db.delete(entries).where(broken)))
    expect((await doctor(books)).problems).toContain(
      `${account}: number is 22, but its entries sum to 21`,
    )
  })

  for (const [what, says, harm] of harms) {
    test(`detects a change of ${what}`, async () => {
      await books.db.tx(async (db) => void (await harm(db)))
      const report = await doctor(books)
      expect(report).toMatchObject({ problems: expect.arrayContaining([says]) })
      expect(report).toMatchObject({ ok: false, text: expect.stringContaining('is broken') })
    })
  }
})
