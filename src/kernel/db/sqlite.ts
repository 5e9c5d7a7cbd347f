import { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { drizzle } from 'drizzle-orm/bun-sqlite'

import { newId } from '../ids.ts'
import { workerAt } from '../worker-pool.ts'
import { castTo } from './columns.ts'
import { Connection, Statements } from './connection.ts'
import type { Db, Engine } from './engine.ts'
import { Writer, type WriterTimeouts } from './writer.ts'

/** A WAL reader waits only for a recovery. */
const readWaitMs = 100
/** Applies only while opening. Later, Writer waits for the lock outside SQLite. */
const openWaitMs = 2_000
/** 16 MB: a page that changes in every commit is checkpointed once for many commits. */
const walPages = 4_096
const walBytesMax = 64 * 1024 * 1024
/** Holds the pages that a busy server writes repeatedly. */
const writerCacheKiB = 8 * 1024
/** Searches and lists over 100,000 items use 30 MB of index pages. */
const readerCacheKiB = 32 * 1024

const createDrizzle = (connection: Connection): Db =>
  castTo<Db>(drizzle(castTo<Database>(connection)))

function connect(
  path: string,
  synchronous: 'full' | 'off',
  onRun?: (text: string) => void,
): [writer: Statements, reader: Statements] {
  const writer = new Database(path, { create: true, readwrite: true, safeIntegers: true })
  writer.run(`pragma busy_timeout = ${openWaitMs}`)
  writer.run('pragma journal_mode = wal')
  writer.run(`pragma synchronous = ${synchronous}`)
  writer.run('pragma foreign_keys = on')
  writer.run(`pragma journal_size_limit = ${walBytesMax}`)
  writer.run(`pragma wal_autocheckpoint = ${walPages}`)
  writer.run(`pragma cache_size = -${writerCacheKiB}`)
  // Savepoint journals in memory: in a file, every page was written twice.
  writer.run('pragma temp_store = memory')
  writer.run('pragma busy_timeout = 0')
  const reader = new Database(path, { readonly: true, safeIntegers: true })
  reader.run(`pragma busy_timeout = ${readWaitMs}`)
  reader.run(`pragma cache_size = -${readerCacheKiB}`)
  return [new Statements(writer, onRun), new Statements(reader, onRun)]
}

function engineOver(
  file: string,
  [writing, reading]: [Statements, Statements],
  timeouts?: WriterTimeouts,
): Engine {
  const writer = new Writer(writing, createDrizzle, timeouts)
  return {
    kind: 'sqlite',
    file,
    read: createDrizzle(new Connection(reading)),
    tx: (work, isSoft) => writer.tx(work, isSoft),
    commits: () => writer.commits,
    ping: async () => void reading.get('select 1').values(),
    close: async () => {
      await writer.close()
      reading.close()
      writing.close()
    },
  }
}

/** Opens or creates a database file: WAL, durable commits, a separate read connection. */
export async function openSqlite(path: string, timeouts?: WriterTimeouts): Promise<Engine> {
  return engineOver(path, connect(path, 'full'), timeouts)
}

/** Opens a finished copy read-only, without changing any file. */
export function openCopy(path: string): Engine {
  const reading = new Statements(new Database(path, { readonly: true, safeIntegers: true }))
  return {
    kind: 'sqlite',
    file: path,
    read: createDrizzle(new Connection(reading)),
    tx: () => Promise.reject(new Error('A copy is read-only.')),
    commits: () => 0,
    ping: async () => void reading.get('select 1').values(),
    close: async () => reading.close(),
  }
}

/**
 * Opens a database for the life of this process, from `image` (the bytes of a database file) or
 * empty. It is a real WAL database, so it behaves like a lasting one. Its files are unlinked at
 * once. `onRun` observes the statements.
 */
export async function openTemporary(
  image?: Uint8Array,
  onRun?: (text: string) => void,
): Promise<Engine> {
  const path = join(tmpdir(), `berth-${newId()}.sqlite`)
  if (image) await Bun.write(path, image)
  const connections = connect(path, 'off', onRun)
  connections[1].get('select count(*) from sqlite_schema').values()
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  return engineOver(path, connections)
}

/**
 * Writes a consistent, durable copy of a live SQLite database to `toFile`, replacing any file
 * there. A worker thread with its own connection does it, so readers and writers do not wait.
 * Throws on PostgreSQL, which has pg_dump.
 */
export async function snapshot(engine: Engine, toFile: string): Promise<void> {
  if (!engine.file)
    throw new Error('Only a SQLite database can be copied. Use pg_dump for PostgreSQL.')
  const worker = workerAt('kernel/db/snapshot.worker.ts')()
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  worker.onmessage = (event: MessageEvent<string>) =>
    event.data ? reject(new Error(event.data)) : resolve()
  worker.onerror = (event) => reject(new Error(event.message))
  worker.postMessage({ file: engine.file, toFile })
  try {
    await promise
  } finally {
    worker.terminate()
  }
}

/** Throws an Error that names the damage when a file is not an intact SQLite database. */
export function checkIntegrity(path: string): void {
  const damaged = (what: string): Error => new Error(`The database ${path} is damaged: ${what}.`)
  const database = new Database(path, { readonly: true })
  try {
    const [first] = database
      .query<{ integrity_check: string }, []>('pragma integrity_check(1)')
      .all()
    if (first?.integrity_check !== 'ok') throw damaged(first?.integrity_check ?? 'it is empty')
    const [orphan] = database.query('pragma foreign_key_check').values()
    if (orphan) throw damaged(`a row of "${orphan[0]}" refers to a missing row`)
  } catch (error) {
    const notADatabase = error instanceof Error && 'code' in error
    throw notADatabase ? damaged(error.message) : error
  } finally {
    database.close()
  }
}
