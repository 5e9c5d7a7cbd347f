import { afterAll, beforeEach, expect, test } from 'bun:test'

import { eq, sql } from 'drizzle-orm'

import { openSampleDatabase, things } from '../../testing/fixtures/sample-tables.ts'
import { nano } from '../money.ts'
import { excluded } from './query.ts'
import { countBy, insertReturning, insertRows, selectRows } from './rows.ts'

const engine = await openSampleDatabase()
afterAll(() => engine.close())
beforeEach(() => engine.tx((db) => db.delete(things).where(sql`true`)))

type Thing = typeof things.$inferSelect

const thing = (number: number, more: Partial<Thing> = {}): Thing => ({
  id: String(number).padStart(3, '0'),
  handle: `h${number}`,
  held: nano(2n ** 60n + BigInt(number)),
  count: number,
  made: null,
  closed: number % 2 === 0,
  notes: [`${number}`],
  ...more,
})
const list = (length: number, more: Partial<Thing> = {}): Thing[] =>
  Array.from({ length }, (_, number) => thing(number, more))

const insert = insertRows(things, (db, rows) =>
  db
    .insert(things)
    .values(rows)
    .onConflictDoUpdate({
      target: things.id,
      set: excluded(things, ['id', 'handle']),
      setWhere: sql`${things.count} % 2 = 0`,
    }),
)
const find = selectRows(things, things.id, (value) => eq(things.id, value()))

test('lists of any length are written and found, with every kind of column', async () => {
  for (const length of [0, 1, 7, 8, 33, 77]) {
    const rows = list(length)
    const keys = rows.map(({ id }) => id)
    const [written, found] = await engine.tx(async (db) => {
      await db.delete(things).where(sql`true`)
      return [await insert(db, rows), await find(db, [...keys, 'none'])]
    })
    expect(written).toBe(length)
    expect(found.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual(rows)
  }
})

test('an upsert replaces the rows that its condition allows, and counts them', async () => {
  await engine.tx((db) => insert(db, list(10)))
  const changed = list(12, { count: 100, notes: null })
  expect(await engine.tx((db) => insert(db, changed))).toBe(7)
  const stored = await engine.tx((db) =>
    find(
      db,
      changed.map(({ id }) => id),
    ),
  )
  const counts = new Map(stored.map(({ id, count }) => [id, count]))
  expect([counts.get('001'), counts.get('002'), counts.get('011')]).toEqual([1, 100, 100])
})

test('an insert returns columns of the rows as they are stored', async () => {
  const columns = { id: things.id, held: things.held }
  const add = insertReturning<typeof things, Pick<Thing, 'id' | 'held'>>(
    things,
    columns,
    (db, rows) =>
      db
        .insert(things)
        .values(rows)
        .onConflictDoUpdate({
          target: things.id,
          set: { held: sql`${things.held} + excluded.held` },
        })
        .returning(columns),
  )
  await engine.tx((db) => insert(db, [thing(1, { held: nano(5n) })]))
  const added = await engine.tx((db) => add(db, [thing(1, { held: nano(2n) })]))
  expect(added).toEqual([{ id: '001', held: nano(7n) }])
})

test('rows are counted by the values of a column', async () => {
  await engine.tx((db) => insert(db, list(9)))
  const countOdd = countBy(things, things.handle, sql`${things.count} % 2 = 1`)
  const handles = list(9).map(({ handle }) => handle)
  const counted = await countOdd(engine.read, [...handles, 'none'])
  expect([...counted].sort()).toEqual(['h1', 'h3', 'h5', 'h7'].map((handle) => [handle, 1]))
  expect(await countOdd(engine.read, [])).toEqual(new Map())
})
