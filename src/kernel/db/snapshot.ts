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
