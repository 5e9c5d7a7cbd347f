import { Database } from 'bun:sqlite'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'

import { isPostgresUrl } from '../config/setting-types.ts'
import { sha256 } from '../ids.ts'
import { dialect } from './columns.ts'
import { copyDatabase } from './copy-database.ts'
import type { Engine } from './engine.ts'
import { openSqlite } from './sqlite.ts'

interface DatabaseLocation {
  databaseUrl?: string
  /** Its address without a pooler. */
  databaseDirectUrl?: string
  dataDir: string
}

/** Name of the SQLite file in a data folder and in a backup. */
export const databaseFile = 'berth.sqlite'

/** Returns whether a database exists. A command on a mistyped folder must not create one. */
export const hasDatabase = (where: DatabaseLocation): boolean =>
  Boolean(where.databaseUrl) || existsSync(join(where.dataDir, databaseFile))

/**
 * Opens the database and migrates it to this program's schema: PostgreSQL for a postgres:// URL,
 * otherwise a SQLite file in the data folder. Throws NewerSchemaError.
 */
export async function openEngine(where: DatabaseLocation): Promise<Engine> {
  try {
    return await open(where)
  } catch (error) {
    // A driver's message does not name the database.
    if (!(error instanceof Error && 'code' in error)) throw error
    const place = where.databaseUrl ? 'DATABASE_URL' : join(where.dataDir, databaseFile)
    throw new Error(`${place}: ${error.message}`, { cause: error })
  }
}

async function open({
  databaseUrl,
  databaseDirectUrl,
  dataDir,
}: DatabaseLocation): Promise<Engine> {
  if (databaseUrl && isPostgresUrl(databaseUrl)) {
    const directUrl = databaseDirectUrl || undefined
    await migratePostgres(directUrl ?? databaseUrl)
    // Load the driver only when it is needed.
    const { openPostgres } = await import('./postgres.ts')
    return openPostgres(databaseUrl, undefined, directUrl)
  }
  if (databaseUrl) throw new Error('DATABASE_URL must start with postgres://.')
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  const file = join(dataDir, databaseFile)
  createSqlite(file)
  migrateSqlite(file)
  return openSqlite(file)
}

/** The database was migrated by a newer version of the program. */
export class NewerSchemaError extends Error {
  constructor(found: number, known: number) {
    super(
      `The database has schema ${found}, but this program supports schema ${known}. ` +
        'Run the newer version, or restore the backup from before its migration.',
    )
  }
}

interface Migration {
  tag: string
  hash: string
  statements: string[]
}

interface Applied {
  tag: string
  hash: string
}

/** Key of the PostgreSQL advisory lock: any number that all replicas share. */
const advisoryLock = 7_221_105
const lockWaitMs = 10_000
const makeRecord =
  'create table if not exists schema_migrations ' +
  '(number integer primary key, tag text not null, hash text not null)'
const readRecord = 'select tag, hash from schema_migrations order by number'

/** Parent of the migration folders, in the repository and in the compiled binary. */
const top = Bun.isStandaloneExecutable ? import.meta.dir : join(import.meta.dir, '../../..')

function migrationsOf(kind: Engine['kind']): Migration[] {
  const folder = join(top, kind)
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return files.toSorted().map((name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    return {
      tag: basename(name, '.sql'),
      hash: sha256(text),
      // Most starts migrate nothing.
      get statements() {
        return text.split('--> statement-breakpoint')
      },
    }
  })
}

/** Returns the schema version of this program: its number of migrations. */
export const schemaVersion = (): number => migrationsOf(dialect).length

/** Returns the migrations to apply. Throws for a newer or a foreign history. */
function pendingMigrations(all: Migration[], applied: Applied[]): Migration[] {
  if (applied.length > all.length) throw new NewerSchemaError(applied.length, all.length)
  for (const [index, { tag, hash }] of applied.entries()) {
    if (all[index]?.hash === hash) continue
    throw new Error(
      `Migration ${tag} of this database differs from this program's. Use the program that created it.`,
    )
  }
  return all.slice(applied.length)
}

/** An empty database with all migrations, which scripts/build adds to the binary. */
const emptyDatabase = join(top, 'sqlite/empty.zst')

/**
 * Creates a SQLite file from the empty database of the binary, where neither is missing. Running
 * all migrations instead takes a third of the CPU time of a first start.
 */
export function createSqlite(path: string, empty = emptyDatabase): void {
  if (existsSync(path) || !existsSync(empty)) return
  const part = `${path}.${process.pid}.part`
  try {
    writeFileSync(part, Bun.zstdDecompressSync(readFileSync(empty)), { mode: 0o600 })
    sync(part)
    // Another process may have created the file meanwhile: a rename would replace it.
    linkSync(part, path)
    sync(dirname(path))
  } catch {
    // The file exists now, the disk is full or has no links: the migrations do or say the rest.
  }
  rmSync(part, { force: true })
}

function sync(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}

/**
 * Migrates a SQLite file to this program's schema in one transaction. Creates the file if it does
 * not exist. Before it changes an older schema, it keeps a copy such as berth.sqlite.schema-1.
 */
export function migrateSqlite(path: string, all = migrationsOf('sqlite')): void {
  const database = new Database(path, { create: true, readwrite: true })
  try {
    database.run(`pragma busy_timeout = ${lockWaitMs}`)
    const known = database
      .query("select 1 from sqlite_schema where name = 'schema_migrations'")
      .get()
    const applied = known ? database.query<Applied, []>(readRecord).all() : []
    if (pendingMigrations(all, applied).length === 0) return
    if (applied.length > 0) copyDatabase(database, `${path}.schema-${applied.length}`)
    database.run('pragma journal_mode = wal')
    // A migration may drop and recreate a table; foreign keys would delete the referring rows.
    database.run('pragma foreign_keys = off')
    database.transaction(() => applySqlite(database, all)).immediate()
  } finally {
    database.close()
  }
}

function applySqlite(database: Database, all: Migration[]): void {
  database.run(makeRecord)
  for (const { tag, hash, statements } of pendingMigrations(
    all,
    database.query<Applied, []>(readRecord).all(),
  )) {
    for (const statement of statements) database.run(statement)
    database.run('insert into schema_migrations (tag, hash) values (?, ?)', [tag, hash])
  }
  const [broken] = database.query('pragma foreign_key_check').values()
  if (broken)
    throw new Error(`A migration would leave rows of "${broken[0]}" without their parent row.`)
}

/** Migrates a PostgreSQL database. Replicas may call it at the same time. */
export async function migratePostgres(url: string, all = migrationsOf('postgres')): Promise<void> {
  const sql = new Bun.SQL(url, { max: 1 })
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(${advisoryLock})`
      await tx.unsafe(makeRecord)
      const applied: Applied[] = await tx.unsafe(readRecord)
      for (const [index, { tag, hash, statements }] of pendingMigrations(all, applied).entries()) {
        for (const statement of statements) await tx.unsafe(statement)
        const number = applied.length + index + 1
        await tx`insert into schema_migrations values (${number}, ${tag}, ${hash})`
      }
    })
  } finally {
    await sql.end()
  }
}
