import { Database } from 'bun:sqlite'

import { workerAt } from '../worker-pool.ts'
import type { Engine } from './engine.ts'

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
