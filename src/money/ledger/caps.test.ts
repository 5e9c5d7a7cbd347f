import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { fromCredits as credits, zero } from '../../kernel/money.ts'
import {
  ann,
  expectApiError,
  fund,
  holdNow,
  holdRequest,
  openTestLedger,
  releaseNow,
  settleNow,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { doctor } from './doctor.ts'
import { balanceOf, spentToday } from './ledger.ts'

let books: TestLedger
beforeEach(async () => {
  books = await openTestLedger()
})
afterEach(async () => {
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  await books.db.close()
})

describe('daily caps', () => {
  const capped = (ref: string, amount: number, max: number | null) =>
    holdRequest(ref, amount, { cap: { key: 'ak_1', max: max === null ? null : credits(max) } })
  const spent = () => spentToday(books, 'ak_1')

  test('settled and held amounts count together in parallel calls', async () => {
    await fund(books, ann, 100)
    const tries = Array.from({ length: 30 }, (_, index) =>
      holdNow(books, capped(`r${index}`, 2, 9)),
    )
    const ends = await Promise.allSettled(tries)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(4)
    const facts = { cap: credits(9), spent: credits(8) }
    await expectApiError(holdNow(books, capped('more', 2, 9)), 'daily_cap', facts)
    expect(await balanceOf(books, ann)).toMatchObject({ held: credits(8) })
  })

  test('a held amount that was not charged no longer counts', async () => {
    await fund(books, ann, 100)
    const a = await holdNow(books, capped('a', 10, 10))
    await settleNow(books, a.hold, credits(3))
    expect(await spent()).toBe(credits(3))
    const b = await holdNow(books, capped('b', 7, 10))
    await releaseNow(books, b.hold)
    expect(await spent()).toBe(credits(3))
  })

  test('null is unlimited, 0 allows nothing, and free work still passes', async () => {
    await fund(books, ann, 100)
    await expectApiError(holdNow(books, capped('a', 1, 0)), 'daily_cap', { cap: zero, spent: zero })
    expect((await holdNow(books, capped('b', 0, 0))).isNew).toBe(true)
    expect((await holdNow(books, capped('c', 99, null))).isNew).toBe(true)
    expect((await holdNow(books, capped('d', 0, 50))).isNew).toBe(true)
    expect(await spent()).toBe(credits(99))
  })

  test('the day ends at 00:00 UTC, and a hold counts on its own day', async () => {
    await fund(books, ann, 100)
    const before = await holdNow(books, capped('before', 10, 10))
    await expectApiError(holdNow(books, capped('too much', 1, 10)), 'daily_cap', {
      spent: credits(10),
    })
    books.clock.advance(10_000)
    expect(await spent()).toBe(zero)
    expect((await holdNow(books, capped('after', 10, 10))).isNew).toBe(true)
    await settleNow(books, before.hold, credits(4))
    expect(await spent()).toBe(credits(10))
  })

  test('credits are checked before the cap', async () => {
    await fund(books, ann, 1)
    await expectApiError(holdNow(books, capped('r', 2, 1)), 'not_enough_credits', {
      needed: credits(2),
    })
    expect(await spent()).toBe(zero)
  })
})

test('a budget can be spent to its end, and not beyond', async () => {
  await fund(books, ann, 100)
  const max = credits(10)
  const budgeted = (ref: string, amount: number) =>
    holdRequest(ref, amount, {
      cap: { key: 'ak_1', max: null },
      budgets: [{ counter: 'ak_1', owner: 'key', period: 'day', max }],
    })
  const facts = { owner: 'key', period: 'day', max }
  await expectApiError(holdNow(books, budgeted('a', 11)), 'budget_exceeded', facts)
  expect((await holdNow(books, budgeted('b', 10))).isNew).toBe(true)
  await expectApiError(holdNow(books, budgeted('c', 1)), 'budget_exceeded', facts)
})
