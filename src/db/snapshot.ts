import { join } from 'node:path'

import type { Engine } from './engine.ts'

/** In the compiled binary, `import.meta.dir` is the program's folder for every module. */
const workerFile = join(
  import.meta.dir,
  Bun.isStandaloneExecutable ? 'db/snapshot.worker.ts' : 'snapshot.worker.ts',
)

/**
 * Writes a consistent, durable copy of a live SQLite database to `toFile`, replacing any file
 * there. A worker thread with its own connection does it, so readers and writers do not wait.
 * Throws on PostgreSQL, which has pg_dump.
 */
export async function snapshot(engine: Engine, toFile: string): Promise<void> {
  if (!engine.file)
    throw new Error('Only a SQLite database can be copied. Use pg_dump for PostgreSQL.')
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
