import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { rmSync } from 'node:fs'

import { SQL } from 'bun'

import { caught } from '../testing/caught.ts'
import { createDatabase, dropDatabase } from '../testing/databases.ts'
import { freshEngine } from '../testing/engine.ts'
import { freshFile, laterMigrations, thingsMigrations } from '../testing/things.ts'
import { dialect } from './dialect.ts'
import { migratePostgres, migrateSqlite, NewerSchema, schemaVersion } from './migrate.ts'

const failing = [
  ...thingsMigrations,
  { tag: '0001_bad', hash: 'bad', statements: ['create table half (id text)', 'nonsense'] },
]
const rewritten = [{ ...thingsMigrations[0], tag: '0000_other', hash: 'other', statements: [] }]

test('the product has at least one migration, and every test begins with all of them', async () => {
  expect(schemaVersion()).toBeGreaterThan(0)
  const engine = await freshEngine()
  expect(await engine.ping()).toBeUndefined()
  await engine.close()
})

if (dialect === 'sqlite')
  describe('migrating a SQLite file', () => {
    let file: string
    const copy = () => `${file}.schema-1`
    beforeEach(() => {
      file = freshFile()
    })
    afterEach(() => {
      for (const path of [file, copy()]) {
        for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
      }
    })
    const asked = (path: string, query: string) => {
      const database = new Database(path)
      const rows = database.query(query).values()
      database.close()
      return rows
    }
    const insert = "insert into things (id, handle, held) values ('a', 'a', 1)"
    const tags = 'select tag from schema_migrations order by number'

    test('makes an empty one whole, once, without a copy', async () => {
      migrateSqlite(file, laterMigrations)
      migrateSqlite(file, laterMigrations)
      expect(asked(file, tags)).toEqual([['0000_things'], ['0001_later']])
      expect(await Bun.file(copy()).exists()).toBe(false)
    })

    test('keeps a copy of an older one, with its rows and its schema', () => {
      migrateSqlite(file, thingsMigrations)
      asked(file, insert)
      migrateSqlite(file, laterMigrations)
      expect(asked(file, 'select id, later from things')).toEqual([['a', null]])
      expect(asked(copy(), 'select * from things')[0]).toHaveLength(7)
      expect(asked(copy(), tags)).toEqual([['0000_things']])
    })

    test('refuses a newer one in one sentence and leaves it alone', () => {
      migrateSqlite(file, laterMigrations)
      expect(() => migrateSqlite(file, thingsMigrations)).toThrow(NewerSchema)
      expect(() => migrateSqlite(file, thingsMigrations)).toThrow('has schema 2')
      expect(asked(file, tags)).toHaveLength(2)
    })

    test('refuses one with another history', () => {
      migrateSqlite(file, thingsMigrations)
      expect(() => migrateSqlite(file, rewritten)).toThrow('0000_things')
    })

    test('that fails half way changes nothing', () => {
      migrateSqlite(file, thingsMigrations)
      expect(() => migrateSqlite(file, failing)).toThrow()
      expect(asked(file, "select 1 from sqlite_schema where name = 'half'")).toEqual([])
      migrateSqlite(file, laterMigrations)
      expect(asked(file, tags)).toHaveLength(2)
    })

    test('never leaves rows without what they refer to', () => {
      migrateSqlite(file, thingsMigrations)
      asked(file, insert)
      asked(file, "insert into parts values ('p', 'a')")
      const losing = { tag: '0001_lose', hash: 'lose', statements: ['delete from things'] }
      expect(() => migrateSqlite(file, [...thingsMigrations, losing])).toThrow('"parts"')
      expect(asked(file, 'select id from things')).toEqual([['a']])
    })
  })

if (dialect === 'postgres')
  describe('migrating a PostgreSQL database', () => {
    let url: string
    beforeEach(async () => {
      url = await createDatabase()
    })
    afterEach(() => dropDatabase(url))
    const asked = async (query: string): Promise<unknown[][]> => {
      const sql = new SQL(url, { max: 1 })
      const rows = await sql.unsafe(query).values()
      await sql.end()
      return [...rows]
    }
    const tags = 'select tag from schema_migrations order by number'

    test('is done once by three replicas that begin together', async () => {
      await Promise.all([1, 2, 3].map(() => migratePostgres(url, laterMigrations)))
      expect(await asked(tags)).toEqual([['0000_things'], ['0001_later']])
    })

    test('refuses a newer one and one with another history', async () => {
      await migratePostgres(url, laterMigrations)
      expect(await caught(migratePostgres(url, thingsMigrations))).toBeInstanceOf(NewerSchema)
      expect(String(await caught(migratePostgres(url, rewritten)))).toContain('schema 2')
    })

    test('that fails half way changes nothing', async () => {
      await migratePostgres(url, thingsMigrations)
      await caught(migratePostgres(url, failing))
      expect(await asked("select to_regclass('half')")).toEqual([[null]])
      expect(await asked(tags)).toEqual([['0000_things']])
    })
  })
