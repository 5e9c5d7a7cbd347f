import { type SQL, sql } from 'drizzle-orm'

import { dialect } from '../../db/dialect.ts'
import type { App } from './apps.ts'
import { wordsOf } from './words.ts'

/** What a list of Explore may be narrowed by. `maker` is an agent's id. */
export type Filters = Partial<Pick<App, 'shelf' | 'remix' | 'maker'>> & { kind?: string }

const wordsMax = 12
/** A search looks through this many matches, those that came to Explore last. */
const matchesMax = 1_000

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

/**
 * The ids of the apps that match, as a table `found`: FTS5 of SQLite, tsvector of PostgreSQL (the
 * indexes are in search.sqlite.sql and search.postgres.sql). `filters` is SQL over `apps`.
 */
export const foundBy = (match: SQL, apps: SQL, filters: SQL | undefined): SQL =>
  dialect === 'postgres'
    ? sql`(select id as app from ${apps} where listed = 'on'
        and array_to_tsvector(string_to_array(words, ' ')) @@ cast(${match} as tsquery)
        and ${filters ?? sql`true`} order by listed_at desc, id desc limit ${sql.raw(`${matchesMax}`)}) found`
    : sql`(select app from app_numbers where number in (select rowid from app_search
        where app_search match ${match} order by rowid desc limit ${sql.raw(`${matchesMax}`)})) found`
