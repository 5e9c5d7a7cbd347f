import { Database } from 'bun:sqlite'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { drizzle } from 'drizzle-orm/bun-sqlite'

import { newId } from '../core/ids.ts'
import { seenAs } from './columns.ts'
import { Connection, Statements } from './connection.ts'
import type { Db, Engine } from './engine.ts'
import { type Patience, Writer } from './writer.ts'

/** Reading under WAL waits for nobody but a recovery; then at most this long. */
const readWaitMs = 100
/** While opening nothing else runs yet. Later the writer never waits inside SQLite: Writer does. */
const openWaitMs = 2_000
/** 16 MB: a page that changes in every commit goes to the database once for many of them. */
const walPages = 4_096
const walBytesMax = 64 * 1024 * 1024
/** What a busy house writes again and again is not read again; a quiet one has less. */
const writerCacheKiB = 8 * 1024
/** Searches and lists among 100,000 items come back to 30 MB of index pages. */
const readerCacheKiB = 32 * 1024

const dbOver = (lane: Connection): Db => seenAs<Db>(drizzle(seenAs<Database>(lane)))

function connect(
  path: string,
  synchronous: 'full' | 'off',
): [writer: Statements, reader: Statements] {
  const writer = new Database(path, { create: true, readwrite: true, safeIntegers: true })
  writer.run(`pragma busy_timeout = ${openWaitMs}`)
  writer.run('pragma journal_mode = wal')
  writer.run(`pragma synchronous = ${synchronous}`)
  writer.run('pragma foreign_keys = on')
  writer.run(`pragma journal_size_limit = ${walBytesMax}`)
  writer.run(`pragma wal_autocheckpoint = ${walPages}`)
  writer.run(`pragma cache_size = -${writerCacheKiB}`)
  // What a savepoint keeps to undo its unit: in a file it was written twice for every page.
  writer.run('pragma temp_store = memory')
  writer.run('pragma busy_timeout = 0')
  const reader = new Database(path, { readonly: true, safeIntegers: true })
  reader.run(`pragma busy_timeout = ${readWaitMs}`)
  reader.run(`pragma cache_size = -${readerCacheKiB}`)
  return [new Statements(writer), new Statements(reader)]
}

function engineOver(
  file: string,
  [writing, reading]: [Statements, Statements],
  patience?: Patience,
): Engine {
  const writer = new Writer(writing, dbOver, patience)
  return {
    kind: 'sqlite',
    file,
    read: dbOver(new Connection(reading)),
    tx: (work) => writer.tx(work),
    commits: () => writer.commits,
    ping: async () => void reading.get('select 1').values(),
    close: async () => {
      await writer.close()
      reading.close()
      writing.close()
    },
  }
}

/** Opens (or makes) a database file: WAL, every commit durable, reads on their own connection. */
export async function openSqlite(path: string, patience?: Patience): Promise<Engine> {
  return engineOver(path, connect(path, 'full'), patience)
}

/** Opens a finished copy to read it; nothing in it, or beside it, changes. */
export function openCopy(path: string): Engine {
  const reading = new Statements(new Database(path, { readonly: true, safeIntegers: true }))
  return {
    kind: 'sqlite',
    file: path,
    read: dbOver(new Connection(reading)),
    tx: () => Promise.reject(new Error('A copy is only read.')),
    commits: () => 0,
    ping: async () => void reading.get('select 1').values(),
    close: async () => reading.close(),
  }
}

/**
 * A database for one process and as long as it runs, beginning as `image` (the bytes of a
 * database file) or empty. It is a real WAL database, so that it behaves like the lasting one; its
 * files lose their names at once, so that nothing is left behind.
 */
export async function openTemporary(image?: Uint8Array): Promise<Engine> {
  const path = join(tmpdir(), `berth-${newId()}.sqlite`)
  if (image) await Bun.write(path, image)
  const connections = connect(path, 'off')
  connections[1].get('select count(*) from sqlite_schema').values()
  for (const end of ['', '-wal', '-shm']) rmSync(path + end, { force: true })
  return engineOver(path, connections)
}
