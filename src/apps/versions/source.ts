import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { inThread, workerAt, WorkerPool } from '../../kernel/worker-pool.ts'
import type { PatchConflict, PatchedFile } from './apply-patch.ts'
import type { Diff, SourceLine, SourcePosition, UnifiedDiff } from './diff.ts'

/** A task for the worker: compare two texts, read excerpts of one, or patch one. */
export type SourceTask =
  | { before: Uint8Array; after: Uint8Array; path?: string }
  | { page: Uint8Array; places: SourcePosition[] }
  | { file: PatchedFile }

export type SourceResult =
  | { difference: Diff | undefined }
  | { unified: UnifiedDiff | undefined }
  | { excerpts: SourceLine[][] }
  | { patched: string | PatchConflict }

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
  inThread(workerAt('apps/versions/source.worker.ts')),
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

/** Compares two files of this path; undefined if they are too different. Throws `try_again`. */
export async function compareFiles(
  path: string,
  before: Uint8Array,
  after: Uint8Array,
): Promise<UnifiedDiff | undefined> {
  const result = await runTask(before.byteLength + after.byteLength, () => ({
    path,
    before: new Uint8Array(before),
    after: new Uint8Array(after),
  }))
  return 'unified' in result ? result.unified : undefined
}

/** Returns the text of a patched file, or the change that does not fit. Throws `try_again`. */
export async function runPatch(file: PatchedFile): Promise<string | PatchConflict> {
  const result = await runTask(file.bytes.byteLength, () => ({
    file: { ...file, bytes: new Uint8Array(file.bytes) },
  }))
  if (!('patched' in result)) throw new Error('the worker returned no patched file')
  return result.patched
}

/** Reads the lines around each position. Throws `try_again`. */
export async function readExcerpts(
  page: Uint8Array,
  places: SourcePosition[],
): Promise<SourceLine[][]> {
  const result = await runTask(page.byteLength, () => ({ page: new Uint8Array(page), places }))
  return 'excerpts' in result ? result.excerpts : []
}
