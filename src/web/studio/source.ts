import { Pool, PoolBusy } from '../../core/pool.ts'
import { ApiError } from '../../errors.ts'
import type { Difference } from './difference.ts'
import type { Place, SourceLine } from './excerpts.ts'

/** What the worker is asked: to compare two pages, or for places of one. */
export type Asked =
  { before: Uint8Array; after: Uint8Array } | { page: Uint8Array; places: Place[] }

export type Told = { difference: Difference | undefined } | { excerpts: SourceLine[][] }

const bounds = {
  workersMax: 1,
  queueMax: 16,
  queueBytesMax: 64 * 1_048_576,
  pieceMs: 10_000,
  idleMs: 10_000,
}

/** Beside this file, or below the root of the compiled binary, where this file is part of main. */
const workerFile = import.meta.url.endsWith('/web/studio/source.ts')
  ? './source.worker.ts'
  : './web/studio/source.worker.ts'

/** Pages of 4 MB are read here, where they hold nobody up. */
const readers = new Pool<Asked, Told>(
  () => new Worker(new URL(workerFile, import.meta.url)),
  bounds,
)

function read(asked: Asked, ...pages: Uint8Array<ArrayBuffer>[]): Promise<Told> {
  const own = pages.map(({ buffer }) => buffer)
  return readers.run(asked, own).catch((error: unknown) => {
    if (!(error instanceof PoolBusy)) throw error
    throw new ApiError('try_again', { why: `the pages could not be read: ${error.message}` })
  })
}

/** What differs between two pages; undefined where that is too much. Refuses try_again. */
export async function compare(
  before: Uint8Array,
  after: Uint8Array,
): Promise<Difference | undefined> {
  const [one, other] = [new Uint8Array(before), new Uint8Array(after)]
  const told = await read({ before: one, after: other }, one, other)
  return 'difference' in told ? told.difference : undefined
}

/** The lines around each of these places. Refuses try_again. */
export async function placesIn(page: Uint8Array, places: Place[]): Promise<SourceLine[][]> {
  const own = new Uint8Array(page)
  const told = await read({ page: own, places }, own)
  return 'excerpts' in told ? told.excerpts : []
}
