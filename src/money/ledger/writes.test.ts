import { afterEach, beforeEach, expect, test } from 'bun:test'

import type { Db } from '../../kernel/db/engine.ts'
import { fromCredits, nano, type NanoUsd, zero } from '../../kernel/money.ts'
import {
  ann,
  fund,
  holdNow,
  holdRequest,
  openTestLedger,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { accountOf } from './accounts.ts'
import { listEntries } from './entries.ts'
import { createHold, heldAmountOf, type Hold, unspent } from './holds.ts'
import { balanceOf, spentToday } from './ledger.ts'
import { debitValues } from './post.ts'
import {
  claimAndReserve,
  creditAndAppend,
  debitAndAppend,
  endAndDebit,
  endAndUnreserve,
} from './writes.ts'

let books: TestLedger
beforeEach(async () => {
  books = await openTestLedger()
  await fund(books, ann, 100)
})
afterEach(() => books.db.close())

const credits = fromCredits
const cap = { key: 'ak_1', max: null }
const tx = <Result>(work: (db: Db) => Promise<Result>) => books.db.tx(work)

/** Opens a hold of 10 credits, which the counter of its key has. */
const openHold = async (ref: string): Promise<Hold> =>
  (await holdNow(books, holdRequest(ref, 10, { cap }))).hold

/** Returns the values that end a hold with a charge. */
function endValues(hold: Hold, charged: NanoUsd) {
  const ended: Hold = { ...hold, state: 'settled', charged }
  const debit = debitValues(ended, charged, heldAmountOf(ended), books.clock.now())
  return { ...ended, unspent: unspent(ended), ...debit }
}

/** Returns what the writes change: the account, the counter of its key and its entries. */
async function stored() {
  const { balance, held } = await balanceOf(books, ann)
  const all = await listEntries(books, ann, { limit: 100 })
  return { balance, held, spent: await spentToday(books, cap.key), entries: all.length }
}

const before = { balance: credits(100), held: credits(10), spent: credits(10), entries: 1 }

test('a hold is claimed once, and reserves what the account has', async () => {
  const claim = (ref: string, amount: number) => {
    const hold = createHold(books.clock.now(), holdRequest(ref, amount))
    return tx((db) => claimAndReserve(db, { ...hold, ...heldAmountOf(hold) }))
  }
  expect(await claim('a', 60)).toEqual({ isClaimed: true, isReserved: true })
  expect(await claim('a', 10)).toEqual({ isClaimed: false, isReserved: false })
  expect(await claim('b', 41)).toEqual({ isClaimed: true, isReserved: false })
  expect((await stored()).held).toBe(credits(60))
})

test('a hold without a charge ends once, with its reservation and its count', async () => {
  await openHold('another')
  const hold = await openHold('a')
  expect(await stored()).toMatchObject({ held: credits(20), spent: credits(20) })
  const release = () => tx((db) => endAndUnreserve(db, { ...endValues(hold, zero) }))
  expect(await release()).toEqual({ isEnded: true, isUnreserved: true })
  expect(await stored()).toEqual(before)
  expect(await release()).toEqual({ isEnded: false, isUnreserved: false })
  expect(await stored()).toEqual(before)
})

test('the count stays when the account holds less than the hold', async () => {
  const hold = await openHold('a')
  const values = { ...endValues(hold, zero), held: credits(11) }
  const result = await tx((db) => endAndUnreserve(db, values))
  expect(result).toEqual({ isEnded: true, isUnreserved: false })
  expect(await stored()).toEqual(before)
})

test('a hold with a charge ends once, with its debit, its entry and its count', async () => {
  const hold = await openHold('a')
  const settle = () => tx((db) => endAndDebit(db, endValues(hold, credits(4))))
  const { isEnded, payer } = await settle()
  expect(isEnded).toBe(true)
  const paid = { balance: credits(96), free: credits(96), earned: zero }
  expect(payer).toEqual({ ...paid, number: 2, lastFree: credits(4) })
  const after = { balance: credits(96), held: zero, spent: credits(4), entries: 2 }
  expect(await stored()).toEqual(after)
  const [entry] = await listEntries(books, ann, { limit: 1 })
  const { ref, kind, item, at } = { ...hold, at: books.clock.now() }
  const terms = { account: accountOf(ann), number: 2, ref, line: 0, kind, item, at }
  expect(entry).toEqual({ ...terms, ...paid, amount: nano(-credits(4)) })
  expect(await settle()).toEqual({ isEnded: false, payer: undefined })
  expect(await stored()).toEqual(after)
})

test('an account that cannot pay has no entry, and its count stays', async () => {
  const hold = await openHold('a')
  const values = { ...endValues(hold, credits(4)), held: credits(11) }
  const result = await tx((db) => endAndDebit(db, values))
  expect(result).toEqual({ isEnded: true, payer: undefined })
  expect(await stored()).toEqual(before)
})

test('an unknown account is neither debited nor credited', async () => {
  const hold = await openHold('a')
  const values = { ...endValues(hold, credits(4)), account: 'agent:nobody' }
  const credit = { ...values, free: zero, earned: zero }
  expect(await tx((db) => debitAndAppend(db, values))).toBeUndefined()
  expect(await tx((db) => creditAndAppend(db, credit))).toBeUndefined()
  expect(await stored()).toEqual(before)
})

test('parallel ends of holds number their entries without gaps', async () => {
  const refs = Array.from({ length: 10 }, (_, at) => `r${at}`)
  const open = await Promise.all(refs.map(openHold))
  const twice = [...open, ...open]
  const ends = await Promise.all(
    twice.map((hold) => tx((db) => endAndDebit(db, endValues(hold, credits(1))))),
  )
  expect(ends.filter(({ isEnded }) => isEnded)).toHaveLength(10)
  const entries = await listEntries(books, ann, { limit: 100 })
  expect(entries.map(({ number }) => number)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
  expect(await stored()).toMatchObject({ balance: credits(90), held: zero, spent: credits(10) })
})
