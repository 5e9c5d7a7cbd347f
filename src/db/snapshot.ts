import { join } from 'node:path'

import type { Engine } from './engine.ts'

/** Inside the compiled binary every module has the program's own folder as its folder. */
const workerFile = join(
  import.meta.dir,
  Bun.isStandaloneExecutable ? 'db/snapshot-worker.ts' : 'snapshot-worker.ts',
)

/**
 * Writes a consistent, durable copy of a live SQLite database to `toFile`, replacing what is there.
 * A thread of its own does it, with a connection of its own: nobody waits, readers nor writers.
 * PostgreSQL has pg_dump for this, so it is refused there.
 */
export async function snapshot(engine: Engine, toFile: string): Promise<void> {
  if (!engine.file) throw new Error('Only a SQLite file can be copied; use pg_dump for PostgreSQL.')
  const worker = new Worker(workerFile)
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
