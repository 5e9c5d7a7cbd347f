import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import type { Engine } from '../../kernel/db/engine.ts'
import { fromCredits as credits, zero } from '../../kernel/money.ts'
import { minute } from '../../kernel/time.ts'
import { catchError } from '../../testing/catch-error.ts'
import {
  ann,
  ben,
  expectApiError,
  fund,
  holdNow,
  holdRequest,
  openTestLedger,
  quickOutcomes,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { until } from '../../testing/until.ts'
import { accountOf } from './accounts.ts'
import { doctor } from './doctor.ts'
import { expireOrphans } from './expiry.ts'
import { balanceOf, grantTo } from './ledger.ts'
import { withHold } from './paid-work.ts'

let books: TestLedger
beforeEach(async () => {
  books = await openTestLedger()
  await fund(books, ann, 100)
})
afterEach(async () => {
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  await books.db.close()
})

const work = async () => ({ result: 'made', charge: credits(3) })
const annHas = () => balanceOf(books, ann)

/** The same database, with `failures` failing transactions first. */
function failing(failures: number): Engine {
  let left = failures
  return {
    ...books.db,
    tx: (unit) => (left-- > 0 ? Promise.reject(new Error('disk full')) : books.db.tx(unit)),
  }
}

describe('withHold', () => {
  test('holds during the work, charges its cost and returns its result', async () => {
    const done = await withHold(books, holdRequest('r', 10), async ({ amount }) => {
      expect(amount).toBe(credits(10))
      expect(await annHas()).toMatchObject({ balance: credits(100), held: credits(10) })
      return work()
    })
    expect(done).toMatchObject({ result: 'made', hold: { state: 'settled', charged: credits(3) } })
    expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
  })

  test('work that throws costs nothing, and its ref may be used again', async () => {
    const torn = withHold(books, holdRequest('r', 10), () => Promise.reject(new Error('no model')))
    expect(String(await catchError(torn))).toBe('Error: no model')
    expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
    expect((await withHold(books, holdRequest('r', 10), work)).result).toBe('made')
  })

  test('the same request is busy during the work and a conflict afterwards; the work runs once', async () => {
    let runs = 0
    const { promise, resolve } = Promise.withResolvers<void>()
    const slow = async () => {
      runs += 1
      await promise
      return work()
    }
    const first = withHold(books, holdRequest('r', 10), slow)
    await until(() => runs > 0)
    await expectApiError(withHold(books, holdRequest('r', 10), slow), 'busy', {
      what: 'The same request',
    })
    resolve()
    await first
    await expectApiError(withHold(books, holdRequest('r', 10), slow), 'ref_conflict', { ref: 'r' })
    expect(runs).toBe(1)
    expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
  })

  test('an account without the maximum cost gets no work', async () => {
    const never = () => Promise.reject(new Error('it ran'))
    const facts = { needed: credits(101), available: credits(100) }
    await expectApiError(withHold(books, holdRequest('r', 101), never), 'not_enough_credits', facts)
  })

  test('a failed settlement or release is retried and logged', async () => {
    const ends = [() => work(), () => Promise.reject(new Error('no model'))]
    for (const [index, end] of ends.entries()) {
      const torn: TestLedger = { ...books, pendingSettlements: quickOutcomes(10_000, 10_000) }
      const done = withHold(torn, holdRequest(`r${index}`, 10), async () => {
        torn.db = failing(2)
        return end()
      })
      await done.catch((error: unknown) => expect(String(error)).toBe('Error: no model'))
    }
    expect(books.lines.filter((line) => line.includes('hold_not_ended'))).toHaveLength(4)
    expect(await annHas()).toMatchObject({ balance: credits(97), held: zero })
  })

  test('work that outlives its hold throws and moves nothing', async () => {
    const late = withHold(books, holdRequest('r', 10), async () => {
      books.clock.advance(minute)
      await expireOrphans(books)
      return work()
    })
    expect(String(await catchError(late))).toContain('ended before its work')
    expect(await annHas()).toMatchObject({ balance: credits(100), held: zero })
  })
})

describe('expiry', () => {
  test('a deadline releases a hold, or charges all of it by onExpiry', async () => {
    await grantTo(books, ben, { amount: credits(1), kind: 'grant', ref: 'ben' })
    const shares = [{ account: accountOf(ben), percent: 50 }]
    await holdNow(books, holdRequest('a', 10))
    await holdNow(books, holdRequest('b', 20, { onExpiry: 'settle', shares }))
    await holdNow(books, holdRequest('c', 30, { ms: 2 * minute }))
    expect(await expireOrphans(books)).toEqual({ released: 0, settled: 0 })
    books.clock.advance(minute)
    expect(await expireOrphans(books)).toEqual({ released: 1, settled: 1 })
    expect(await annHas()).toMatchObject({ balance: credits(80), held: credits(30) })
    expect((await balanceOf(books, ben)).balance).toBe(credits(11))
  })

  test('orphans of several batches are all ended', async () => {
    await Promise.all(
      Array.from({ length: 300 }, (_, index) => holdNow(books, holdRequest(`r${index}`, 0))),
    )
    books.clock.advance(minute)
    expect(await expireOrphans(books)).toEqual({ released: 300, settled: 0 })
  })

  test('a hold that cannot be ended is logged and left for the next run', async () => {
    await holdNow(books, holdRequest('a', 10))
    books.clock.advance(minute)
    const torn = { ...books, db: failing(1) }
    expect(await expireOrphans(torn)).toEqual({ released: 0, settled: 0 })
    expect(books.lines.join()).toContain('hold_not_expired')
    expect(await expireOrphans(torn)).toEqual({ released: 1, settled: 0 })
  })
})
