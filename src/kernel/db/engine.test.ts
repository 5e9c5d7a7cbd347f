import { afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { count, eq, sql } from 'drizzle-orm'

import { catchError } from '../../testing/catch-error.ts'
import { openSampleDatabase, thing, things } from '../../testing/fixtures/sample-tables.ts'
import { type Client, currentClient, runFor } from '../client.ts'
import { nano as brand } from '../money.ts'
import { dialect } from './columns.ts'
import type { Db, Engine } from './engine.ts'
import { databaseErrorKind } from './error.ts'
import { forUpdate, lock, prepared } from './query.ts'

let engine: Engine
beforeEach(async () => {
  engine = await openSampleDatabase()
})
afterEach(() => engine.close())

const insert = (id: string, held = 0n) =>
  engine.tx(async (db) => {
    await db.insert(things).values(thing(id, held))
  })
const all = () => engine.read.select().from(things).orderBy(things.id)
const ids = async () => (await all()).map(({ id }) => id)

describe('a transaction', () => {
  test('commits all its rows and returns its result', async () => {
    const [made] = await engine.tx((db) =>
      db.insert(things).values(thing('a')).returning({ id: things.id, count: things.count }),
    )
    expect(made).toEqual({ id: 'a', count: 0 })
    expect(await ids()).toEqual(['a'])
  })

  test('that throws stores nothing and rejects with its own error', async () => {
    const own = new Error('no')
    const failing = engine.tx(async (db) => {
      await db.insert(things).values(thing('a'))
      throw own
    })
    expect(await catchError(failing)).toBe(own)
    expect(await ids()).toEqual([])
  })

  test('belongs to the client that called it, also in a group with other clients', async () => {
    const client = (prefix: string): Client => ({ prefix, charge: () => undefined })
    const names = Array.from({ length: 9 }, (_, number) => `203.0.113.${number}`)
    const found = names.map((name) =>
      runFor(client(name), () =>
        engine.tx(async (db) => {
          await db.insert(things).values(thing(name))
          return currentClient().prefix
        }),
      ),
    )
    expect(await Promise.all(found)).toEqual(names)
  })

  test('that fails in a group of fifty rolls back alone', async () => {
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

  test('fails when a statement failed, even if the error was caught', async () => {
    await insert('a')
    const error = await catchError(
      engine.tx(async (db) => {
        await db.insert(things).values(thing('b'))
        await db
          .insert(things)
          .values(thing('a'))
          .catch(() => {})
      }),
    )
    expect(databaseErrorKind(error)).toBe('unique')
    expect(await ids()).toEqual(['a'])
  })

  test('runs no statement behind a failed one, which all fail for', async () => {
    await insert('a')
    const write = (db: Db, id: string) => db.insert(things).values(thing(id))
    const kinds = engine.tx(async (db) => {
      const all = await Promise.allSettled(['a', 'b', 'c'].map(async (id) => write(db, id)))
      throw new Error(all.map((one) => databaseErrorKind(Reflect.get(one, 'reason'))).join())
    })
    expect(String(await catchError(kinds))).toBe('Error: unique,unique,unique')
    expect(await ids()).toEqual(['a'])
  })

  test('cannot write after it has ended', async () => {
    const { promise: undone, resolve } = Promise.withResolvers<void>()
    const late = Promise.withResolvers<unknown>()
    const failing = engine.tx(async (db) => {
      undone.then(() => db.insert(things).values(thing('late'))).then(late.resolve, late.resolve)
      throw new Error('undone')
    })
    await catchError(failing)
    const next = engine.tx(async (db) => {
      resolve()
      await late.promise
      await db.insert(things).values(thing('next'))
    })
    await next
    expect(await late.promise).toBeInstanceOf(Error)
    expect(await ids()).toEqual(['next'])
  })

  test('is rejected after the database is closed', async () => {
    const closing = await openSampleDatabase()
    await closing.close()
    expect(await catchError(closing.tx(async () => 1))).toBeInstanceOf(Error)
  })
})

describe('the read handle', () => {
  test('sees only committed rows', async () => {
    await engine.tx(async (db) => {
      await db.insert(things).values(thing('a'))
      expect(await db.select().from(things)).toHaveLength(1)
      expect(await engine.read.select().from(things)).toHaveLength(0)
    })
    expect(await ids()).toEqual(['a'])
  })

  test('rejects writes', async () => {
    const write = engine.read.insert(things).values(thing('a')).execute()
    expect(databaseErrorKind(await catchError(write))).toBe('readonly')
    expect(await ids()).toEqual([])
  })

  test('responds to a ping', async () => {
    expect(await engine.ping()).toBeUndefined()
  })
})

describe('columns', () => {
  test('return the exact values that were stored', async () => {
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

  test('apply their defaults and keep null', async () => {
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

describe('error kinds', () => {
  test('report a unique constraint with its columns', async () => {
    await insert('a')
    const sameId = await catchError(
      engine.tx((db) =>
        db
          .insert(things)
          .values({ ...thing('a'), handle: 'other' })
          .returning(),
      ),
    )
    const sameHandle = await catchError(
      engine.tx((db) =>
        db
          .insert(things)
          .values({ ...thing('b'), handle: 'h-a' })
          .returning(),
      ),
    )
    expect(databaseErrorKind(sameId)).toBe('unique')
    expect(databaseErrorKind(sameHandle)).toBe('unique')
  })

  test('report a check constraint', async () => {
    const error = await catchError(insert('a', -1n))
    expect(databaseErrorKind(error)).toBe('check')
    expect(await ids()).toEqual([])
  })

  test('classify any other error as "other"', () => {
    expect([
      databaseErrorKind(new Error('x')),
      databaseErrorKind('x'),
      databaseErrorKind(undefined),
    ]).toEqual(Array(3).fill('other'))
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

  test('read, and write in a transaction', async () => {
    await insert('a', 5n)
    expect(await find(engine.read).execute({ id: 'a' })).toMatchObject([{ held: 5n }])
    const written = await engine.tx((db) => add(db).execute({ id: 'a', amount: -3n }))
    expect(written).toEqual([{ held: brand(2n) }])
    expect(await find(engine.read).execute({ id: 'nobody' })).toEqual([])
  })

  test('are prepared once and reused by later transactions', async () => {
    const first = await engine.tx(async (db) => find(db))
    const second = await engine.tx(async (db) => find(db))
    expect(second).toBe(first)
    expect(find(engine.read)).toBe(find(engine.read))
  })

  test.skipIf(dialect === 'postgres')('are built once, also after failures', async () => {
    let builds = 0
    const listIds = prepared((db) => {
      builds += 1
      return db.select({ id: things.id }).from(things).prepare()
    })
    for (let n = 0; n < 3; n += 1) {
      const failing = engine.tx(async (db) => {
        await listIds(db).execute()
        throw new Error('no')
      })
      await catchError(failing)
    }
    expect(builds).toBe(1)
  })
})

describe('locks', () => {
  test('of rows last until the transaction ends, so no increment is lost', async () => {
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

  test('by name serialize transactions, so a limit holds', async () => {
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
