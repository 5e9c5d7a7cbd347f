import { PoolBusyError } from '../core/fair-queue.ts'
import { WorkerPool } from '../core/worker-pool.ts'
import { ApiError } from '../errors.ts'
import type { AnyRequest, GeneratedFile } from './generate.ts'

const bounds = {
  slots: 2,
  slotsPerClient: 1,
  waitingMax: 256,
  waitingBytesMax: 128 * 1_048_576,
  largeBytes: 1_048_576,
  taskMs: 30_000,
  idleMs: 20_000,
}

/**
 * Path of the worker in the sources, or in the compiled binary, where this file is part of main.
 */
const workerFile = import.meta.url.endsWith('/generators/generators.ts')
  ? './generate.worker.ts'
  : './generators/generate.worker.ts'

const startWorker = (): Worker => new Worker(new URL(workerFile, import.meta.url))

/** The embedded generators, in a worker thread so that they do not block the event loop. */
export class Generators {
  private readonly pool: WorkerPool<AnyRequest, GeneratedFile>

  constructor(start = startWorker) {
    this.pool = new WorkerPool(start, bounds)
  }

  /**
   * Generates one file (see generate.ts). Transfers a model's image to the worker. Throws
   * `try_again` when the queue is full or the worker fails.
   */
  async generate(request: AnyRequest): Promise<GeneratedFile> {
    const given = request.kind === 'painted' ? [request.bytes.buffer] : []
    return this.pool.run(request, given).catch((error: unknown) => {
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `The file could not be generated: ${error.message}.` })
    })
  }

  close(): void {
    this.pool.close()
  }
}
