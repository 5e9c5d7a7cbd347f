import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { databaseErrorKind } from '../../kernel/db/error.ts'
import { runningPerKey } from '../../kernel/limits.ts'
import { fromCredits, nano, zero } from '../../kernel/money.ts'
import { catchError } from '../../testing/catch-error.ts'
import {
  ann,
  ben,
  cy,
  expectApiError,
  fund,
  holdNow,
  holdRequest,
  openTestLedger,
  releaseNow,
  settleNow,
  type TestLedger,
} from '../../testing/fixtures/ledger.ts'
import { accountOf } from './accounts.ts'
import { doctor } from './doctor.ts'
import { balanceOf, grantTo, openOwnerAccount, transfer, type TransferRequest } from './ledger.ts'
import { listEntries } from './reports.ts'
import { accounts } from './tables.ts'

let books: TestLedger
beforeEach(async () => {
  books = await openTestLedger()
})
afterEach(async () => {
  expect(await doctor(books)).toMatchObject({ ok: true, problems: [] })
  await books.db.close()
})

const credits = fromCredits
const income = { kind: 'house', owner: 'income' } as const
const move = (terms: TransferRequest) => books.db.tx((db) => transfer(books, db, terms))
const openNow = (owner: typeof ann) => books.db.tx((db) => openOwnerAccount(books, db, owner))
const fromAnn = (ref: string, amount: number): TransferRequest => ({
  from: accountOf(ann),
  to: [{ account: accountOf(ben), amount: credits(amount) }],
  ref,
  kind: 'gift',
})

describe('grants and transfers', () => {
  test('start credits are granted once', async () => {
    await fund(books, ann, 400)
    await fund(books, ann, 400)
    expect(await balanceOf(books, ann)).toMatchObject({
      balance: credits(400),
      free: credits(400),
      earned: zero,
      held: zero,
      available: credits(400),
    })
    const [entry, ...more] = await listEntries(books, ann, { limit: 10 })
    expect(more).toEqual([])
    expect(entry).toMatchObject({ number: 1, amount: credits(400), balance: credits(400) })
  })

  test('opening, granting and spending commit together or not at all', async () => {
    const failed = books.db.tx(async (db) => {
      const account = await openOwnerAccount(books, db, cy)
      await transfer(books, db, { ...fromAnn('r', 1), from: account })
    })
    await expectApiError(failed, 'not_enough_credits', { needed: credits(1), available: zero })
    expect(await books.db.read.select().from(accounts)).toEqual([])
  })

  test('transferred free credits stay free and cannot be paid out', async () => {
    await fund(books, ann, 10)
    await fund(books, ann, 10, false)
    await openNow(ben)
    expect((await move(fromAnn('gift', 15))).isNew).toBe(true)
    expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(5), free: zero })
    expect(await balanceOf(books, ben)).toMatchObject({ free: credits(10), earned: zero })
  })

  test('an account without credits moves nothing', async () => {
    await openNow(cy)
    await fund(books, ben, 1)
    const terms = { ...fromAnn('r', 3), from: accountOf(cy) }
    await expectApiError(move(terms), 'not_enough_credits', { needed: credits(3), available: zero })
    expect(await listEntries(books, cy, { limit: 10 })).toEqual([])
    expect((await balanceOf(books, ben)).balance).toBe(credits(1))
  })

  test('an error that is caught inside the transaction leaves no rows', async () => {
    await fund(books, ann, 5)
    await openNow(ben)
    await books.db.tx(async (db) => {
      await catchError(transfer(books, db, fromAnn('too much', 9)))
      await transfer(books, db, fromAnn('too much', 5))
    })
    expect((await balanceOf(books, ben)).balance).toBe(credits(5))
  })

  test('the same ref with other terms is a conflict, and the first stays', async () => {
    await fund(books, ann, 10)
    await openNow(ben)
    await move(fromAnn('r', 2))
    expect((await move(fromAnn('r', 2))).isNew).toBe(false)
    for (const terms of [fromAnn('r', 3), { ...fromAnn('r', 2), kind: 'other' }]) {
      await expectApiError(move(terms), 'ref_conflict', { ref: 'r' })
    }
    expect((await balanceOf(books, ben)).balance).toBe(credits(2))
  })

  test('the same ref twenty times in parallel moves once', async () => {
    await fund(books, ann, 10)
    await openNow(ben)
    const done = await Promise.all(Array.from({ length: 20 }, () => move(fromAnn('r', 4))))
    expect(done.filter(({ isNew: fresh }) => fresh)).toHaveLength(1)
    expect((await balanceOf(books, ben)).balance).toBe(credits(4))
  })

  test('a transfer to oneself, to no account or of nothing throws and moves nothing', async () => {
    await fund(books, ann, 10)
    const self = { ...fromAnn('a', 1), to: [{ account: accountOf(ann), amount: credits(1) }] }
    for (const terms of [self, { ...fromAnn('b', 1), to: [] }, fromAnn('c', 0)]) {
      expect(String(await catchError(move(terms)))).toContain('Broken ledger invariant')
    }
    expect(String(await catchError(move(fromAnn('d', 1))))).toContain(
      'The account agent:ben does not exist',
    )
    expect((await balanceOf(books, ann)).balance).toBe(credits(10))
  })

  test('entries are listed newest first, page by page', async () => {
    for (const ref of ['1', '2', '3', '4', '5']) {
      await grantTo(books, ann, { amount: credits(1), kind: 'grant', ref, item: `item ${ref}` })
    }
    const first = await listEntries(books, ann, { limit: 3 })
    expect(first.map(({ ref }) => ref)).toEqual(['5', '4', '3'])
    const rest = await listEntries(books, ann, { limit: 3, before: first.at(-1)?.number })
    expect(rest.map(({ ref, item }) => [ref, item])).toEqual([
      ['2', 'item 2'],
      ['1', 'item 1'],
    ])
  })

  test('the database rejects an account below zero', async () => {
    await fund(books, ann, 1)
    for (const change of [
      { balance: nano(-1n), free: zero },
      { held: credits(2) },
      { free: credits(2) },
      { earned: nano(1n) },
      { paidHeld: nano(1n) },
    ]) {
      const error = await catchError(
        books.db.tx((db) => db.update(accounts).set(change).returning()),
      )
      expect(databaseErrorKind(error)).toBe('check')
    }
  })
})

describe('holds', () => {
  test('a hold reserves the maximum cost; settling charges the actual cost', async () => {
    await fund(books, ann, 400)
    const { hold } = await holdNow(books, holdRequest('build:1', 300))
    expect(await balanceOf(books, ann)).toMatchObject({
      held: credits(300),
      available: credits(100),
    })
    await settleNow(books, hold, credits(120))
    expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(280), held: zero })
    expect((await balanceOf(books, income)).balance).toBe(credits(120))
  })

  test('a charge is clamped to the hold, and never negative', async () => {
    await fund(books, ann, 10)
    const [a, b] = [
      await holdNow(books, holdRequest('a', 4)),
      await holdNow(books, holdRequest('b', 4)),
    ]
    expect((await settleNow(books, a.hold, credits(1_000))).charged).toBe(credits(4))
    expect((await settleNow(books, b.hold, credits(-5))).charged).toBe(zero)
    expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(6), held: zero })
    expect(await listEntries(books, ann, { limit: 10 })).toHaveLength(2)
  })

  test('the first settlement or release of a hold wins', async () => {
    await fund(books, ann, 10)
    const [a, b] = [
      await holdNow(books, holdRequest('a', 4)),
      await holdNow(books, holdRequest('b', 4)),
    ]
    await Promise.all([1, 2, 3].map(async (charge) => settleNow(books, a.hold, credits(charge))))
    const { charged } = await releaseNow(books, a.hold)
    expect(await balanceOf(books, ann)).toMatchObject({ balance: nano(credits(10) - charged) })
    await releaseNow(books, b.hold)
    await releaseNow(books, b.hold)
    const late = await settleNow(books, b.hold, credits(4))
    expect(late).toMatchObject({ state: 'released', charged: zero })
    expect((await balanceOf(books, ann)).held).toBe(zero)
    expect(String(await catchError(releaseNow(books, { ...b.hold, id: 'nobody' })))).toContain(
      'hold nobody does not exist',
    )
  })

  test('the same ref returns the first hold or conflicts; a released ref is free', async () => {
    await fund(books, ann, 10)
    const first = await holdNow(books, holdRequest('r', 10))
    const twin = await holdNow(books, holdRequest('r', 10))
    expect(twin).toMatchObject({ isNew: false, hold: { id: first.hold.id, state: 'held' } })
    await expectApiError(holdNow(books, holdRequest('r', 9)), 'ref_conflict', { ref: 'r' })
    await releaseNow(books, first.hold)
    const again = await holdNow(books, holdRequest('r', 9))
    expect(again.isNew).toBe(true)
    expect(String(await catchError(settleNow(books, first.hold, credits(1))))).toContain(
      'does not exist',
    )
    expect((await balanceOf(books, ann)).held).toBe(credits(9))
  })

  test('of a hundred parallel holds as many succeed as the credits cover', async () => {
    await fund(books, ann, 7)
    const tries = Array.from({ length: 100 }, async (_, index) => {
      const { hold } = await holdNow(books, holdRequest(`r${index}`, 1))
      return settleNow(books, hold, credits(1))
    })
    const ends = await Promise.allSettled(tries)
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(7)
    for (const end of ends) {
      if (end.status === 'rejected')
        expect(end.reason).toMatchObject({ errorName: 'not_enough_credits' })
    }
    expect(await balanceOf(books, ann)).toMatchObject({ balance: zero, held: zero })
  })

  test('shares round down, income gets the remainder, and free credits stay free', async () => {
    await fund(books, ann, 1)
    await fund(books, ann, 1, false)
    await openNow(ben)
    const shares = [{ account: accountOf(ben), percent: 80 }]
    const { hold } = await holdNow(books, holdRequest('remix', 2, { shares }))
    await settleNow(books, hold, nano(1_500_001n))
    const got = await balanceOf(books, ben)
    expect(got).toMatchObject({ balance: 1_200_000n, free: 799_999n, earned: 400_001n })
    expect(await balanceOf(books, income)).toMatchObject({ balance: 300_001n, free: 200_001n })
  })

  test('work for paid credits is not paid with free ones', async () => {
    await fund(books, ann, 100)
    await fund(books, ann, 5, false)
    const paid = holdRequest('chat', 6, { funds: 'paid' })
    await expectApiError(holdNow(books, paid), 'not_enough_credits', {
      needed: credits(6),
      available: credits(5),
    })
    const { hold } = await holdNow(books, holdRequest('chat', 5, { funds: 'paid' }))
    expect((await holdNow(books, holdRequest('build', 100))).isNew).toBe(true)
    await expectApiError(holdNow(books, holdRequest('more', 1)), 'not_enough_credits', {
      available: zero,
    })
    await settleNow(books, hold, credits(5))
    expect(await balanceOf(books, ann)).toMatchObject({ balance: credits(100), free: credits(100) })
  })

  test('holds of paid credits count each other, whatever free credits remain', async () => {
    await fund(books, ann, 100)
    await fund(books, ann, 5, false)
    const paid = (ref: string, amount: number) =>
      holdNow(books, holdRequest(ref, amount, { funds: 'paid' }))
    await paid('a', 4)
    await expectApiError(paid('b', 2), 'not_enough_credits', { available: credits(1) })
    expect((await paid('b', 1)).isNew).toBe(true)
  })

  test('the open holds of a caller are limited', async () => {
    await fund(books, ann, 100)
    const called = (ref: string) =>
      holdNow(books, holdRequest(ref, 1, { caller: { id: 'ak_1', max: runningPerKey } }))
    const first = await called('0')
    for (let at = 1; at < runningPerKey; at += 1) await called(String(at))
    await expectApiError(called('more'), 'holds_limit', { max: runningPerKey })
    await releaseNow(books, first.hold)
    expect((await called('more')).isNew).toBe(true)
  })

  test('shares above 100 % and negative holds throw', async () => {
    const all = await fund(books, ann, 100)
    const shares = [
      { account: all, percent: 80 },
      { account: accountOf(ben), percent: 30 },
    ]
    for (const more of [{ shares }, { amount: nano(-1n) }]) {
      expect(String(await catchError(holdNow(books, holdRequest('r', 1, more))))).toContain(
        'Broken ledger invariant',
      )
    }
    expect((await balanceOf(books, ann)).held).toBe(zero)
  })
})
