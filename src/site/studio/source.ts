import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { inThread, workerAt, WorkerPool } from '../../kernel/worker-pool.ts'
import type { Diff } from './diff.ts'
import type { SourceLine, SourcePosition } from './excerpts.ts'

/** A task for the worker: compare two pages, or read excerpts of one. */
export type SourceTask =
  { before: Uint8Array; after: Uint8Array } | { page: Uint8Array; places: SourcePosition[] }

export type SourceResult = { difference: Diff | undefined } | { excerpts: SourceLine[][] }

const bounds = {
  slots: 3,
  waitingMax: 16,
  waitingBytesMax: 64 * 1_048_576,
  largeBytes: 1_048_576,
  taskMs: 10_000,
  idleMs: 10_000,
}

/** Reads pages of up to 4 MB without blocking the event loop. */
const workers = new WorkerPool<SourceTask, SourceResult>(
  inThread(workerAt('site/studio/source.worker.ts')),
  bounds,
)

function runTask(bytes: number, create: () => SourceTask): Promise<SourceResult> {
  return workers.run(bytes, create).catch((error: unknown) => {
    if (!(error instanceof PoolBusyError)) throw error
    throw new ApiError('try_again', { why: `the pages could not be read: ${error.message}` })
  })
}

/** Compares two pages; undefined if they are too different. Throws `try_again`. */
export async function comparePages(
  before: Uint8Array,
  after: Uint8Array,
): Promise<Diff | undefined> {
  const result = await runTask(before.byteLength + after.byteLength, () => ({
    before: new Uint8Array(before),
    after: new Uint8Array(after),
  }))
  return 'difference' in result ? result.difference : undefined
}

/** Reads the lines around each position. Throws `try_again`. */
export async function readExcerpts(
  page: Uint8Array,
  places: SourcePosition[],
): Promise<SourceLine[][]> {
  const result = await runTask(page.byteLength, () => ({ page: new Uint8Array(page), places }))
  return 'excerpts' in result ? result.excerpts : []
}
