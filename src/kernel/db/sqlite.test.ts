import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'

import { eq, sql } from 'drizzle-orm'

import { catchError } from '../../testing/catch-error.ts'
import {
  freshFile,
  openSampleDatabase,
  parts,
  sampleMigrations,
  thing,
  things,
} from '../../testing/fixtures/sample-tables.ts'
import { nextTurn } from '../../testing/until.ts'
import { dialect } from './columns.ts'
import type { Engine } from './engine.ts'
import { DatabaseBusy, databaseErrorKind } from './error.ts'
import { migrateSqlite } from './open.ts'
import { openSqlite, openTemporary, snapshot } from './sqlite.ts'

let file: string
let engine: Engine
beforeEach(async () => {
  file = freshFile()
  migrateSqlite(file, sampleMigrations)
  engine = await openSqlite(file, { unitMs: 5_000, lockWaitMs: 1_000 })
})
afterEach(async () => {
  await engine.close()
  for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true })
})

const insert = (id: string) =>
  engine.tx((db) => db.insert(things).values(thing(id)).returning({ id: things.id }))
const ids = async () =>
  (await engine.read.select({ id: things.id }).from(things).orderBy(things.id)).map(({ id }) => id)

if (dialect === 'sqlite')
  describe('the SQLite engine', () => {
    test('commits durably: WAL, synchronous=FULL, foreign keys', async () => {
      const [sync, keys] = await engine.tx(async (db) => [
        await db.values(sql`pragma synchronous`),
        await db.values(sql`pragma foreign_keys`),
      ])
      expect([sync, keys]).toEqual([[[2n]], [[1n]]])
      expect(await engine.read.values(sql`pragma journal_mode`)).toEqual([['wal']])
    })

    test('syncs a group unless all of its transactions are soft', async () => {
      const level = (isSoft?: boolean) =>
        engine.tx((db) => db.values(sql`pragma synchronous`), isSoft)
      const [normal, full] = [[[1n]], [[2n]]]
      expect(await level(true)).toEqual(normal)
      expect(await level()).toEqual(full)
      expect(await Promise.all([level(true), level(true)])).toEqual([normal, normal])
      expect(await Promise.all([level(true), level(false)])).toEqual([full, full])
    })

    test('rejects a whole group when its commit fails, and commits the next', async () => {
      const orphan = engine.tx((db) =>
        db.insert(parts).values({ id: 'p', thing: 'nobody' }).returning(),
      )
      const [first, second] = await Promise.all([catchError(orphan), catchError(insert('a'))])
      expect(String(first)).toContain('FOREIGN KEY')
      expect(second).toBe(first)
      expect(await ids()).toEqual([])
      await insert('b')
      expect(await ids()).toEqual(['b'])
    })

    test('reports a full database, and smaller writes still work', async () => {
      const [[pages] = [0n]] = await engine.tx((db) => db.values<[bigint]>(sql`pragma page_count`))
      await engine.tx((db) => db.values(sql.raw(`pragma max_page_count = ${pages + 2n}`)))
      const big = engine.tx((db) =>
        db
          .insert(things)
          .values({ ...thing('big'), notes: ['x'.repeat(100_000)] })
          .returning(),
      )
      expect(databaseErrorKind(await catchError(big))).toBe('full')
      await insert('small')
      expect(await ids()).toEqual(['small'])
    })

    test('does not block the event loop while another process writes', async () => {
      const foreign = new Database(file)
      foreign.run('begin immediate')
      const waiting = insert('a')
      const reading = await ids()
      await nextTurn()
      // Nothing but a turn of the event loop gets here, and the other one lets go only here.
      foreign.run('commit')
      foreign.close()
      await waiting
      expect(reading).toEqual([])
      expect(await ids()).toEqual(['a'])
    })

    test('reports DatabaseBusy while another process keeps the lock, and recovers', async () => {
      const foreign = new Database(file)
      foreign.run('begin immediate')
      const error = await catchError(insert('a'))
      foreign.run('commit')
      foreign.close()
      expect(error).toBeInstanceOf(DatabaseBusy)
      expect(databaseErrorKind(error)).toBe('busy')
      await insert('b')
      expect(await ids()).toEqual(['b'])
    })

    test('rolls back a transaction that never ends, without blocking others', async () => {
      const hasty = await openSqlite(file, { unitMs: 500, lockWaitMs: 1_000 })
      const stuck = hasty.tx(async (db) => {
        await db.insert(things).values(thing('stuck'))
        await new Promise(() => {})
      })
      const after = hasty.tx((db) => db.insert(things).values(thing('after')).returning())
      expect(String(await catchError(stuck))).toContain('did not finish in 500 ms')
      expect(await after).toHaveLength(1)
      expect(await hasty.read.select().from(things).where(eq(things.id, 'stuck'))).toEqual([])
      await hasty.close()
    })

    test('rejects more than ten thousand queued transactions', async () => {
      const results = await Promise.allSettled(
        Array.from({ length: 10_001 }, () => engine.tx(async () => 1)),
      )
      const rejected = results.filter((result) => result.status === 'rejected')
      expect(rejected.map(({ reason }) => databaseErrorKind(reason))).toEqual(['busy'])
    })

    test('keeps a prepared query working after five hundred other statements', async () => {
      await insert('a')
      const find = engine.read.select({ id: things.id }).from(things).prepare()
      for (let n = 0; n < 600; n++) await engine.read.values(sql.raw(`select ${n}`))
      expect(await find.execute()).toEqual([{ id: 'a' }])
    })

    test('commits the queue on close and leaves one file', async () => {
      const waiting = insert('a')
      await engine.close()
      await waiting
      expect(await Bun.file(`${file}-wal`).exists()).toBe(false)
      engine = await openSqlite(file)
      expect(await ids()).toEqual(['a'])
    })

    test('rejects a file that is not a database', async () => {
      const broken = freshFile()
      await Bun.write(broken, 'not a database, but long enough to be looked at'.repeat(100))
      expect(await catchError(openSqlite(broken))).toBeInstanceOf(Error)
      rmSync(broken)
    })

    test('reports a missing folder as read-only', async () => {
      expect(databaseErrorKind(await catchError(openSqlite(`${file}-nowhere/db`)))).toBe('readonly')
    })

    test('opens a temporary database from an image, separate from others', async () => {
      await insert('a')
      await engine.close()
      const image = await Bun.file(file).bytes()
      const [one, two] = [await openTemporary(image), await openTemporary(image)]
      await one.tx((db) => db.insert(things).values(thing('b')).returning())
      expect(await one.read.select().from(things)).toHaveLength(2)
      expect(await two.read.select().from(things)).toHaveLength(1)
      await one.close()
      await two.close()
      engine = await openSqlite(file)
    })
  })

/** Writes rows for ever and prints the number of each once it is acknowledged. */
const acknowledging = `
  const { openSqlite } = await import('${import.meta.dir}/sqlite.ts')
  const { things, thing } = await import('${import.meta.dir}/../../testing/fixtures/sample-tables.ts')
  const engine = await openSqlite(process.argv[1])
  let next = 0
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (next < 100_000) {
      const id = String(next++)
      await engine.tx((db) => db.insert(things).values(thing(id)).returning())
      process.stdout.write(id + '\\n')
    }
  }))`

if (dialect === 'sqlite')
  test('acknowledged writes survive SIGKILL', async () => {
    const child = Bun.spawn([process.execPath, '-e', acknowledging, file], { stdout: 'pipe' })
    let output = ''
    for await (const piece of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += piece
      if (output.length > 2_000) child.kill('SIGKILL')
    }
    await child.exited
    expect(child.signalCode).toBe('SIGKILL')
    const acknowledged = output.split('\n').slice(0, -1)
    expect(acknowledged.length).toBeGreaterThan(100)
    const kept = new Set(await ids())
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([])
    expect(await engine.read.values(sql`pragma integrity_check`)).toEqual([['ok']])
  })

if (dialect === 'sqlite')
  test('writes a consistent copy of a live database over an older copy', async () => {
    const engine = await openSampleDatabase()
    const copy = freshFile()
    await Bun.write(copy, 'an older copy')
    // Every unit adds two rows: a copy with an odd number would be torn.
    let made = 0
    const begun = Promise.withResolvers<void>()
    let copying = true
    const pair = (n: number) => [thing(`${n}x`), thing(`${n}y`)]
    const writing = (async () => {
      while (copying && made < 50_000) {
        await engine.tx((db) => db.insert(things).values(pair(made++)).returning())
        if (made === 20) begun.resolve()
      }
    })()
    await begun.promise
    await snapshot(engine, copy)
    copying = false
    await writing
    await engine.close()
    const database = new Database(copy)
    const [[rows, ok] = []] = database
      .query('select count(*), (select integrity_check from pragma_integrity_check) from things')
      .values()
    database.close()
    expect(Number(rows)).toBeGreaterThanOrEqual(38)
    expect(Number(rows) % 2).toBe(0)
    expect(ok).toBe('ok')
    rmSync(copy)
  })

if (dialect === 'sqlite')
  test('reports why a copy failed and leaves no file', async () => {
    const engine = await openSampleDatabase()
    const nowhere = `${freshFile()}-nowhere/copy`
    expect(String(await catchError(snapshot(engine, nowhere)))).toContain('unable to open')
    expect(await Bun.file(nowhere).exists()).toBe(false)
    await engine.close()
  })

if (dialect === 'postgres')
  test('throws on PostgreSQL', async () => {
    const engine = await openSampleDatabase()
    expect(String(await catchError(snapshot(engine, freshFile())))).toContain('pg_dump')
    await engine.close()
  })
