import { WorkerPool, PoolBusyError } from '../core/worker-pool.ts'
import { ApiError } from '../errors.ts'
import type { Made, Painted, Wanted } from './generate.ts'

const bounds = {
  workersMax: 1,
  queueMax: 256,
  queueBytesMax: 256 * 1_048_576,
  taskMs: 30_000,
  idleMs: 20_000,
}

/** Beside this file, or below the root of the compiled binary, where this file is part of main. */
const workerFile = import.meta.url.endsWith('/generators/generators.ts')
  ? './generate.worker.ts'
  : './generators/generate.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/** The embedded makers, in a worker: what they make takes the event loop no time. */
export class Generators {
  private readonly pool: WorkerPool<Wanted | Painted, Made>

  constructor(start = startWorker) {
    this.pool = new WorkerPool(start, bounds)
  }

  /**
   * Makes one file (see `make`); a painted picture is given away to its worker. Refuses with
   * try_again when it cannot be done now.
   */
  async make(wanted: Wanted | Painted): Promise<Made> {
    const given = wanted.kind === 'painted' ? [wanted.bytes.buffer] : []
    return this.pool.run(wanted, given).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `It could not be made: ${error.message}.` })
    })
  }

  close(): void {
    this.pool.close()
  }
}
