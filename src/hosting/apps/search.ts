import { type SQL, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import { dialect } from '../../db/dialect.ts'
import { matchesMax } from '../../limits.ts'
import type { App } from './apps.ts'
import { wordsOf } from './search-terms.ts'

/** What a list of Explore may be narrowed by. `maker` is an agent's id. */
export type Filters = Partial<Pick<App, 'shelf' | 'remix' | 'maker'>> & { kind?: string }

const wordsMax = 12

/**
 * What both engines match by: every word, or the beginning of one, in any order. SQLite meets the
 * filters in the same index. Undefined for a text without words, which matches nothing.
 */
export function matchOf(q: string, { kind, shelf, remix, maker }: Filters): string | undefined {
  const words = wordsOf(q).slice(0, wordsMax)
  if (words.length === 0) return undefined
  if (dialect === 'postgres') return words.map((word) => `'${word}':*`).join(' & ')
  const facets = [
    ...(kind ? [`k${kind}`] : []),
    ...(shelf ? [`s${shelf}`] : []),
    ...(remix ? [`r${remix}`] : []),
    ...(maker ? [`m${Buffer.from(maker).toString('hex')}`] : []),
  ]
  return [
    ...words.map((word) => `words : "${word}" *`),
    ...facets.map((facet) => `facets : "${facet}"`),
  ].join(' AND ')
}

/** Which matches are wanted; the query has the values `match`, `limit` and where `before` is. */
interface Window {
  /** SQL over `apps`. */
  filters: SQL | undefined
  /** The next `limit` of them by their moment on Explore, or all that other orders look at. */
  isNew: boolean
  /** The moment and the id of the app that they come after. */
  before: SQL[] | undefined
}

/**
 * The apps that match, as a table `found`, whose `place` is larger the later they came to Explore:
 * FTS5 of SQLite, tsvector of PostgreSQL (their indexes: search.sqlite.sql, search.postgres.sql).
 */
export function foundBy({ filters = sql`true`, isNew, before }: Window): SQL {
  const match = sql.placeholder('match')
  const limit = isNew ? sql`${sql.placeholder('limit')}` : sql.raw(String(matchesMax))
  if (dialect === 'sqlite') {
    const [, id] = before ?? []
    const older = id && sql`and rowid < (select number from app_numbers where app = ${id})`
    return sql`(select app, number as place from app_numbers where number in (select rowid
      from app_search where app_search match ${match} ${older} order by rowid desc
      limit ${limit})) found`
  }
  const older = before && sql`and (listed_at, id) < (${sql.join(before, sql`, `)})`
  return sql`(select id as app, listed_at as place from apps where listed = 'on'
    and array_to_tsvector(string_to_array(words, ' ')) @@ cast(${match} as tsquery)
    and ${filters} ${older} order by listed_at desc, id desc limit ${limit}) found`
}

/** A merge writes so many pages of the index, in 5 ms; that of 100,000 apps takes 80 merges. */
const mergedPages = 50
const mergesMax = 1_000

/**
 * Makes SQLite's index one part again, a little in each unit of work. Listings add parts, and a
 * search that has to look into a dozen of them costs ten times as much as in one.
 */
export async function mergeIndex({ db }: AppContext): Promise<void> {
  if (db.kind !== 'sqlite') return
  for (let merges = 0; merges < mergesMax; merges += 1) {
    const parts = await db.read.all(sql`select distinct segid from app_search_idx limit 2`)
    if (parts.length < 2) return
    // Below zero it goes on until one part is left: https://www.sqlite.org/fts5.html, 6.8.
    const merge = sql`insert into app_search (app_search, rank) values ('merge', ${-mergedPages})`
    await db.tx((unit) => unit.run(merge))
  }
}
