import { afterEach, beforeEach, expect, test } from 'bun:test'

import { openJobsPerOwnerMax } from '../kernel/limits.ts'
import { zero } from '../kernel/money.ts'
import { hour } from '../kernel/time.ts'
import { openJobs, type Run, type TestJobs } from '../testing/fixtures/jobs.ts'
import { expectApiError, type TestLedger } from '../testing/fixtures/ledger.ts'
import * as jobs from './jobs.ts'

let t: TestJobs
let books: TestLedger
beforeEach(async () => {
  t = await openJobs()
  books = t.books
})
afterEach(() => t.close())

test('again: releases its place, continues later and stays running for watchers', async () => {
  const id = await t.newJob()
  let looks = 0
  const poll: Run = async (work) => {
    looks += 1
    return looks < 3 ? { end: 'again', afterMs: 5_000 } : t.settle(work)
  }
  const one = t.runner(poll)
  await one.runDue()
  expect(await t.get(id)).toMatchObject({ state: 'running', lease: null })
  for (const expected of [1, 2, 3]) {
    await one.runDue()
    expect(looks).toBe(expected)
    books.clock.advance(5_000)
  }
  expect(await t.spent()).toBe(60)
  const events = await jobs.listEventsAfter(books, id, 0)
  expect(events.map(({ state }) => state)).toEqual(['queued', 'running', 'done'])
})

test('a queue respects its concurrency', async () => {
  for (const owner of ['ann', 'ben', 'ann', 'ben', 'ann', 'ben']) {
    await books.db.tx((db) =>
      jobs.enqueue(books, db, {
        kind: 'build',
        queue: 'builds',
        owner: `agent:${owner}`,
        input: { what: 'a boat' },
        price: zero,
        ms: hour,
      }),
    )
  }
  let [open, most] = [0, 0]
  const full = Promise.withResolvers<void>()
  const one = t.runner(async () => {
    open += 1
    most = Math.max(most, open)
    if (open === 4) full.resolve()
    await full.promise
    // A fifth job that started beside these would have claimed its row before this one ends.
    await books.db.tx(async () => {})
    open -= 1
    return { end: 'done' }
  })
  await one.runDue()
  expect(most).toBe(4)
})

test('a slot has one open job', async () => {
  const slot = 'build:game:agent:ann'
  const [first, second] = await Promise.allSettled([t.newJob({ slot }), t.newJob({ slot })])
  expect([first.status, second.status].sort()).toEqual(['fulfilled', 'rejected'])
  await expectApiError(t.newJob({ slot }), 'busy', {})
  await t.runner(t.settle).runDue()
  expect(await t.newJob({ slot })).toBeString()
})

test('waitFor returns on a change, at the end or after the timeout', async () => {
  const id = await t.newJob()
  const gate = Promise.withResolvers<void>()
  const one = t.runner(async (work) => {
    await gate.promise
    await work.report({ step: 'writing' })
    return t.settle(work)
  })
  await one.poll()
  const { events: seen } = await t.get(id)
  expect(await one.waitFor(id, { seen, ms: 0 })).toMatchObject({ events: seen })
  const changed = one.waitFor(id, { seen, ms: 30_000 })
  gate.resolve()
  expect((await changed)?.step).toBe('writing')
  await one.runDue()
  expect(await one.waitFor(id, { seen: 99, ms: 30_000 })).toMatchObject({ state: 'done' })
  expect(await one.waitFor('nobody', { seen: 0, ms: 30_000 })).toBeUndefined()
})

test('excess reports overwrite the last event, and the end has an event', async () => {
  const id = await t.newJob()
  const one = t.runner(async (work) => {
    for (let at = 0; at < 250; at += 1) await work.report({ progress: at / 250 })
    return t.settle(work)
  })
  await one.runDue()
  const events = await jobs.listEventsAfter(books, id, 0)
  expect(events.length).toBe(201)
  expect(events.slice(-2)).toMatchObject([
    { number: 200, state: 'running', progress: 100 },
    { number: 201, state: 'done' },
  ])
})

test('deletes jobs that ended 30 days ago', async () => {
  const id = await t.newJob()
  await t.runner(t.settle).runDue()
  const open = await t.newJob({ ms: 1_000 * hour })
  books.clock.advance(30 * 24 * hour - 1)
  await jobs.deleteOldJobs(books)
  expect(await jobs.findJob(books, id)).toBeDefined()
  books.clock.advance(1)
  await jobs.deleteOldJobs(books)
  expect([await jobs.findJob(books, id), await jobs.listEventsAfter(books, id, 0)]).toEqual([
    undefined,
    [],
  ])
  expect(await jobs.findJob(books, open)).toBeDefined()
})

test('limits the open jobs of an owner', async () => {
  const one = { kind: 'build', queue: 'builds', input: {}, price: zero, ms: hour } as const
  const enqueue = (owner: string) => books.db.tx((db) => jobs.enqueue(books, db, { ...one, owner }))
  const all = await Promise.allSettled(
    Array.from({ length: openJobsPerOwnerMax + 16 }, () => enqueue('agent:ben')),
  )
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(openJobsPerOwnerMax)
  await expectApiError(enqueue('agent:ben'), 'busy', {})
  expect(await enqueue('agent:ann')).toMatchObject({ state: 'queued' })
})
