import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { count, eq, sql } from 'drizzle-orm'

import { nano as brand } from '../core/money.ts'
import { caught } from '../testing/caught.ts'
import { openThings, thing, things } from '../testing/things.ts'
import type { Engine } from './engine.ts'
import { faultOf } from './error.ts'
import { lock } from './lock.ts'
import { forUpdate, prepared } from './query.ts'

let engine: Engine
beforeEach(async () => {
  engine = await openThings()
})
afterEach(() => engine.close())

const insert = (id: string, held = 0n) =>
  engine.tx(async (db) => {
    await db.insert(things).values(thing(id, held))
  })
const all = () => engine.read.select().from(things).orderBy(things.id)
const ids = async () => (await all()).map(({ id }) => id)

describe('a unit of work', () => {
  test('is kept whole and answers what it made', async () => {
    const [made] = await engine.tx((db) =>
      db.insert(things).values(thing('a')).returning({ id: things.id, count: things.count }),
    )
    expect(made).toEqual({ id: 'a', count: 0 })
    expect(await ids()).toEqual(['a'])
  })

  test('that throws leaves nothing, and its error reaches the caller as it is', async () => {
    const own = new Error('no')
    const failing = engine.tx(async (db) => {
      await db.insert(things).values(thing('a'))
      throw own
    })
    expect(await caught(failing)).toBe(own)
    expect(await ids()).toEqual([])
  })

  test('that fails among fifty is undone alone', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 50 }, (_, n) =>
        engine.tx(async (db) => {
          await db.insert(things).values(thing(`t${n}`))
          if (n === 25) throw new Error('the twenty-sixth')
        }),
      ),
    )
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    expect(results[25]?.status).toBe('rejected')
    const kept = await ids()
    expect(kept).toHaveLength(49)
    expect(kept).not.toContain('t25')
  })

  test('fails when one of its statements failed, even if that was caught', async () => {
    await insert('a')
    const error = await caught(
      engine.tx(async (db) => {
        await db.insert(things).values(thing('b'))
        await db
          .insert(things)
          .values(thing('a'))
          .catch(() => {})
      }),
    )
    expect(faultOf(error)).toBe('unique')
    expect(await ids()).toEqual(['a'])
  })

  test('that outlives itself cannot write into another', async () => {
    const { promise: undone, resolve } = Promise.withResolvers<void>()
    const late = Promise.withResolvers<unknown>()
    const failing = engine.tx(async (db) => {
      undone.then(() => db.insert(things).values(thing('late'))).then(late.resolve, late.resolve)
      throw new Error('undone')
    })
    await caught(failing)
    const next = engine.tx(async (db) => {
      resolve()
      await late.promise
      await db.insert(things).values(thing('next'))
    })
    await next
    expect(await late.promise).toBeInstanceOf(Error)
    expect(await ids()).toEqual(['next'])
  })

  test('is refused after the database was closed', async () => {
    const closing = await openThings()
    await closing.close()
    expect(await caught(closing.tx(async () => 1))).toBeInstanceOf(Error)
  })
})

describe('reading', () => {
  test('sees only what is committed', async () => {
    await engine.tx(async (db) => {
      await db.insert(things).values(thing('a'))
      expect(await db.select().from(things)).toHaveLength(1)
      expect(await engine.read.select().from(things)).toHaveLength(0)
    })
    expect(await ids()).toEqual(['a'])
  })

  test('refuses to write', async () => {
    const write = engine.read.insert(things).values(thing('a')).execute()
    expect(faultOf(await caught(write))).toBe('readonly')
    expect(await ids()).toEqual([])
  })

  test('answers a ping', async () => {
    expect(await engine.ping()).toBeUndefined()
  })
})

describe('columns', () => {
  test('give back exactly what was put in', async () => {
    const row = {
      id: 'a',
      handle: 'ä"\'\n😀',
      held: brand(2n ** 63n - 1n),
      count: Number.MAX_SAFE_INTEGER,
      made: 1_763_722_000_123,
      closed: true,
      notes: ['x', '{"y": [null]}'],
    }
    await engine.tx((db) => db.insert(things).values(row).returning())
    expect(await all()).toEqual([row])
    expect(await engine.read.select().from(things).where(eq(things.closed, true))).toEqual([row])
  })

  test('have their defaults, and null is null', async () => {
    await insert('a')
    expect((await all())[0]).toMatchObject({ count: 0, closed: false, made: null, notes: null })
  })

  test('add money exactly beyond 2^53', async () => {
    await insert('a', 2n ** 53n)
    await engine.tx((db) =>
      db
        .update(things)
        .set({ held: sql`${things.held} + ${brand(1n)}` })
        .returning(),
    )
    expect((await all())[0]?.held).toBe(brand(2n ** 53n + 1n))
    const [total] = await engine.read.select({ rows: count() }).from(things)
    expect(total).toEqual({ rows: 1 })
  })
})

describe('faults', () => {
  test('name the columns of a unique constraint', async () => {
    await insert('a')
    const sameId = await caught(
      engine.tx((db) =>
        db
          .insert(things)
          .values({ ...thing('a'), handle: 'other' })
          .returning(),
      ),
    )
    const sameHandle = await caught(
      engine.tx((db) =>
        db
          .insert(things)
          .values({ ...thing('b'), handle: 'h-a' })
          .returning(),
      ),
    )
    expect(faultOf(sameId)).toBe('unique')
    expect(faultOf(sameHandle)).toBe('unique')
  })

  test('name a check', async () => {
    const error = await caught(insert('a', -1n))
    expect(faultOf(error)).toBe('check')
    expect(await ids()).toEqual([])
  })

  test('of others are other', () => {
    expect([faultOf(new Error('x')), faultOf('x'), faultOf(undefined)]).toEqual(
      Array(3).fill('other'),
    )
  })
})

describe('prepared queries', () => {
  const find = prepared((db) =>
    db
      .select()
      .from(things)
      .where(eq(things.id, sql.placeholder('id')))
      .prepare(),
  )
  const add = prepared((db) =>
    db
      .update(things)
      .set({ held: sql`${things.held} + ${sql.placeholder('amount')}` })
      .where(eq(things.id, sql.placeholder('id')))
      .returning({ held: things.held })
      .prepare(),
  )

  test('read, and write inside a unit of work', async () => {
    await insert('a', 5n)
    expect(await find(engine.read).execute({ id: 'a' })).toMatchObject([{ held: 5n }])
    const written = await engine.tx((db) => add(db).execute({ id: 'a', amount: -3n }))
    expect(written).toEqual([{ held: brand(2n) }])
    expect(await find(engine.read).execute({ id: 'nobody' })).toEqual([])
  })

  test('are built once and used again by later units', async () => {
    const first = await engine.tx(async (db) => find(db))
    const second = await engine.tx(async (db) => find(db))
    expect(second).toBe(first)
    expect(find(engine.read)).toBe(find(engine.read))
  })
})

describe('taking turns', () => {
  test('rows are locked until the end, so that no addition is lost', async () => {
    await insert('a')
    const addOne = () =>
      engine.tx(async (db) => {
        const [row] = await forUpdate(
          db.select({ n: things.count }).from(things).where(eq(things.id, 'a')),
          things.id,
        )
        await db.update(things).set({ count: (row?.n ?? 0) + 1 })
      })
    await Promise.all(Array.from({ length: 20 }, addOne))
    expect((await all())[0]?.count).toBe(20)
  })

  test('a name lets one unit pass at a time, so that a limit holds', async () => {
    const addBelowThree = (id: string) =>
      engine.tx(async (db) => {
        await lock(db, 'things below three')
        const [have] = await db.select({ n: count() }).from(things)
        if ((have?.n ?? 0) < 3) await db.insert(things).values(thing(id))
      })
    await Promise.all(Array.from({ length: 12 }, (_, n) => addBelowThree(`t${n}`)))
    expect(await ids()).toHaveLength(3)
  })
})
