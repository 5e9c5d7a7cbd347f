import { ApiError } from '../../kernel/errors.ts'
import { PoolBusyError } from '../../kernel/fair-queue.ts'
import { inProcess, TaskLimitError, WorkerPool } from '../../kernel/worker-pool.ts'
import { type PageFolder, readPageFolder } from './page-folder.ts'
import { findCode, withCode } from './page-location.ts'
import { isCss, isHtml, isScript } from './page-names.ts'
import type { FolderCode } from './pins.ts'
import type { InputFile } from './unzip.ts'

type Problem = Extract<PageFolder, { problem: string }>
type ReadFolder = Exclude<PageFolder, Problem>
/** A folder whose code reads its location; `located` names the changed files. */
export type LocatedFolder = ReadFolder & { located: string[] }

const charsOf = (code: FolderCode[]): number => code.reduce((sum, { text }) => sum + text.length, 0)

const mebibyte = 1_048_576

/** Code that is parsed at once, in about 50 ms at most: acorn takes the square of nested `var`. */
const inlineCharsMax = 20_000

/** Text that is read at once: a megabyte takes about 40 ms. */
const inlineTextBytesMax = 4 * mebibyte

const poolBounds = {
  slots: 2,
  waitingMax: 16,
  waitingBytesMax: 128 * mebibyte,
  largeBytes: 2 * mebibyte,
  // The limit of CPU time ends a task that hangs. This one is for a machine that hangs.
  taskMs: 300_000,
  idleMs: 20_000,
}
const locating = new WorkerPool<FolderCode[], FolderCode[]>(
  inProcess({
    file: 'apps/folders/locate.worker.ts',
    cpuMs: 60_000,
    memoryBytes: 768 * mebibyte,
  }),
  poolBounds,
)

/** A folder for a process of its own, which lets its code read its location if `locates`. */
export interface FolderTask {
  files: InputFile[]
  locates: boolean
}

const reading = new WorkerPool<FolderTask, Problem | LocatedFolder>(
  inProcess({
    file: 'apps/folders/read-folder.worker.ts',
    cpuMs: 60_000,
    // 92 MB of HTML in which each tag changes took 1,100 MB.
    memoryBytes: 1_536 * mebibyte,
  }),
  { ...poolBounds, slots: 1 },
)

/**
 * Finds the page of a folder, and lets its code read the location that the page has on a static
 * host. A folder with much text is read in a process of its own. Throws `try_again`.
 */
export async function readFolder(files: InputFile[]): Promise<Problem | LocatedFolder> {
  const text = files.filter(({ path }) => isHtml(path) || isCss(path) || isScript(path))
  if (bytesOf(text) > inlineTextBytesMax) return readInProcess(files)
  const folder = readPageFolder(files)
  return 'problem' in folder ? folder : locateFolder(folder)
}

const bytesOf = (files: InputFile[]): number =>
  files.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)

async function readInProcess(files: InputFile[], locates = true) {
  try {
    return await reading.run(bytesOf(files), () => ({ files, locates }))
  } catch (error) {
    if (error instanceof TaskLimitError) {
      if (locates) return readInProcess(files, false)
      return { problem: `The folder cannot be read: ${error.message}. Publish smaller pages.` }
    }
    throw tryAgain(error)
  }
}

function tryAgain(error: unknown): unknown {
  if (!(error instanceof PoolBusyError)) return error
  return new ApiError('try_again', { why: `the folder was not read: ${error.message}` })
}

/** Code that takes too much time or memory stays as it is. Throws `try_again`. */
async function locateFolder(folder: ReadFolder): Promise<LocatedFolder> {
  const code = findCode(folder)
  const chars = charsOf(code)
  if (chars <= inlineCharsMax) {
    // A start needs no parser.
    const { locateCode } = await import('./script-location.ts')
    return withCode(folder, code.map(locateCode))
  }
  try {
    return withCode(folder, await locating.run(chars, () => code))
  } catch (error) {
    if (error instanceof TaskLimitError) return { ...folder, located: [] }
    throw tryAgain(error)
  }
}
