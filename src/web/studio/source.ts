import { PoolBusyError, WorkerPool } from '../../core/worker-pool.ts'
import { ApiError } from '../../errors.ts'
import type { Diff } from './diff.ts'
import type { SourceLine, SourcePosition } from './excerpts.ts'

/** What the worker is asked: to compare two pages, or for places of one. */
export type SourceTask =
  { before: Uint8Array; after: Uint8Array } | { page: Uint8Array; places: SourcePosition[] }

export type SourceResult = { difference: Diff | undefined } | { excerpts: SourceLine[][] }

const bounds = {
  workersMax: 1,
  queueMax: 16,
  queueBytesMax: 64 * 1_048_576,
  taskMs: 10_000,
  idleMs: 10_000,
}

/** Beside this file, or below the root of the compiled binary, where this file is part of main. */
const workerFile = import.meta.url.endsWith('/web/studio/source.ts')
  ? './source.worker.ts'
  : './web/studio/source.worker.ts'

/** Pages of 4 MB are read here, where they hold nobody up. */
const workers = new WorkerPool<SourceTask, SourceResult>(
  () => new Worker(new URL(workerFile, import.meta.url)),
  bounds,
)

function runTask(asked: SourceTask, ...pages: Uint8Array<ArrayBuffer>[]): Promise<SourceResult> {
  const req = pages.map(({ buffer }) => buffer)
  return workers.run(asked, req).catch((error: unknown) => {
    if (!(error instanceof PoolBusyError)) throw error
    throw new ApiError('try_again', { why: `the pages could not be read: ${error.message}` })
  })
}

/** What differs between two pages; undefined where that is too much. Refuses try_again. */
export async function comparePages(
  before: Uint8Array,
  after: Uint8Array,
): Promise<Diff | undefined> {
  const [one, other] = [new Uint8Array(before), new Uint8Array(after)]
  const told = await runTask({ before: one, after: other }, one, other)
  return 'difference' in told ? told.difference : undefined
}

/** The lines around each of these places. Refuses try_again. */
export async function readExcerpts(
  page: Uint8Array,
  places: SourcePosition[],
): Promise<SourceLine[][]> {
  const req = new Uint8Array(page)
  const told = await runTask({ page: req, places }, req)
  return 'excerpts' in told ? told.excerpts : []
}
