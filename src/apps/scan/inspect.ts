import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import {
  inProcess,
  inThread,
  TaskLimitError,
  type TaskLimits,
  TaskTimeError,
  workerAt,
  WorkerPool,
} from '../../kernel/worker-pool.ts'
import type { Inspection, OwnBytes } from './inspection.ts'

/** Pages up to this size take well under 20 ms and are scanned on the main thread. */
const inlineBytesMax = 24 * 1_024
/**
 * Larger pages are scanned in processes with limits of their own: a thread that scans a page of
 * 600 KB grows the server by 170 MB, one of 128 KB by 80 MB.
 */
const threadBytesMax = 131_072
const bounds = {
  slots: 3,
  waitingMax: 64,
  waitingBytesMax: 128 * 1_048_576,
  largeBytes: 65_536,
  taskMs: 10_000,
  idleMs: 10_000,
}
/** A script of 22 MB took 27 s of a slow processor in the binary, and data in one 860 MB. */
const taskLimits: TaskLimits = { cpuMs: 60_000, memoryBytes: 1_024 * 1_048_576 }
/**
 * Pages over 1 MB, and those of clients that worked much, leave a process to the others. CPU time
 * ends a task that hangs, and `taskMs` one on a machine that hangs.
 */
const processBounds = {
  ...bounds,
  largeBytes: 1_048_576,
  taskMs: 300_000,
  idleMs: 20_000,
}

const file = 'apps/scan/inspect.worker.ts'

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Runs the safety check in workers. */
    readonly inspector: Inspector
  }
}

/**
 * Scans pages before they are stored: small ones at once, large ones in a pool of workers, so that
 * the event loop is never blocked for 20 ms.
 */
export class Inspector {
  private readonly threads: WorkerPool<OwnBytes, Inspection>
  private readonly processes: WorkerPool<OwnBytes, Inspection>

  constructor(limits: Partial<typeof bounds & TaskLimits> = {}, start = workerAt(file)) {
    this.threads = new WorkerPool(inThread(start), { ...bounds, ...limits })
    const hosted = inProcess<Inspection>({ file, ...taskLimits, ...limits })
    this.processes = new WorkerPool(hosted, processBounds)
  }

  /**
   * Scans a page, or a file of its folder, which `path` names. Throws `blocked_by_scan` for one
   * that takes too much time or memory, and `try_again` when the queue is full or a worker fails.
   */
  async inspect(page: string | Uint8Array, path = 'The page'): Promise<Inspection> {
    const bytes = typeof page === 'string' ? new TextEncoder().encode(page) : page
    if (bytes.byteLength <= inlineBytesMax) {
      // Load the tokenizers with the first page, not at start.
      const { inspectSmall } = await import('./inspection.ts')
      const inspection = inspectSmall(new Uint8Array(bytes), inlineBytesMax)
      if (inspection) return inspection
    }
    const create = () => new Uint8Array(bytes)
    const scanInProcess = () => this.processes.run(bytes.byteLength, create)
    const isSmall = bytes.byteLength <= threadBytesMax
    const inspecting = isSmall
      ? this.threads.run(bytes.byteLength, create).catch((error: unknown) => {
          // A thread has a limit of time alone, which a busy machine exceeds without a reason.
          if (error instanceof TaskTimeError) return scanInProcess()
          throw error
        })
      : scanInProcess()
    return inspecting.catch((error: unknown) => {
      if (error instanceof TaskLimitError) {
        const reason = `${path} cannot be checked: ${error.message}. Simplify its scripts.`
        throw new ApiError('blocked_by_scan', { reasons: [reason] })
      }
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', {
        why: `The page could not be scanned: ${error.message}.`,
      })
    })
  }

  /** Ends all workers. Unfinished scans throw `try_again`. */
  close(): void {
    this.threads.close()
    this.processes.close()
  }
}
