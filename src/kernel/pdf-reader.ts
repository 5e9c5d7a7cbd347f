import { ApiError } from './errors.ts'
import { PoolBusyError } from './fair-queue.ts'
import { pdfPagesMax } from './limits.ts'
import type { PdfRequest, PdfResult } from './pdf.worker.ts'
import { inProcess, TaskLimitError, type TaskLimits, WorkerPool } from './worker-pool.ts'

const charsMax = 4_000_000
const taskLimits: TaskLimits = { cpuMs: 10_000, memoryBytes: 384 * 1_048_576 }
const poolBounds = {
  slots: 3,
  waitingMax: 16,
  waitingBytesMax: 256 * 1_048_576,
  largeBytes: 2 * 1_048_576,
  // The limit of CPU time ends a task that hangs. This one is for a machine that hangs.
  taskMs: 60_000,
  idleMs: 20_000,
}

/**
 * Reads the text of PDFs in processes of their own, which end when a file takes too much time or
 * memory. Three are read at a time, of three clients.
 */
export class PdfReader {
  private readonly pool: WorkerPool<PdfRequest, PdfResult>

  constructor(limits: Partial<TaskLimits> = {}) {
    const file = 'kernel/pdf.worker.ts'
    this.pool = new WorkerPool(inProcess({ file, ...taskLimits, ...limits }), poolBounds)
  }

  /** Reads the text, or with `isCount` only the number of pages. Throws `try_again`. */
  async read(given: Uint8Array, isCount = false): Promise<PdfResult> {
    const limits = { pagesMax: pdfPagesMax, charsMax: isCount ? 0 : charsMax }
    try {
      return await this.pool.run(given.byteLength, () => ({
        bytes: new Uint8Array(given),
        ...limits,
      }))
    } catch (error) {
      if (error instanceof TaskLimitError) return { unreadable: error.message }
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `The PDF was not read: ${error.message}.` })
    }
  }

  close(): void {
    this.pool.close()
  }
}
