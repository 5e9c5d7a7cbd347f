import { afterEach, beforeEach, expect, test } from 'bun:test'

import { type Client, runFor } from '../kernel/client.ts'
import { DatabaseBusy } from '../kernel/db/error.ts'
import { ApiError } from '../kernel/errors.ts'
import { jobHeartbeatMs, jobLeaseMs } from '../kernel/limits.ts'
import { fromCredits, zero } from '../kernel/money.ts'
import { hour, minute } from '../kernel/time.ts'
import { balanceOf, openHold, settleHold } from '../money/ledger/ledger.ts'
import { catchError } from '../testing/catch-error.ts'
import { hang, openJobs, type Run, type TestJobs } from '../testing/fixtures/jobs.ts'
import { ann, holdRequest, type TestLedger } from '../testing/fixtures/ledger.ts'
import { type Job, LeaseLost } from './handlers.ts'
import * as jobs from './jobs.ts'
import { shiftDue } from './rows.ts'
import { queueConcurrency, queueConcurrencyPerOwner, type Runner } from './runner.ts'

let t: TestJobs
let books: TestLedger
beforeEach(async () => {
  t = await openJobs()
  books = t.books
})
afterEach(() => t.close())

/** A run that never ends, and a promise of its begin. */
function hangingRun(): { run: Run; begun: Promise<void> } {
  const { promise: begun, resolve } = Promise.withResolvers<void>()
  const run: Run = (work) => {
    resolve()
    return hang(work)
  }
  return { run, begun }
}

/** Waits until a job of a runner has ended, and returns it. */
const endOf = (runner: Runner, id: string): Promise<Job | undefined> =>
  runner.waitFor(id, { seen: Infinity, ms: minute })

test('runs a job, reports its steps and charges it at the end', async () => {
  const id = await t.newJob()
  expect(await t.get(id)).toMatchObject({ state: 'queued', step: null, started: null })
  const steps = t.runner(async (work) => {
    await work.report({ step: 'planning' })
    await work.report({ step: 'writing', progress: 0.4 })
    return t.settle(work)
  })
  await steps.runDue()
  expect(await t.get(id)).toMatchObject({
    state: 'done',
    step: 'writing',
    progress: 100,
    charged: fromCredits(60),
    result: { version: 1 },
    error: null,
    lease: null,
    ended: books.clock.now(),
  })
  expect(await t.spent()).toBe(60)
  const events = await jobs.listEventsAfter(books, id, 0)
  expect(events.map(({ number, state, step }) => [number, state, step])).toEqual([
    [1, 'queued', null],
    [2, 'running', null],
    [3, 'running', 'planning'],
    [4, 'running', 'writing'],
    [5, 'done', 'writing'],
  ])
  expect((await jobs.listEventsAfter(books, id, 3)).map(({ number }) => number)).toEqual([4, 5])
  expect(t.compensated).toEqual([])
})

test('jobs that fail, throw or cannot be recorded are compensated and cost nothing', async () => {
  const error = { code: 'build_invalid', error: 'It draws nothing.' }
  const failing: [Run, string][] = [
    [async () => ({ end: 'failed', error }), 'build_invalid'],
    [() => Promise.reject(new Error('a bug')), 'internal'],
    [
      async (work) => ({
        end: 'done',
        record: async (db, job) => {
          const landed = await t.settle(work)
          if (landed.end === 'done') await landed.record?.(db, job)
          throw new Error('a bug in the landing')
        },
      }),
      'internal',
    ],
    [
      async () => ({
        end: 'done',
        record: () => Promise.reject(new ApiError('storage_full', { max: 1 })),
      }),
      'storage_full',
    ],
  ]
  for (const [run, code] of failing) {
    const id = await t.newJob()
    await t.runner(run).runDue()
    expect(await t.get(id)).toMatchObject({ state: 'failed', error: { code }, charged: zero })
    expect(t.compensated.pop()).toBe(`${id} failed ${code}`)
    expect(await t.spent()).toBe(0)
  }
})

test('two runners claim a job once', async () => {
  const ids = await Promise.all(Array.from({ length: 4 }, () => t.newJob()))
  const runs: string[] = []
  const note: Run = async (work) => {
    runs.push(work.job.id)
    return { end: 'done' }
  }
  await Promise.all([t.runner(note).runDue(), t.runner(note).runDue(), t.runner(note).runDue()])
  for (const id of ids) expect(runs.filter((run) => run === id)).toEqual([id])
})

test('an expired lease is recovered once, then the job is interrupted', async () => {
  const id = await t.newJob()
  const [first, second] = [hangingRun(), hangingRun()]
  void t.runner(first.run).runDue()
  await first.begun
  const other = t.runner(second.run)
  books.clock.advance(jobLeaseMs - 1)
  await other.poll()
  expect((await t.get(id)).interruptions).toBe(0)
  books.clock.advance(1)
  await other.poll()
  await second.begun
  expect(await t.get(id)).toMatchObject({ state: 'running', interruptions: 1 })
  books.clock.advance(jobLeaseMs)
  const third = t.runner(t.settle)
  await third.poll()
  expect(await t.get(id)).toMatchObject({ state: 'failed', error: { code: 'interrupted' } })
  expect(t.compensated).toEqual([`${id} failed interrupted`])
  expect(await t.spent()).toBe(0)
})

test('a start recovers the jobs of ended processes, whatever the clock says', async () => {
  const left = await t.newJob({ reservedMs: hour })
  await t.abandon(left)
  const begun = await t.newJob({ reservedMs: hour })
  books.clock.advance(-hour)
  const runner = t.runner(t.settle)
  await runner.start()
  expect(await endOf(runner, left)).toMatchObject({ state: 'done', interruptions: 1 })
  expect(await t.get(begun)).toMatchObject({ interruptions: 0, lease: expect.any(String) })
})

test('a clock set forward takes no time from running, waiting and reserved jobs', async () => {
  let wall = books.clock.now()
  Object.assign(books.clock, { now: () => wall, monotonic: () => 0 })
  const finish = Promise.withResolvers<void>()
  const runner = t.runner(async (work) => {
    await finish.promise
    return t.settle(work)
  })
  const running = await t.newJob()
  await runner.poll()
  const waiting = await t.newJob()
  const reserved = await t.newJob({ reservedMs: minute })
  await books.db.tx((db) => shiftDue(db, 2 * hour))
  wall += 3 * hour
  await runner.poll()
  await runner.poll()
  expect(await t.get(reserved)).toMatchObject({ state: 'queued', interruptions: 0 })
  expect((await t.get(reserved)).lease).not.toBeNull()
  finish.resolve()
  for (const id of [running, waiting]) {
    const ended = await endOf(runner, id)
    expect(ended).toMatchObject({ state: 'done', charged: fromCredits(60) })
  }
  await runner.cancel(reserved)
})

test('an ending is retried until the database takes it', async () => {
  const id = await t.newJob()
  const tx: typeof books.db.tx = books.db.tx.bind(books.db)
  const runner = t.runner(async (work) => {
    let failures = 3
    books.db.tx = (unit) =>
      failures-- > 0 ? Promise.reject(new DatabaseBusy('It is down.')) : tx(unit)
    return t.settle(work)
  })
  await runner.runDue()
  expect(await t.get(id)).toMatchObject({ state: 'done', charged: fromCredits(60) })
})

test('a clock set back does not delay waiting jobs', async () => {
  const id = await t.newJob()
  const runs: number[] = []
  const runner = t.runner(async () => {
    runs.push(books.clock.now())
    return runs.length === 1 ? { end: 'again', afterMs: 5_000 } : { end: 'done' }
  })
  await runner.runDue()
  books.clock.advance(-hour)
  await runner.runDue()
  expect(runs).toHaveLength(1)
  books.clock.advance(5_000)
  await runner.runDue()
  expect(await t.get(id)).toMatchObject({ state: 'done' })
})

test('a run that lost its lease writes nothing', async () => {
  const id = await t.newJob()
  const [begun, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const errors: unknown[] = []
  const slow = t.runner(async (work) => {
    begun.resolve()
    await gate.promise
    errors.push(await catchError(work.report({ step: 'writing' })))
    return t.settle(work)
  })
  const first = slow.runDue()
  await begun.promise
  books.clock.advance(jobLeaseMs)
  const quick = t.runner(t.settle)
  await quick.runDue()
  expect(await t.get(id)).toMatchObject({ state: 'done', interruptions: 1 })
  gate.resolve()
  await first
  expect(errors).toEqual([expect.any(LeaseLost)])
  expect(await t.spent()).toBe(60)
})

test('a heartbeat renews the lease, also after sleep', async () => {
  const id = await t.newJob()
  const gate = Promise.withResolvers<void>()
  const living = t.runner(async (work) => {
    await gate.promise
    return t.settle(work)
  })
  await living.poll()
  for (const ms of [jobHeartbeatMs, jobLeaseMs - 1, 30 * minute]) {
    books.clock.advance(ms)
    await living.poll()
    const { leaseUntil, interruptions } = await t.get(id)
    expect([leaseUntil, interruptions]).toEqual([books.clock.now() + jobLeaseMs, 0])
  }
  gate.resolve()
  await living.runDue()
  expect(await t.spent()).toBe(60)
})

test('a crash at any step charges once or not at all', async () => {
  for (const died of ['claimed', 'noted', 'piece', 'twice'] as const) {
    const id = await t.newJob()
    const before = await balanceOf(books, ann)
    const hanging = hangingRun()
    const dies = t.runner(async (work) => {
      if (died !== 'claimed') await work.report({ step: 'planning', data: { pieces: 0 } })
      if (died === 'piece') await piece(work, 1)
      return hanging.run(work)
    })
    void dies.runDue()
    await hanging.begun
    const step = died === 'claimed' ? null : 'planning'
    expect(await t.get(id)).toMatchObject({ state: 'running', step })
    if (died === 'piece') expect(await t.get(id)).toMatchObject({ data: { pieces: 1 } })
    for (const run of died === 'twice' ? [hang, t.settle] : [t.settle]) {
      books.clock.advance(jobLeaseMs)
      const next = t.runner(async (work) => {
        if (died === 'piece') expect(work.data).toEqual({ pieces: 1 })
        return run(work)
      })
      if (run === hang) await next.poll()
      else await next.runDue()
    }
    const { state, charged } = await t.get(id)
    const { balance, held } = await balanceOf(books, ann)
    const isDone = died !== 'twice'
    expect([died, state, held]).toEqual([died, isDone ? 'done' : 'failed', zero])
    const cost = isDone ? (died === 'piece' ? 61 : 60) : 0
    expect(charged).toBe(fromCredits(cost))
    expect(before.balance - balance).toBe(fromCredits(cost))
  }
})

/** Reports one item that is charged one credit by itself. */
const piece = (work: Parameters<Run>[0], number: number): Promise<void> =>
  work.report({ data: { pieces: number } }, async (db, { id }) => {
    const more = { job: id, ms: 2 * hour }
    const { hold: made } = await openHold(books, db, holdRequest(`piece:${id}:${number}`, 1, more))
    await settleHold(books, db, made, fromCredits(1))
  })

test('cancels waiting and running jobs; ended jobs stay', async () => {
  const waiting = await t.newJob()
  const aborted: unknown[] = []
  const one = t.runner(async (work) => {
    work.signal.addEventListener('abort', () => aborted.push(work.signal.reason))
    return hang(work)
  })
  expect(await one.cancel(waiting)).toMatchObject({ state: 'cancelled' })
  const running = await t.newJob()
  await one.poll()
  expect(await one.cancel(running)).toMatchObject({ state: 'cancelled', charged: zero })
  expect(aborted).toEqual([expect.any(LeaseLost)])
  expect(await one.cancel(running)).toBeUndefined()
  expect(t.compensated).toEqual([`${waiting} cancelled`, `${running} cancelled`])
  expect(await t.spent()).toBe(0)
})

test('a job past its deadline times out, waiting or running', async () => {
  const running = await t.newJob({ ms: minute })
  const one = t.runner(hang)
  await one.poll()
  const waiting = await t.newJob({ ms: minute, kind: 'unknown' })
  books.clock.advance(minute)
  await one.poll()
  for (const id of [running, waiting]) {
    const ended = await endOf(one, id)
    expect(ended).toMatchObject({ state: 'failed', error: { code: 'timed_out' }, charged: zero })
  }
  expect(await t.spent()).toBe(0)
})

test('closing lets running jobs finish and requeues the rest', async () => {
  const [quick, slow] = [await t.newJob(), await t.newJob()]
  const gate = Promise.withResolvers<void>()
  const one = t.runner(async (work) => {
    if (work.job.id === slow) return hang(work)
    await gate.promise
    return t.settle(work)
  })
  await one.poll()
  const closed = one.close(100)
  gate.resolve()
  await closed
  expect(await t.get(quick)).toMatchObject({ state: 'done' })
  expect(await t.get(slow)).toMatchObject({ state: 'queued', interruptions: 1, lease: null })
  await t.runner(t.settle).runDue()
  expect(await t.get(slow)).toMatchObject({ state: 'done' })
})

test('hanging webhooks of one owner leave capacity in the queue for others', async () => {
  const add = (owner: string) =>
    books.db.tx((db) => {
      const about = { kind: 'build', owner, input: { what: 'a boat' }, price: zero, ms: hour }
      return jobs.enqueue(books, db, { ...about, queue: 'hooks' })
    })
  const hung: string[] = []
  for (let many = 0; many < 50; many += 1) hung.push((await add('hook:hangs')).id)
  const { id } = await add('hook:other')
  const run: Run = async (work) =>
    work.job.owner === 'hook:hangs' ? hang(work) : { end: 'done', record: async () => {} }
  const runner = t.runner(run, {}, 'hooks')
  await runner.poll()
  expect(await endOf(runner, id)).toMatchObject({ state: 'done' })
  const states = await Promise.all(hung.map(async (one) => (await t.get(one)).state))
  expect(states.filter((state) => state === 'running')).toHaveLength(queueConcurrencyPerOwner.hooks)
})

test('nine accounts of a network have half of a queue, and each has its turn', async () => {
  const network = (prefix: string): Client => ({ prefix, charge: () => undefined })
  const add = (owner: string, prefix: string) =>
    runFor(network(prefix), () =>
      books.db.tx((db) => {
        const about = { kind: 'build', owner, input: { what: 'a boat' }, price: zero, ms: hour }
        return jobs.enqueue(books, db, { ...about, queue: 'builds' })
      }),
    )
  for (let many = 0; many < 40; many += 1) await add('agent:0', '203.0.113.0/24')
  for (let key = 1; key < 9; key += 1) {
    for (let many = 0; many < 30; many += 1) await add(`agent:${key}`, '203.0.113.0/24')
  }
  const started: string[] = []
  const runner = t.runner(async (work) => (started.push(work.job.owner), hang(work)))
  await runner.poll()
  expect(started).toHaveLength(queueConcurrency.builds / 2)
  expect(new Set(started).size).toBe(started.length)
  await add('agent:victim', '198.51.100.0/24')
  await runner.poll()
  expect(started.slice(2)).toEqual(['agent:victim'])
})
