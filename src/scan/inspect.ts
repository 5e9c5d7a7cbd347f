import { PoolBusyError } from '../core/fair-queue.ts'
import { WorkerPool } from '../core/worker-pool.ts'
import { ApiError } from '../errors.ts'
import type { Inspection, OwnBytes } from './inspection.ts'

/** Pages up to this size take well under 20 ms and are scanned on the main thread. */
const inlineBytesMax = 24 * 1_024
const bounds = {
  slots: 2,
  waitingMax: 64,
  waitingBytesMax: 64 * 1_048_576,
  largeBytes: 1_048_576,
  taskMs: 10_000,
  idleMs: 10_000,
}

/**
 * Path of the worker in the sources, or in the compiled binary, where this file is part of main.
 */
const workerFile = import.meta.url.endsWith('/scan/inspect.ts')
  ? './inspect.worker.ts'
  : './scan/inspect.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/**
 * Scans pages before they are stored: small ones at once, large ones in a pool of workers, so that
 * the event loop is never blocked for 20 ms.
 */
export class Inspector {
  private readonly pool: WorkerPool<OwnBytes, Inspection>

  constructor(limits: Partial<typeof bounds> = {}, start = startWorker) {
    this.pool = new WorkerPool(start, { ...bounds, ...limits })
  }

  /** Scans a page of at most 4 MB. Throws `try_again` when the queue is full or a worker fails. */
  async inspect(page: string | Uint8Array): Promise<Inspection> {
    const bytes = typeof page === 'string' ? new TextEncoder().encode(page) : new Uint8Array(page)
    if (bytes.byteLength <= inlineBytesMax) {
      // Load the tokenizers with the first page, not at start.
      const { inspectSmall } = await import('./inspection.ts')
      const inspection = inspectSmall(bytes, inlineBytesMax)
      if (inspection) return inspection
    }
    return this.pool.run(bytes, [bytes.buffer]).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', {
        why: `The page could not be scanned: ${error.message}.`,
      })
    })
  }

  /** Ends all workers. Unfinished scans throw `try_again`. */
  close(): void {
    this.pool.close()
  }
}
