import { afterEach, beforeEach, expect, test } from 'bun:test'

import { Type } from '@sinclair/typebox'

import { fromCredits, zero } from '../core/money.ts'
import { hour, minute } from '../core/time.ts'
import { doctor } from '../ledger/doctor.ts'
import { closeJob, openHoldsOf } from '../ledger/job-holds.ts'
import { balanceOf, hold, settle } from '../ledger/ledger.ts'
import { jobHeartbeatMs, jobLeaseMs } from '../limits.ts'
import { ann, ask, fund, openBooks, refused, type TestBooks } from '../testing/books.ts'
import { caught } from '../testing/caught.ts'
import { type Handler, type Job, LeaseLost, type Outcome, type Work } from './handler.ts'
import * as jobs from './jobs.ts'
import { Runner } from './runner.ts'

const Input = Type.Object({ what: Type.String() })
const Data = Type.Object({ pieces: Type.Integer() })
type Run = (work: Work<{ what: string }, { pieces: number }>) => Promise<Outcome>

let books: TestBooks
let runners: Runner[]
let undone: string[]
beforeEach(async () => {
  books = await openBooks()
  runners = []
  undone = []
  await fund(books, ann, 400)
})
afterEach(async () => {
  for (const runner of runners) await runner.close(0)
  expect(await doctor(books)).toMatchObject({ ok: true })
  await books.db.close()
})

/** A process of its own over the same rows. */
function runner(run: Run, more: Partial<Handler> = {}): Runner {
  const made = new Runner({ ...books, closeBooks: closeJob })
  made.register('build', {
    ...{ lane: 'builds', input: Input, data: Data, run, ...more },
    undone: async (_db, { id, state, error }) => {
      undone.push(`${id} ${state} ${error?.code ?? ''}`.trim())
    },
  })
  runners.push(made)
  return made
}

/** A job that may cost 100 credits, with its hold, in one transaction. */
async function newJob(more: Partial<jobs.Wanted> = {}): Promise<string> {
  return books.db.tx(async (db) => {
    const price = fromCredits(100)
    const wanted = { kind: 'build', lane: 'builds', owner: 'agent:ann', input: { what: 'a boat' } }
    const job = await jobs.enqueue(books, db, {
      ...{ ...wanted, lane: 'builds', price, ms: hour, ...more },
    })
    await hold(books, db, ask(`build:${job.id}`, 100, { job: job.id, ms: 2 * hour }))
    return job.id
  })
}

const the = async (id: string): Promise<Job> => {
  const job = await jobs.find(books, id)
  if (!job) throw new Error('there is no such job')
  return job
}

/** Lands: settles 60 of the 100 credits. */
const land: Run = async ({ job }) => ({
  end: 'done',
  result: { version: 1 },
  record: async (db) => {
    for (const { id } of await openHoldsOf(db, job.id)) await settle(books, db, id, fromCredits(60))
  },
})

/** Never ends by itself, as work that a dead process did. */
const hang: Run = () => new Promise(() => {})

/** What is left of ann's 400 credits, and that nothing is held. */
async function spent(): Promise<number> {
  const { balance, held } = await balanceOf(books, ann)
  expect(held).toBe(zero)
  return 400 - Number(balance) / 1_000_000
}

test('a job is run, tells its steps, and is charged with its landing', async () => {
  const id = await newJob()
  expect(await the(id)).toMatchObject({ state: 'queued', step: null, started: null })
  const steps = runner(async (work) => {
    await work.note({ step: 'planning' })
    await work.note({ step: 'writing', progress: 0.4 })
    return land(work)
  })
  await steps.runDue()
  expect(await the(id)).toMatchObject({
    ...{ state: 'done', step: 'writing', progress: 100, charged: fromCredits(60) },
    ...{ result: { version: 1 }, error: null, lease: null, ended: books.clock.now() },
  })
  expect(await spent()).toBe(60)
  const told = await jobs.eventsAfter(books, id, 0)
  expect(told.map(({ number, state, step }) => [number, state, step])).toEqual([
    ...[
      [1, 'queued', null],
      [2, 'running', null],
      [3, 'running', 'planning'],
    ],
    ...[
      [4, 'running', 'writing'],
      [5, 'done', 'writing'],
    ],
  ])
  expect((await jobs.eventsAfter(books, id, 3)).map(({ number }) => number)).toEqual([4, 5])
  expect(undone).toEqual([])
})

test('what fails, throws or refuses its own landing costs nothing and is undone', async () => {
  const error = { code: 'build_invalid', error: 'It draws nothing.' }
  const failing: [Run, string][] = [
    [async () => ({ end: 'failed', error }), 'build_invalid'],
    [() => Promise.reject(new Error('a bug')), 'internal'],
    [
      async (work) => ({
        end: 'done',
        record: async (db, job) => {
          const landed = await land(work)
          if (landed.end === 'done') await landed.record?.(db, job)
          throw new Error('a bug in the landing')
        },
      }),
      'internal',
    ],
  ]
  for (const [run, code] of failing) {
    const id = await newJob()
    await runner(run).runDue()
    expect(await the(id)).toMatchObject({ state: 'failed', error: { code }, charged: zero })
    expect(undone.pop()).toBe(`${id} failed ${code}`)
    expect(await spent()).toBe(0)
  }
})

test('two runners claim a job once', async () => {
  const ids = await Promise.all(Array.from({ length: 4 }, () => newJob()))
  const runs: string[] = []
  const note: Run = async (work) => {
    runs.push(work.job.id)
    return { end: 'done' }
  }
  await Promise.all([runner(note).runDue(), runner(note).runDue(), runner(note).runDue()])
  for (const id of ids) expect(runs.filter((run) => run === id)).toEqual([id])
})

test('a lease that runs out is another one’s: begun again once, then interrupted', async () => {
  const id = await newJob()
  const dead = runner(hang)
  void dead.runDue()
  await until(async () => (await the(id)).state === 'running')
  const other = runner(hang)
  books.clock.turn(jobLeaseMs - 1)
  await other.turn()
  expect((await the(id)).interruptions).toBe(0)
  books.clock.turn(1)
  await other.turn()
  await until(async () => (await the(id)).interruptions === 1)
  expect(await the(id)).toMatchObject({ state: 'running' })
  books.clock.turn(jobLeaseMs)
  const third = runner(land)
  await third.turn()
  expect(await the(id)).toMatchObject({ state: 'failed', error: { code: 'interrupted' } })
  expect(undone).toEqual([`${id} failed interrupted`])
  expect(await spent()).toBe(0)
})

test('who lost its lease writes nothing more, and its landing does not count', async () => {
  const id = await newJob()
  const gate = Promise.withResolvers<void>()
  const errors: unknown[] = []
  const slow = runner(async (work) => {
    await gate.promise
    errors.push(await caught(work.note({ step: 'writing' })))
    return land(work)
  })
  const first = slow.runDue()
  await until(async () => (await the(id)).state === 'running')
  books.clock.turn(jobLeaseMs)
  const quick = runner(land)
  await quick.runDue()
  expect(await the(id)).toMatchObject({ state: 'done', interruptions: 1 })
  gate.resolve()
  await first
  expect(errors).toEqual([expect.any(LeaseLost)])
  expect(await spent()).toBe(60)
})

test('a heartbeat keeps the lease, also after the machine slept', async () => {
  const id = await newJob()
  const gate = Promise.withResolvers<void>()
  const living = runner(async (work) => {
    await gate.promise
    return land(work)
  })
  await living.turn()
  for (const ms of [jobHeartbeatMs, jobLeaseMs - 1, 30 * minute]) {
    books.clock.turn(ms)
    await living.turn()
    const { leaseUntil, interruptions } = await the(id)
    expect([leaseUntil, interruptions]).toEqual([books.clock.now() + jobLeaseMs, 0])
  }
  gate.resolve()
  await living.runDue()
  expect(await spent()).toBe(60)
})

test('killed at every step: it ends done and paid once, or failed and given back', async () => {
  for (const died of ['claimed', 'noted', 'piece', 'twice'] as const) {
    const id = await newJob()
    const before = await balanceOf(books, ann)
    const dies = runner(async (work) => {
      if (died !== 'claimed') await work.note({ step: 'planning', data: { pieces: 0 } })
      if (died === 'piece') await piece(work, 1)
      return hang(work)
    })
    void dies.runDue()
    const step = died === 'claimed' ? null : 'planning'
    await until(async () => {
      const job = await the(id)
      return job.state === 'running' && job.step === step
    })
    if (died === 'piece') await until(async () => Object(await the(id)).data?.pieces === 1)
    for (const run of died === 'twice' ? [hang, land] : [land]) {
      books.clock.turn(jobLeaseMs)
      const next = runner(async (work) => {
        if (died === 'piece') expect(work.data).toEqual({ pieces: 1 })
        return run(work)
      })
      if (run === hang) await next.turn()
      else await next.runDue()
    }
    const { state, charged } = await the(id)
    const { balance, held } = await balanceOf(books, ann)
    const isDone = died !== 'twice'
    expect([died, state, held]).toEqual([died, isDone ? 'done' : 'failed', zero])
    const cost = isDone ? (died === 'piece' ? 61 : 60) : 0
    expect(charged).toBe(fromCredits(cost))
    expect(before.balance - balance).toBe(fromCredits(cost))
  }
})

/** One piece that is paid by itself, for one credit, with the data that says so. */
const piece = (work: Parameters<Run>[0], number: number): Promise<void> =>
  work.note({ data: { pieces: number } }, async (db, { id }) => {
    const more = { job: id, ms: 2 * hour }
    const { hold: made } = await hold(books, db, ask(`piece:${id}:${number}`, 1, more))
    await settle(books, db, made.id, fromCredits(1))
  })

test('on SQLite the next start takes up at once what the last left', async () => {
  if (books.db.kind !== 'sqlite') return
  const id = await newJob()
  await runner(hang).turn()
  const next = runner(land)
  await next.start()
  await until(async () => (await the(id)).state === 'done')
  expect(await spent()).toBe(60)
})

test('cancelled: a waiting one at once, a running one is broken off; not one that ended', async () => {
  const waiting = await newJob()
  const aborted: unknown[] = []
  const one = runner(async (work) => {
    work.signal.addEventListener('abort', () => aborted.push(work.signal.reason))
    return hang(work)
  })
  expect(await one.cancel(waiting)).toMatchObject({ state: 'cancelled' })
  const running = await newJob()
  await one.turn()
  expect(await one.cancel(running)).toMatchObject({ state: 'cancelled', charged: zero })
  expect(aborted).toEqual([expect.any(LeaseLost)])
  expect(await one.cancel(running)).toBeUndefined()
  expect(undone).toEqual([`${waiting} cancelled`, `${running} cancelled`])
  expect(await spent()).toBe(0)
})

test('past its deadline a job times out, waiting or running', async () => {
  const running = await newJob({ ms: minute })
  const one = runner(hang)
  await one.turn()
  const waiting = await newJob({ ms: minute, afterMs: hour })
  books.clock.turn(minute)
  await one.turn()
  for (const id of [running, waiting]) {
    await until(async () => (await the(id)).state === 'failed')
    expect(await the(id)).toMatchObject({ error: { code: 'timed_out' }, charged: zero })
  }
  expect(await spent()).toBe(0)
})

test('again: it leaves its lane, goes on later, and stays running for who watches', async () => {
  const id = await newJob()
  let looks = 0
  const poll: Run = async (work) => {
    looks += 1
    return looks < 3 ? { end: 'again', afterMs: 5_000 } : land(work)
  }
  const one = runner(poll)
  await one.runDue()
  expect(await the(id)).toMatchObject({ state: 'running', lease: null })
  for (const expected of [1, 2, 3]) {
    await one.runDue()
    expect(looks).toBe(expected)
    books.clock.turn(5_000)
  }
  expect(await spent()).toBe(60)
  const told = await jobs.eventsAfter(books, id, 0)
  expect(told.map(({ state }) => state)).toEqual(['queued', 'running', 'done'])
})

test('a lane is as wide as it is', async () => {
  for (let made = 0; made < 6; made += 1) {
    await books.db.tx((db) =>
      jobs.enqueue(books, db, {
        ...{ kind: 'build', lane: 'builds', owner: 'agent:ann', input: { what: 'a boat' } },
        ...{ price: zero, ms: hour },
      }),
    )
  }
  let [open, most] = [0, 0]
  const one = runner(async () => {
    open += 1
    most = Math.max(most, open)
    await Bun.sleep(1)
    open -= 1
    return { end: 'done' }
  })
  await one.runDue()
  expect(most).toBe(4)
})

test('closing lets what runs finish, and puts the rest back', async () => {
  const [quick, slow] = [await newJob(), await newJob()]
  const gate = Promise.withResolvers<void>()
  const one = runner(async (work) => {
    if (work.job.id === slow) return hang(work)
    await gate.promise
    return land(work)
  })
  await one.turn()
  const closed = one.close(100)
  gate.resolve()
  await closed
  expect(await the(quick)).toMatchObject({ state: 'done' })
  expect(await the(slow)).toMatchObject({ state: 'queued', interruptions: 1, lease: null })
  await runner(land).runDue()
  expect(await the(slow)).toMatchObject({ state: 'done' })
})

test('a slot is one open job’s; an owner has so many', async () => {
  const slot = 'build:game:agent:ann'
  const [first, second] = await Promise.allSettled([newJob({ slot }), newJob({ slot })])
  expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected'])
  await refused(newJob({ slot }), 'busy', {})
  await runner(land).runDue()
  expect(await newJob({ slot })).toBeString()
})

test('waiting for a change ends with it, with the end, or in time', async () => {
  const id = await newJob()
  const gate = Promise.withResolvers<void>()
  const one = runner(async (work) => {
    await gate.promise
    await work.note({ step: 'writing' })
    return land(work)
  })
  await one.turn()
  const { events: seen } = await the(id)
  expect(await one.waitFor(id, { seen, ms: 0 })).toMatchObject({ events: seen })
  const changed = one.waitFor(id, { seen, ms: 30_000 })
  gate.resolve()
  expect((await changed)?.step).toBe('writing')
  await one.runDue()
  expect(await one.waitFor(id, { seen: 99, ms: 30_000 })).toMatchObject({ state: 'done' })
  expect(await one.waitFor('nobody', { seen: 0, ms: 30_000 })).toBeUndefined()
})

test('reports without end overwrite the last of them, and the end is told', async () => {
  const id = await newJob()
  const one = runner(async (work) => {
    for (let at = 0; at < 250; at += 1) await work.note({ progress: at / 250 })
    return land(work)
  })
  await one.runDue()
  const told = await jobs.eventsAfter(books, id, 0)
  expect(told.length).toBe(201)
  expect(told.slice(-2)).toMatchObject([
    { number: 200, state: 'running', progress: 100 },
    { number: 201, state: 'done' },
  ])
})

test('what ended 30 days ago is forgotten', async () => {
  const id = await newJob()
  await runner(land).runDue()
  const open = await newJob({ ms: 1_000 * hour })
  books.clock.turn(30 * 24 * hour - 1)
  await jobs.sweep(books)
  expect(await jobs.find(books, id)).toBeDefined()
  books.clock.turn(1)
  await jobs.sweep(books)
  expect([await jobs.find(books, id), await jobs.eventsAfter(books, id, 0)]).toEqual([
    undefined,
    [],
  ])
  expect(await jobs.find(books, open)).toBeDefined()
})

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; !(await isSo()); tries += 1) {
    if (tries > 500) throw new Error('it never came to be')
    await Bun.sleep(5)
  }
}
