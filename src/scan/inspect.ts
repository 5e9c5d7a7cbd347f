import { PoolBusyError, WorkerPool } from '../core/worker-pool.ts'
import { ApiError } from '../errors.ts'
import type { Inspection, OwnBytes } from './inspection.ts'

/** Pages up to this size take well under 20 ms and are scanned on the main thread. */
const inlineBytesMax = 24 * 1_024
const bounds = {
  workersMax: 2,
  queueMax: 64,
  /** Queued pages of one maker, so that makers share the queue. */
  ofMakerMax: 8,
  queueBytesMax: 128 * 1_024 * 1_024,
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
  /** Number of queued and running scans by maker. */
  private readonly inHand = new Map<string, number>()
  private readonly ofMakerMax: number

  constructor(limits: Partial<typeof bounds> = {}, start = startWorker) {
    const { ofMakerMax, ...poolBounds } = { ...bounds, ...limits }
    this.ofMakerMax = ofMakerMax
    this.pool = new WorkerPool(start, poolBounds)
  }

  /** Scans a page of at most 4 MB. Throws `try_again` when the queue is full or a worker fails. */
  async inspect(page: string | Uint8Array, maker?: string): Promise<Inspection> {
    const bytes = typeof page === 'string' ? new TextEncoder().encode(page) : new Uint8Array(page)
    if (bytes.byteLength <= inlineBytesMax) {
      // Load the tokenizers with the first page, not at start.
      const { inspectSmall } = await import('./inspection.ts')
      const inspection = inspectSmall(bytes, inlineBytesMax)
      if (inspection) return inspection
    }
    return this.among(maker, () => this.pool.run(bytes, [bytes.buffer])).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', {
        why: `The page could not be scanned: ${error.message}.`,
      })
    })
  }

  private async among<T>(maker: string | undefined, work: () => Promise<T>): Promise<T> {
    if (maker === undefined) return work()
    const before = this.inHand.get(maker) ?? 0
    if (before >= this.ofMakerMax)
      throw new PoolBusyError('too many pages of this maker are queued')
    this.inHand.set(maker, before + 1)
    return work().finally(() => {
      const left = (this.inHand.get(maker) ?? 1) - 1
      if (left > 0) this.inHand.set(maker, left)
      else this.inHand.delete(maker)
    })
  }

  /** Ends all workers. Unfinished scans throw `try_again`. */
  close(): void {
    this.pool.close()
  }
}
