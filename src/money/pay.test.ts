import { afterEach, beforeEach, expect, test } from 'bun:test'

import { ApiError } from '../kernel/errors.ts'
import { completed, type Success } from '../kernel/http/outcome.ts'
import { fromCredits, zero } from '../kernel/money.ts'
import { ann, expectApiError, fund, holdRequest } from '../testing/fixtures/ledger.ts'
import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'
import { StoredError } from './idempotency/idempotency.ts'
import { balanceOf } from './ledger/ledger.ts'
import { type PaidOutcome, pay, type Payer, type Payment, type RunningWork } from './pay.ts'

let t: TestServer
let runs = 0

beforeEach(async () => {
  t = await startTestServer()
  await fund(t.ctx, ann, 400)
  runs = 0
})
afterEach(() => t.close())

const who: Payer = { owner: 'ann', key: 'once', fingerprint: 'a boat' }
const boat = completed({ made: 'a boat' })

type Prepared = Awaited<ReturnType<Payment<Success>['prepare']>>
const buy = (work: Prepared, by = who): Promise<Success> =>
  pay<Success>(t.ctx, { who: by, prepare: async () => work, replay: (stored) => stored })

/** Work that holds 100 credits. */
const work = (
  run: (running: RunningWork<Success>) => Promise<PaidOutcome<Success>>,
  ref = 'work',
) => ({
  maxCost: holdRequest(ref, 100),
  run: (running: RunningWork<Success>) => {
    runs += 1
    return run(running)
  },
})

/** Credits that are spent, and those that are held. */
async function books(): Promise<{ spent: number; held: number }> {
  const { balance, held } = await balanceOf(t.ctx, ann)
  return { spent: 400 - Number(balance) / 1e6, held: Number(held) / 1e6 }
}

test('holds the maximum cost while work runs, charges its cost, and replays its response', async () => {
  const seen: unknown[] = []
  const once = work(async () => {
    seen.push(await books())
    return { result: boat, replay: boat, charge: fromCredits(30) }
  })
  expect(await buy(once)).toEqual(boat)
  expect(seen).toEqual([{ spent: 0, held: 100 }])
  expect(await buy(once)).toEqual(boat)
  expect([runs, await books()]).toEqual([1, { spent: 30, held: 0 }])
  await expectApiError(buy(once, { ...who, fingerprint: 'a ship' }), 'ref_conflict', {
    ref: 'once',
  })
})

test('releases the hold of work that throws, which may run again', async () => {
  const torn = work(() => Promise.reject(new Error('no model')))
  await expect(buy(torn)).rejects.toThrow('no model')
  expect(await books()).toEqual({ spent: 0, held: 0 })
  const whole = work(async () => ({ result: boat, charge: fromCredits(100) }))
  expect(await buy(whole)).toEqual(boat)
  expect(await books()).toEqual({ spent: 100, held: 0 })
})

test('charges failed work that costs, and replays its error', async () => {
  const stored = new StoredError(502, { error: 'unreadable' })
  const error = new ApiError('unreadable')
  const failing = work(async () => ({ error, charge: fromCredits(100), replay: stored }))
  await expectApiError(buy(failing), 'unreadable', {})
  await expect(buy(failing)).rejects.toEqual(stored)
  expect([runs, await books()]).toEqual([1, { spent: 100, held: 0 }])
})

test('a caller who sends a charged failure again gets its error without another charge', async () => {
  const caller = { id: 'key', signal: new AbortController().signal }
  const by: Payer = { owner: 'ann', fingerprint: 'a boat', caller }
  const failing = (ref: string) =>
    work(async () => ({ error: new ApiError('unreadable'), charge: fromCredits(10) }), ref)
  await expectApiError(buy(failing('one'), by), 'unreadable', {})
  await expectApiError(buy(failing('two'), by), 'unreadable', {})
  expect([runs, await books()]).toEqual([1, { spent: 10, held: 0 }])
})

test('sends a stream before its charge, which the stream can wait for', async () => {
  const end = Promise.withResolvers<void>()
  const stream = completed('stream')
  let settled: Promise<void> | undefined
  const streaming = work(async (running) => {
    settled = running.settled
    running.respond(stream)
    await end.promise
    return { result: boat, charge: fromCredits(20) }
  })
  expect(await buy(streaming)).toEqual(stream)
  expect(await books()).toEqual({ spent: 0, held: 100 })
  end.resolve()
  await settled
  expect(await books()).toEqual({ spent: 20, held: 0 })
})

test('a purchase is charged in full in its own transaction, or not at all', async () => {
  const purchase = (credits: number, ref: string) => ({
    commit: async () => ({ price: holdRequest(ref, credits), response: boat }),
  })
  await expectApiError(buy(purchase(500, 'dear')), 'not_enough_credits', {})
  expect(await books()).toEqual({ spent: 0, held: 0 })
  expect(await buy(purchase(50, 'cheap'))).toEqual(boat)
  expect(await buy(purchase(50, 'again'))).toEqual(boat)
  expect(await books()).toEqual({ spent: 50, held: 0 })
  const gift = { commit: async () => ({ price: undefined, response: boat }) }
  expect(await buy(gift, { ...who, key: 'gift' })).toEqual(boat)
  expect(await books()).toEqual({ spent: 50, held: 0 })
})

test('a job takes over its holds, and all or none of them are opened', async () => {
  const job = (...credits: number[]) => ({
    commit: async () => ({
      maxCosts: credits.map((one, at) => holdRequest(`job:${at}`, one)),
      response: boat,
    }),
  })
  await expectApiError(buy(job(100, 500)), 'not_enough_credits', {})
  expect(await books()).toEqual({ spent: 0, held: 0 })
  expect(await buy(job(100, 50))).toEqual(boat)
  expect(await buy(job(100, 50))).toEqual(boat)
  expect(await books()).toEqual({ spent: 0, held: 150 })
})

test('a job whose upstream does not take it is canceled, and has no stored response', async () => {
  const steps: string[] = []
  const submitting = (accept: boolean) => ({
    commit: async () => ({
      maxCosts: [],
      response: {
        submit: async () => {
          steps.push('submit')
          if (!accept) throw new ApiError('upstream_failed', {})
          return async () => {
            steps.push('hand over')
            return boat
          }
        },
        cancel: async () => void steps.push('cancel'),
      },
    }),
  })
  await expectApiError(buy(submitting(false)), 'upstream_failed', {})
  expect(await buy(submitting(true))).toEqual(boat)
  expect(await buy(submitting(false))).toEqual(boat)
  expect(steps).toEqual(['submit', 'cancel', 'submit', 'hand over'])
})

test('a response that needs no work costs nothing and is stored', async () => {
  expect(await buy(boat)).toEqual(boat)
  const never = work(async () => ({ result: boat, charge: zero }))
  expect(await buy(never)).toEqual(boat)
  expect([runs, await books()]).toEqual([0, { spent: 0, held: 0 }])
})
