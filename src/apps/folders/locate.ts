import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { inProcess, TaskLimitError, WorkerPool } from '../../kernel/worker-pool.ts'
import type { PageFolder } from './page-folder.ts'
import { findCode, withCode } from './page-location.ts'
import type { FolderCode } from './pins.ts'

type ReadFolder = Exclude<PageFolder, { problem: string }>
export type LocatedFolder = ReadFolder & { located: string[] }

const charsOf = (code: FolderCode[]): number => code.reduce((sum, { text }) => sum + text.length, 0)

/** Code that is parsed at once, in about 50 ms at most: acorn takes the square of nested `var`. */
const inlineCharsMax = 20_000

const processes = new WorkerPool<FolderCode[], FolderCode[]>(
  inProcess({
    file: 'apps/folders/locate.worker.ts',
    cpuMs: 60_000,
    memoryBytes: 768 * 1_048_576,
  }),
  {
    slots: 2,
    waitingMax: 16,
    waitingBytesMax: 128 * 1_048_576,
    largeBytes: 2 * 1_048_576,
    // The limit of CPU time ends a task that hangs. This one is for a machine that hangs.
    taskMs: 300_000,
    idleMs: 20_000,
  },
)

/**
 * Lets the code of a folder read the location that its page has on a static host. Code that takes
 * too much time or memory stays as it is. Throws `try_again`.
 */
export async function locateFolder(folder: ReadFolder): Promise<LocatedFolder> {
  const code = findCode(folder)
  const chars = charsOf(code)
  if (chars <= inlineCharsMax) {
    // A start needs no parser.
    const { locateCode } = await import('./script-location.ts')
    return withCode(folder, code.map(locateCode))
  }
  try {
    return withCode(folder, await processes.run(chars, () => code))
  } catch (error) {
    if (error instanceof TaskLimitError) return { ...folder, located: [] }
    if (!(error instanceof PoolBusyError)) throw error
    throw new ApiError('try_again', { why: `the scripts were not read: ${error.message}` })
  }
}
