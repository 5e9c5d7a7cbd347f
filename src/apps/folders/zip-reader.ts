import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { inProcess, TaskLimitError, type TaskLimits, WorkerPool } from '../../kernel/worker-pool.ts'
import {
  type InputFile,
  packBounds,
  type PackedFile,
  planZip,
  unpackFiles,
  withoutTopFolder,
  type ZipResult,
} from './unzip.ts'

/** A zip within both limits is read in the server: unpacking stops at what its directory claims. */
const inlineZipBytesMax = 256 * 1_024
const inlineUnpackedBytesMax = 1_048_576
/**
 * A task has files of so many bytes, packed and unpacked, or one larger file. So a large zip shares
 * the processes with others, and needs no more memory than its largest file.
 */
const taskBytesMax = 16 * 1_048_576

/** A file of 64 MB, the most that a setting allows, is there several times on its way. */
const taskLimits: TaskLimits = { cpuMs: 5_000, memoryBytes: 768 * 1_048_576 }
const poolBounds = {
  slots: 3,
  waitingMax: 32,
  waitingBytesMax: 128 * 1_048_576,
  largeBytes: 2 * 1_048_576,
  // The limit of CPU time ends a task that hangs. This one is for a machine that hangs: one with 40
  // other programs took more than a minute for 16 MB.
  taskMs: 300_000,
  idleMs: 20_000,
}

/**
 * Reads zips that clients send: small ones at once, others in processes of their own, which end
 * when a zip takes too much time or memory.
 */
export class ZipReader {
  private readonly pool: WorkerPool<PackedFile[], Unpacked>

  constructor(limits: Partial<TaskLimits> = {}) {
    const file = 'apps/folders/unzip.worker.ts'
    this.pool = new WorkerPool(inProcess({ file, ...taskLimits, ...limits }), poolBounds)
  }

  /** Reads a zip within bounds, by default those of a pack. Throws `try_again`. */
  async read(zip: Uint8Array, bounds = packBounds): Promise<ZipResult> {
    const plan = planZip(zip, bounds)
    if (!('packed' in plan)) return plan
    const size = plan.packed.reduce((sum, { bytes }) => sum + bytes, 0)
    const isSmall = zip.byteLength <= inlineZipBytesMax && size <= inlineUnpackedBytesMax
    const files: InputFile[] = []
    for (const some of isSmall ? [plan.packed] : tasksOf(plan.packed)) {
      const found = isSmall ? await unpackFiles(some) : await this.unpackInProcess(some)
      if ('reasons' in found) return found
      for (const file of found.files) files.push(file)
    }
    return { files: withoutTopFolder(files) }
  }

  close(): void {
    this.pool.close()
  }

  private async unpackInProcess(files: PackedFile[]): Promise<Unpacked> {
    // A view would take the whole zip with it.
    const task = () => files.map((file) => ({ ...file, packed: file.packed.slice() }))
    try {
      return await this.pool.run(sizeOf(files), task)
    } catch (error) {
      if (error instanceof TaskLimitError) {
        return { reasons: [`the zip cannot be read: ${error.message}. Send a smaller one.`] }
      }
      if (!(error instanceof PoolBusyError)) throw error
      throw new ApiError('try_again', { why: `The zip was not read: ${error.message}.` })
    }
  }
}

type Unpacked = Awaited<ReturnType<typeof unpackFiles>>

const sizeOf = (files: PackedFile[]): number =>
  files.reduce((sum, { packed, bytes }) => sum + packed.byteLength + bytes, 0)

/** Splits the files of a zip into tasks. */
function tasksOf(files: PackedFile[]): PackedFile[][] {
  const tasks: PackedFile[][] = [[]]
  let bytes = 0
  for (const file of files) {
    const more = sizeOf([file])
    if (bytes > 0 && bytes + more > taskBytesMax) {
      tasks.push([])
      bytes = 0
    }
    tasks.at(-1)?.push(file)
    bytes += more
  }
  return tasks
}

/** Reads the zips of all requests. Its processes end when they are idle. */
export const zipReader = new ZipReader()
