import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'

import { SQL } from 'bun'
import { eq, sql } from 'drizzle-orm'

import { catchError } from '../../testing/catch-error.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { sampleMigrations, thing, things } from '../../testing/fixtures/sample-tables.ts'
import { until } from '../../testing/until.ts'
import { dialect } from './columns.ts'
import type { Engine } from './engine.ts'
import { DatabaseBusy, databaseErrorKind } from './error.ts'
import { migratePostgres } from './open.ts'
import { openPostgres } from './postgres.ts'

if (dialect === 'postgres')
  describe('the PostgreSQL engine', () => {
    let url: string
    let engine: Engine
    beforeAll(async () => {
      url = await createDatabase()
      await migratePostgres(url, sampleMigrations)
      engine = await openPostgres(url)
    })
    beforeEach(() =>
      engine.tx(async (db) => {
        await db.delete(things)
        await db.insert(things).values([thing('a'), thing('b')])
      }),
    )
    afterAll(async () => {
      await engine.close()
      await dropDatabase(url)
    })

    const counts = async () =>
      (await engine.read.select().from(things).orderBy(things.id)).map(({ count }) => count)
    const addTo = (id: string) => ({
      set: { count: sql`${things.count} + 1` },
      where: eq(things.id, id),
    })

    test('does not wait for the disk where a transaction is soft', async () => {
      const setting = sql`current_setting('synchronous_commit')`
      const level = (isSoft: boolean) =>
        engine.tx((db) => db.select({ setting }).from(things).limit(1), isSoft)
      expect(await level(true)).toEqual([{ setting: 'off' }])
      expect(await level(false)).toEqual([{ setting: 'on' }])
    })

    test('retries a transaction after a deadlock', async () => {
      let runs = 0
      const gate = Promise.withResolvers<void>()
      let arrived = 0
      const both = (first: string, second: string) =>
        engine.tx(async (db) => {
          runs++
          for (const id of [first, second]) {
            const { set, where } = addTo(id)
            await db.update(things).set(set).where(where).returning()
            if (++arrived === 2) gate.resolve()
            await gate.promise
          }
        })
      await Promise.all([both('a', 'b'), both('b', 'a')])
      // Both can meet again before the first one has committed.
      expect(runs).toBeGreaterThanOrEqual(3)
      expect(await counts()).toEqual([2, 2])
    })

    const refusing = async (state: string) => {
      const admin = new SQL(url, { max: 1 })
      await admin.unsafe(
        'create or replace function refuse() returns int language plpgsql as ' +
          `$$ begin raise exception 'again' using errcode = '${state}'; end $$`,
      )
      await admin.end()
    }
    /** Adds one to "a"; its first `times` runs are refused by the database. */
    const rejected = (times: number) => {
      const seen = { runs: 0 }
      const done = engine.tx(async (db) => {
        const { set, where } = addTo('a')
        await db.update(things).set(set).where(where).returning()
        if (seen.runs++ < times) await db.select({ x: sql`refuse()` }).from(things)
      })
      return { seen, done }
    }

    test('retries a serialization failure and commits once', async () => {
      await refusing('40001')
      const { seen, done } = rejected(2)
      await done
      expect(seen.runs).toBe(3)
      expect(await counts()).toEqual([1, 0])
    })

    test('gives up with DatabaseBusy after eight attempts', async () => {
      await refusing('40001')
      const { seen, done } = rejected(100)
      const error = await catchError(done)
      expect(error).toBeInstanceOf(DatabaseBusy)
      expect(databaseErrorKind(error)).toBe('busy')
      expect(seen.runs).toBe(8)
      expect(await counts()).toEqual([0, 0])
    })

    test('does not retry other errors', async () => {
      await refusing('22000')
      const { seen, done } = rejected(1)
      await catchError(done)
      expect(seen.runs).toBe(1)
    })

    test('rolls back a transaction that never ends, without blocking others', async () => {
      const hasty = await openPostgres(url, 500)
      const stuck = hasty.tx(async (db) => {
        await db.insert(things).values(thing('stuck'))
        await new Promise(() => {})
      })
      const after = hasty.tx((db) => db.insert(things).values(thing('after')).returning())
      const late = await catchError(stuck)
      expect(String(late)).toContain('did not finish in 500 ms')
      expect(databaseErrorKind(late)).toBe('busy')
      expect(await after).toHaveLength(1)
      expect(await hasty.read.select().from(things).where(eq(things.id, 'stuck'))).toEqual([])
      await hasty.close()
    })

    const pid = sql<number>`pg_backend_pid()`
    const asAdmin = async (statements: string) => {
      const admin = new SQL(url, { max: 1 })
      const rows: unknown[] = await admin.unsafe(statements)
      await admin.end()
      return rows
    }

    test('is busy while the server restarts, and works afterwards', async () => {
      const cut = engine.tx(async (db) => {
        const [session] = await db.insert(things).values(thing('cut')).returning({ pid })
        await asAdmin(`select pg_terminate_backend(${session?.pid})`)
        await db.insert(things).values(thing('more'))
      })
      expect(databaseErrorKind(await catchError(cut))).toBe('busy')
      await engine.tx((db) => db.insert(things).values(thing('after')))
      expect(await counts()).toHaveLength(3)
      const away = await openPostgres('postgres://nobody@127.0.0.1:1/nothing')
      expect(databaseErrorKind(await catchError(away.tx(async () => {})))).toBe('busy')
      expect(databaseErrorKind(await catchError(away.read.select().from(things).execute()))).toBe(
        'busy',
      )
      await away.close()
    })

    test('does not report busy when the connection is lost during a commit', async () => {
      await asAdmin(`create function sleep() returns trigger language plpgsql as
        $$ begin perform pg_sleep(9); return null; end $$;
        create constraint trigger slow after insert on things deferrable initially deferred
        for each row when (new.id = 'cut') execute function sleep()`)
      const { promise, resolve } = Promise.withResolvers<number | undefined>()
      const cut = catchError(
        engine.tx(async (db) => {
          const [session] = await db.insert(things).values(thing('cut')).returning({ pid })
          resolve(session?.pid)
        }),
      )
      const session = await promise
      await until(async () => {
        const [found] = await asAdmin(
          `select wait_event from pg_stat_activity where pid = ${session}`,
        )
        return Object(found).wait_event === 'PgSleep'
      })
      await asAdmin(`select pg_terminate_backend(${session})`)
      const error = await cut
      expect([databaseErrorKind(error), String(error)]).toEqual([
        'other',
        expect.stringContaining('commit'),
      ])
      await asAdmin('drop trigger slow on things; drop function sleep()')
    })

    test('cancels a statement that takes too long', async () => {
      const hasty = await openPostgres(url, 500)
      const slow = hasty.read.select({ x: sql`pg_sleep(20)` }).from(things)
      expect(databaseErrorKind(await catchError(slow))).toBe('busy')
      expect(await hasty.ping()).toBeUndefined()
      await hasty.close()
    })

    test('queues transactions beyond its connections', async () => {
      const { set, where } = addTo('a')
      await Promise.all(
        Array.from({ length: 100 }, () =>
          engine.tx((db) => db.update(things).set(set).where(where).returning()),
        ),
      )
      expect(await counts()).toEqual([100, 0])
    })
  })
