import { rejectRequest } from './errors.ts'
import { listPageDefault } from './limits.ts'

/** Returns the length of a page. */
export const pageSize = (limit: number | undefined): number => limit ?? listPageDefault

/**
 * Returns a number of the query that is whole and from 1 to `max`. Throws `bad_request` with the
 * name of the field, which the framework's own check of query numbers loses.
 */
export function requireWhole(param: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value
  rejectRequest(`"${param}" must be a whole number from 1 to ${max}.`, param)
}

/**
 * Returns a cursor: the opaque position at which a page ended. Its first part names the list, so
 * that no other list accepts it.
 */
export const makeCursor = (...parts: (string | number)[]): string =>
  Buffer.from(parts.join(' ')).toString('base64url')

export const invalidCursor =
  'This cursor is invalid. Send "next" of the last response, or no cursor.'

/** Returns the groups of `form` in a cursor; undefined without a cursor. Throws `bad_request`. */
export function parseCursor(cursor: string | undefined, form: RegExp): string[] | undefined {
  if (cursor === undefined) return undefined
  const text = Buffer.from(cursor, 'base64url').toString('utf8')
  const parts = makeCursor(text) === cursor ? form.exec(text) : null
  if (parts) return parts.slice(1)
  rejectRequest(invalidCursor)
}

/** Cuts a list of up to `limit + 1` rows to a page, with the cursor of the next page. */
export function takePage<Row>(
  rows: Row[],
  limit: number,
  cursorOf: (row: Row) => string,
): { page: Row[]; next: string | null } {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return { page, next: rows.length > limit && last ? cursorOf(last) : null }
}

/** The last row of a page in a list from new to old. `created` is milliseconds since 1970. */
export interface PagePosition {
  created: number
  id: string
}

/** Returns a page of the rows of `find`, newest first. `word` names the list in its cursors. */
export async function pageNewestFirst<Row extends PagePosition>(
  word: string,
  query: { limit?: number; cursor?: string },
  find: (limit: number, after: PagePosition | undefined) => Promise<Row[]>,
): Promise<{ page: Row[]; next: string | null }> {
  const form = new RegExp(`^${word} (\\d{1,15}) ([A-Za-z0-9_-]{11,12})$`)
  const [created, id] = parseCursor(query.cursor, form) ?? []
  const after = id === undefined ? undefined : { created: Number(created), id }
  const limit = pageSize(query.limit)
  const rows = await find(limit + 1, after)
  return takePage(rows, limit, (row) => makeCursor(word, row.created, row.id))
}

/** Returns a page of numbered rows, highest number first. */
export async function pageHighestFirst<Row>(
  word: string,
  query: { limit?: number; cursor?: string },
  numberOf: (row: Row) => number,
  find: (limit: number, before: number | undefined) => Promise<Row[]>,
): Promise<{ page: Row[]; next: string | null }> {
  const [number] = parseCursor(query.cursor, new RegExp(`^${word} (\\d{1,15})$`)) ?? []
  const limit = pageSize(query.limit)
  const rows = await find(limit + 1, number === undefined ? undefined : Number(number))
  return takePage(rows, limit, (row) => makeCursor(word, numberOf(row)))
}

/** Returns the `find` of `pageNewestFirst` for a short list that is in memory. */
export const findAmong =
  <Row extends PagePosition>(rows: Row[]) =>
  async (limit: number, after: PagePosition | undefined): Promise<Row[]> => {
    const older = rows.filter((row) => !after || byNewest(after, row) < 0)
    return older.toSorted(byNewest).slice(0, limit)
  }

const byNewest = (one: PagePosition, other: PagePosition): number =>
  other.created - one.created || (one.id === other.id ? 0 : one.id < other.id ? 1 : -1)
