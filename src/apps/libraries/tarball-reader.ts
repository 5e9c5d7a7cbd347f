import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { inProcess, type TaskLimits, WorkerPool } from '../../kernel/worker-pool.ts'
import { BusyError, TarballError, type UnpackedLibrary } from './tarball.ts'
import type { TarballResult } from './tarball.worker.ts'

const mb = 1_048_576
/** Unpacking stops at 256 MB (tarball.ts), which are there as files once more. */
const limits = { file: 'apps/libraries/tarball.worker.ts', cpuMs: 5_000, memoryBytes: 768 * mb }
const bounds = {
  slots: 2,
  waitingMax: 32,
  waitingBytesMax: 128 * mb,
  // Each may use much memory. Two clients have one each, also where both fetch large packages.
  largeBytes: Infinity,
  heavyMs: Infinity,
  // The limit of CPU time ends a task that hangs. This one is for a machine that hangs.
  taskMs: 300_000,
  idleMs: 20_000,
}

/**
 * Reads the tarballs of packages that pages name, in a process of its own, which ends when one
 * takes too much time or memory.
 */
export class TarballReader {
  private readonly pool: WorkerPool<Uint8Array, TarballResult>

  constructor(given: Partial<TaskLimits> = {}) {
    this.pool = new WorkerPool(inProcess({ ...limits, ...given }), bounds)
  }

  /** Reads a tarball. Throws TarballError. */
  async read(packed: Uint8Array): Promise<UnpackedLibrary> {
    const create = () => new Uint8Array(packed)
    const result = await this.pool.run(packed.byteLength, create).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new BusyError(`The tarball was not read: ${error.message}.`)
    })
    if ('invalid' in result) throw new TarballError(result.invalid)
    return result
  }

  close(): void {
    this.pool.close()
  }
}

/** Its process ends when it is idle. */
export const tarballReader = new TarballReader()
