import { ApiError } from '../errors.ts'
import { listPageDefault } from '../limits.ts'

/** How many rows a page has, as asked for or by default. */
export const pageSize = (limit: number | undefined): number => limit ?? listPageDefault

/**
 * A number of a query, whole and from 1 to `max`. Refuses bad_request, naming the field: the
 * framework's own check of numbers in an address forgets which one it was.
 */
export function wholeOf(param: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  throw new ApiError('bad_request', {
    problem: `"${param}" is a whole number from 1 to ${max}.`,
    param,
  })
}

/**
 * A cursor is where a list stopped; callers are to treat it as opaque. It begins with a word for
 * the list, so that another list does not take it.
 */
export const makeCursor = (...parts: (string | number)[]): string =>
  Buffer.from(parts.join(' ')).toString('base64url')

export const notOurCursor =
  'This cursor is not one of ours: send "next" of the last answer, or none.'

/**
 * Reads the parts of a cursor, as the groups of `form`; undefined when none was sent. Refuses
 * bad_request for one that was not made here.
 */
export function readCursor(cursor: string | undefined, form: RegExp): string[] | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const parts = makeCursor(text) === cursor ? form.exec(text) : null
  if (parts) return parts.slice(1)
  throw new ApiError('bad_request', { problem: notOurCursor })
}

/** A list of `limit + 1` rows or fewer, cut to a page with the cursor of the next one. */
export function pageOf<Row>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { page: Row[]; next: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last ? cursorOf(last) : null }
}

/** Where a list of the newest first goes on: after what was made at this moment, with this id. */
export interface After {
  created: number
  id: string
}

/** A page of what `find` lists, the newest first. `word` is that of the list's cursors. */
export async function newestFirst<Row extends After>(
  word: string,
  query: { limit?: number; cursor?: string },
  find: (limit: number, after: After | undefined) => Promise<Row[]>,
): Promise<{ page: Row[]; next: string | null }> {
  const form = new RegExp(`^${word} (\\d{1,15}) ([A-Za-z0-9_-]{11,12})$`)
  const [created, id] = readCursor(query.cursor, form) ?? []
  const after = id === undefined ? undefined : { created: Number(created), id }
  const limit = pageSize(query.limit)
  const rows = await find(limit + 1, after)
  return pageOf(rows, limit, (row) => makeCursor(word, row.created, row.id))
}

/** The same of rows that are numbered, the highest number first. */
export async function highestFirst<Row>(
  word: string,
  query: { limit?: number; cursor?: string },
  numberOf: (row: Row) => number,
  find: (limit: number, before: number | undefined) => Promise<Row[]>,
): Promise<{ page: Row[]; next: string | null }> {
  const [number] = readCursor(query.cursor, new RegExp(`^${word} (\\d{1,15})$`)) ?? []
  const limit = pageSize(query.limit)
  const rows = await find(limit + 1, number === undefined ? undefined : Number(number))
  return pageOf(rows, limit, (row) => makeCursor(word, numberOf(row)))
}

/** What `newestFirst` asks for, of a list that is read whole, since there is never much of it. */
export const among =
  <Row extends After>(rows: Row[]) =>
  async (limit: number, after: After | undefined): Promise<Row[]> => {
    const older = rows.filter((row) => !after || byNewest(after, row) < 0)
    return older.toSorted(byNewest).slice(0, limit)
  }

const byNewest = (one: After, other: After): number =>
  other.created - one.created || (one.id === other.id ? 0 : one.id < other.id ? 1 : -1)
