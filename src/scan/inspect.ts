import { WorkerPool, PoolBusyError } from '../core/worker-pool.ts'
import { ApiError } from '../errors.ts'
import type { Inspection, OwnBytes } from './inspection.ts'

/**
 * Pages up to this size take well under 20 ms and are looked at where they are, unless scripts in
 * them build more than that.
 */
const inlineBytesMax = 24 * 1_024
const bounds = {
  workersMax: 2,
  queueMax: 64,
  /** Of one maker, so that many at once leave room for others. */
  ofMakerMax: 8,
  queueBytesMax: 128 * 1_024 * 1_024,
  taskMs: 10_000,
  idleMs: 10_000,
}

/**
 * Where the worker's file is: beside this one, or below the root of the compiled binary, where
 * this file is part of main.
 */
const workerFile = import.meta.url.endsWith('/scan/inspect.ts')
  ? './inspect.worker.ts'
  : './scan/inspect.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/**
 * Looks at pages before they are kept: small ones at once, large ones in a small pool of workers,
 * so that the event loop never stands still for 20 ms.
 */
export class Inspector {
  private readonly pool: WorkerPool<OwnBytes, Inspection>
  /** How many pages of each maker wait or are looked at. */
  private readonly inHand = new Map<string, number>()
  private readonly ofMakerMax: number

  constructor(limits: Partial<typeof bounds> = {}, start = startWorker) {
    const { ofMakerMax, ...poolBounds } = { ...bounds, ...limits }
    this.ofMakerMax = ofMakerMax
    this.pool = new WorkerPool(start, poolBounds)
  }

  /**
   * Looks at a page of at most 4 MB, for its maker where it is one's own doing. Refuses with
   * try_again when it cannot be done now.
   */
  async inspect(page: string | Uint8Array, maker?: string): Promise<Inspection> {
    const bytes = typeof page === 'string' ? new TextEncoder().encode(page) : new Uint8Array(page)
    if (bytes.byteLength <= inlineBytesMax) {
      // The tokenisers are loaded with the first page, not with the house.
      const { inspectSmall } = await import('./inspection.ts')
      const looked = inspectSmall(bytes, inlineBytesMax)
      if (looked) return looked
    }
    return this.among(maker, () => this.pool.run(bytes, [bytes.buffer])).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', {
        why: `The page could not be looked at: ${error.message}.`,
      })
    })
  }

  private async among<T>(maker: string | undefined, work: () => Promise<T>): Promise<T> {
    if (maker === undefined) return work()
    const before = this.inHand.get(maker) ?? 0
    if (before >= this.ofMakerMax) throw new PoolBusyError('too many of its maker wait already')
    this.inHand.set(maker, before + 1)
    return work().finally(() => {
      const left = (this.inHand.get(maker) ?? 1) - 1
      if (left > 0) this.inHand.set(maker, left)
      else this.inHand.delete(maker)
    })
  }

  /** Ends all workers; what is not finished is refused with try_again. */
  close(): void {
    this.pool.close()
  }
}
