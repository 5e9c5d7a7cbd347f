import { Database } from 'bun:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

import { SQL } from 'bun'

import { buildEmptyDatabase } from '../../../scripts/build-empty-database.ts'
import { catchError } from '../../testing/catch-error.ts'
import { createDatabase, dropDatabase } from '../../testing/fixtures/databases.ts'
import { freshEngine } from '../../testing/fixtures/engine.ts'
import {
  freshFile,
  laterMigrations,
  sampleMigrations,
} from '../../testing/fixtures/sample-tables.ts'
import { dialect } from './columns.ts'
import {
  createSqlite,
  migratePostgres,
  migrateSqlite,
  NewerSchemaError,
  schemaVersion,
} from './open.ts'

const failing = [
  ...sampleMigrations,
  { tag: '0001_bad', hash: 'bad', statements: ['create table half (id text)', 'nonsense'] },
]
const rewritten = [{ ...sampleMigrations[0], tag: '0000_other', hash: 'other', statements: [] }]

test('the program has migrations, and every test database applies them all', async () => {
  expect(schemaVersion()).toBeGreaterThan(0)
  const engine = await freshEngine()
  expect(await engine.ping()).toBeUndefined()
  await engine.close()
})

test.each(['sqlite', 'postgres'])('%s has the snapshot of its newest migration only', (engine) => {
  const folder = join(import.meta.dir, '../../..', engine)
  const newest = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .toSorted()
    .at(-1)
  const snapshot = `${newest?.slice(0, 4)}_snapshot.json`
  expect(readdirSync(join(folder, 'meta')).toSorted()).toEqual([snapshot, '_journal.json'])
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
    const query = (path: string, text: string) => {
      const database = new Database(path)
      const rows = database.query(text).values()
      database.close()
      return rows
    }
    const insert = "insert into things (id, handle, held) values ('a', 'a', 1)"
    const tags = 'select tag from schema_migrations order by number'

    test('a binary creates its database from an empty one, which equals that of the migrations', async () => {
      const empty = `${file}.zst`
      await buildEmptyDatabase(empty)
      createSqlite(file, empty)
      const other = freshFile()
      migrateSqlite(other)
      const schema = 'select type, name, tbl_name, sql from sqlite_schema order by name'
      expect(query(file, schema)).toEqual(query(other, schema))
      expect(query(file, 'pragma journal_mode')).toEqual([['wal']])
      const record = 'select number, tag, hash from schema_migrations order by number'
      expect(query(file, record)).toEqual(query(other, record))
      migrateSqlite(file)
      query(file, 'create table mine (id text)')
      createSqlite(file, empty)
      expect(query(file, "select name from sqlite_schema where name = 'mine'")).toEqual([['mine']])
      for (const path of [empty, other, `${other}-wal`, `${other}-shm`])
        rmSync(path, { force: true })
    })

    test('creates an empty database once, without a copy', async () => {
      migrateSqlite(file, laterMigrations)
      migrateSqlite(file, laterMigrations)
      expect(query(file, tags)).toEqual([['0000_things'], ['0001_later']])
      expect(await Bun.file(copy()).exists()).toBe(false)
    })

    test('copies an older database, with its rows and schema', () => {
      migrateSqlite(file, sampleMigrations)
      query(file, insert)
      migrateSqlite(file, laterMigrations)
      expect(query(file, 'select id, later from things')).toEqual([['a', null]])
      expect(query(copy(), 'select * from things')[0]).toHaveLength(7)
      expect(query(copy(), tags)).toEqual([['0000_things']])
    })

    test('rejects a newer schema and does not change the file', () => {
      migrateSqlite(file, laterMigrations)
      expect(() => migrateSqlite(file, sampleMigrations)).toThrow(NewerSchemaError)
      expect(() => migrateSqlite(file, sampleMigrations)).toThrow('has schema 2')
      expect(query(file, tags)).toHaveLength(2)
    })

    test('rejects a different migration history', () => {
      migrateSqlite(file, sampleMigrations)
      expect(() => migrateSqlite(file, rewritten)).toThrow('0000_things')
    })

    test('changes nothing when it fails halfway', () => {
      migrateSqlite(file, sampleMigrations)
      expect(() => migrateSqlite(file, failing)).toThrow()
      expect(query(file, "select 1 from sqlite_schema where name = 'half'")).toEqual([])
      migrateSqlite(file, laterMigrations)
      expect(query(file, tags)).toHaveLength(2)
    })

    test('never leaves rows without their parent', () => {
      migrateSqlite(file, sampleMigrations)
      query(file, insert)
      query(file, "insert into parts values ('p', 'a')")
      const losing = { tag: '0001_lose', hash: 'lose', statements: ['delete from things'] }
      expect(() => migrateSqlite(file, [...sampleMigrations, losing])).toThrow('"parts"')
      expect(query(file, 'select id from things')).toEqual([['a']])
    })
  })

if (dialect === 'postgres')
  describe('migrating a PostgreSQL database', () => {
    let url: string
    beforeEach(async () => {
      url = await createDatabase()
    })
    afterEach(() => dropDatabase(url))
    const query = async (text: string): Promise<unknown[][]> => {
      const sql = new SQL(url, { max: 1 })
      const rows = await sql.unsafe(text).values()
      await sql.end()
      return [...rows]
    }
    const tags = 'select tag from schema_migrations order by number'

    test('runs once for three replicas that start together', async () => {
      await Promise.all([1, 2, 3].map(() => migratePostgres(url, laterMigrations)))
      expect(await query(tags)).toEqual([['0000_things'], ['0001_later']])
    })

    test('rejects a newer schema and a different history', async () => {
      await migratePostgres(url, laterMigrations)
      expect(await catchError(migratePostgres(url, sampleMigrations))).toBeInstanceOf(
        NewerSchemaError,
      )
      expect(String(await catchError(migratePostgres(url, rewritten)))).toContain('schema 2')
    })

    test('changes nothing when it fails halfway', async () => {
      await migratePostgres(url, sampleMigrations)
      await catchError(migratePostgres(url, failing))
      expect(await query("select to_regclass('half')")).toEqual([[null]])
      expect(await query(tags)).toEqual([['0000_things']])
    })
  })
