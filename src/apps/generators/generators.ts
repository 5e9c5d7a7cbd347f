import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import {
  inProcess,
  inThread,
  TaskLimitError,
  type TaskLimits,
  workerAt,
  WorkerPool,
} from '../../kernel/worker-pool.ts'
import type { AnyRequest, GeneratedFile, ResizeRequest } from './generate.ts'

const bounds = {
  slots: 3,
  waitingMax: 256,
  waitingBytesMax: 128 * 1_048_576,
  largeBytes: 1_048_576,
  taskMs: 30_000,
  idleMs: 20_000,
}

/** Images with more pixels are resized in processes with limits of their own. */
const threadPixelsMax = 4_000_000
const taskLimits: TaskLimits = { cpuMs: 10_000, memoryBytes: 768 * 1_048_576 }
/** Each may use much memory. Two clients have one each, also where both send large images. */
const processBounds = {
  ...bounds,
  slots: 2,
  largeBytes: Infinity,
  heavyMs: Infinity,
  taskMs: 60_000,
}

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** Generates assets without a model, in workers. */
    readonly generators: Generators
  }
}

/**
 * The embedded generators, in a worker thread so that they do not block the event loop. Large
 * images of models and clients are resized in a process of their own.
 */
export class Generators {
  private readonly threads: WorkerPool<AnyRequest, GeneratedFile>
  private readonly processes: WorkerPool<ResizeRequest, GeneratedFile>

  constructor() {
    const file = 'apps/generators/generate.worker.ts'
    this.threads = new WorkerPool(inThread(workerAt(file)), bounds)
    const hosted = inProcess<GeneratedFile>({ file, ...taskLimits })
    this.processes = new WorkerPool(hosted, processBounds)
  }

  /**
   * Generates one file (see generate.ts). Transfers a model's image to the worker. Throws
   * `try_again` when the queue is full or the worker fails.
   */
  async generate(request: AnyRequest): Promise<GeneratedFile> {
    return this.run(request).catch((error: unknown) => {
      if (error instanceof TaskLimitError) throw new Error(error.message)
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `The file could not be generated: ${error.message}.` })
    })
  }

  private async run(request: AnyRequest): Promise<GeneratedFile> {
    if (request.kind !== 'painted') return this.threads.run(0, () => request)
    const { byteLength } = request.bytes
    const { width, height } = await new Bun.Image(request.bytes).metadata()
    return width * height <= threadPixelsMax
      ? this.threads.run(byteLength, () => request, [request.bytes.buffer])
      : this.processes.run(byteLength, () => request)
  }

  close(): void {
    this.threads.close()
    this.processes.close()
  }
}
