import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { TaskLimitError, WorkerPool } from '../../kernel/worker-pool.ts'
import { inProcess, type TaskLimits } from '../../kernel/worker-process.ts'
import { packBounds, unzip, type ZipBounds, type ZipResult } from './unzip.ts'
import type { ZipRequest } from './unzip.worker.ts'

/** A zip within both limits is read in the server: unpacking stops at what its directory claims. */
const inlineZipBytesMax = 256 * 1_024
const inlineUnpackedBytesMax = 1_048_576

/** A zip of 12 MB with 24 MB of files, the most of any caller, needs less than 144 MB. */
const taskLimits: TaskLimits = { cpuMs: 5_000, memoryBytes: 192 * 1_048_576 }
const poolBounds = {
  slots: 3,
  waitingMax: 32,
  waitingBytesMax: 128 * 1_048_576,
  largeBytes: 2 * 1_048_576,
  // The limit of CPU time ends a task that hangs. This one is for a machine that hangs.
  taskMs: 30_000,
  idleMs: 20_000,
}

/**
 * Reads zips that clients send: small ones at once, others in processes of their own, which end
 * when a zip takes too much time or memory.
 */
export class ZipReader {
  private readonly pool: WorkerPool<ZipRequest, ZipResult>

  constructor(limits: Partial<TaskLimits> = {}) {
    const file = 'apps/folders/unzip.worker.ts'
    this.pool = new WorkerPool(inProcess({ file, ...taskLimits, ...limits }), poolBounds)
  }

  /** Reads a zip within bounds, by default those of a pack. Throws `try_again`. */
  async read(zip: Uint8Array, bounds = packBounds): Promise<ZipResult> {
    if (zip.byteLength <= inlineZipBytesMax) {
      const bytesMax = Math.min(bounds.bytesMax, inlineUnpackedBytesMax)
      const found = await unzip(zip, { ...bounds, bytesMax })
      if (!('tooLarge' in found) || found.tooLarge > bounds.bytesMax) return found
    }
    return this.readInProcess(zip, bounds)
  }

  close(): void {
    this.pool.close()
  }

  private async readInProcess(zip: Uint8Array, bounds: ZipBounds): Promise<ZipResult> {
    try {
      return await this.pool.run(zip.byteLength, () => ({ bytes: new Uint8Array(zip), bounds }))
    } catch (error) {
      if (error instanceof TaskLimitError) {
        return { reasons: [`the zip cannot be read: ${error.message}. Send a smaller one.`] }
      }
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `The zip was not read: ${error.message}.` })
    }
  }
}

/** Reads the zips of all requests. Its processes end when they are idle. */
export const zipReader = new ZipReader()
