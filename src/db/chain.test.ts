import { afterEach, beforeEach, expect, test } from 'bun:test'

import { and, eq, sql } from 'drizzle-orm'

import { openSampleDatabase, thing, things } from '../testing/fixtures/sample-tables.ts'
import { chained } from './chain.ts'
import type { Engine } from './engine.ts'

let engine: Engine
beforeEach(async () => {
  engine = await openSampleDatabase()
  await engine.tx((db) =>
    db.insert(things).values([thing('a', 5n), thing('b'), thing('c', 50n), thing('d')]),
  )
})
afterEach(() => engine.close())

const value = sql.placeholder

/** Takes 1 from a thing, gives it to another one, and records both in a third one. */
const move = chained((db, { write, insertAfter }) => {
  const taken = write(
    'taken',
    db
      .update(things)
      .set({ held: sql`${things.held} - 1` })
      .where(and(eq(things.id, value('from')), sql`${things.held} > 0`))
      .returning({ held: things.held }),
  )
  const given = write(
    'given',
    db
      .update(things)
      .set({ held: sql`${things.held} + 1`, count: sql`${things.count} + 1` })
      .where(and(eq(things.id, value('to')), taken.isDone))
      .returning({ id: things.id, count: things.count }),
  )
  const row = {
    id: value('record'),
    handle: value('record'),
    held: taken.value('held'),
    count: given.value('count', { id: value('to') }),
    made: given.value('count', { id: 'another' }),
    closed: value('closed'),
    notes: sql`null`,
  }
  insertAfter(given, things, row)
  const seen = write(
    'seen',
    db
      .update(things)
      .set({ made: sql`7` })
      .where(and(eq(things.id, value('seen')), given.isDone)),
  )
  return { taken, given, seen }
})

const run = (from: string, to: string, record = `${from}-${to}`) =>
  engine.tx((db) =>
    move(db).execute({ from, to, record, seen: 'd', closed: engine.kind === 'sqlite' ? 0 : false }),
  )
const stored = async () =>
  (await engine.read.select().from(things).orderBy(things.id)).map(
    ({ id, held, count, made }) => `${id}: ${held}, ${count}, ${made}`,
  )

test('runs writes with the rows of earlier ones', async () => {
  const { taken, given, seen } = await run('a', 'b')
  expect(seen).toBeDefined()
  expect(String(taken?.held)).toBe('4')
  expect(given).toEqual({ id: 'b', count: 1 })
  expect(await stored()).toEqual([
    'a: 4, 0, null',
    'a-b: 4, 1, null',
    'b: 1, 1, null',
    'c: 50, 0, null',
    'd: 0, 0, 7',
  ])
})

test('does not run a write whose condition failed', async () => {
  expect(await run('b', 'a')).toEqual({})
  const { taken, given } = await run('a', 'nothing')
  expect(String(taken?.held)).toBe('4')
  expect(given).toBeUndefined()
  expect(await stored()).toEqual([
    'a: 4, 0, null',
    'b: 0, 0, null',
    'c: 50, 0, null',
    'd: 0, 0, null',
  ])
})

test('waits for rows that others changed, at each of its writes', async () => {
  const moves = Array.from({ length: 40 }, (_, at) => run(at % 2 ? 'a' : 'c', 'b', `record-${at}`))
  const given = (await Promise.all(moves)).flatMap((found) => found.given?.count ?? [])
  expect(given.toSorted((one, other) => one - other)).toEqual(
    Array.from({ length: 25 }, (_, at) => at + 1),
  )
  const rows = await stored()
  expect(rows.slice(0, 3)).toEqual(['a: 0, 0, null', 'b: 25, 25, null', 'c: 30, 0, null'])
  expect(rows).toHaveLength(29)
})
