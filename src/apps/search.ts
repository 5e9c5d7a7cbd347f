import { type SQL, sql } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import { dialect } from '../kernel/db/columns.ts'
import { matchesMax } from '../kernel/limits.ts'
import type { apps } from './tables.ts'

/** Scripts without spaces between words. Each letter is a search term. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]/gu
/** Emoji. The engines index only letters, so each is spelled out. */
const emoji = /[\p{Extended_Pictographic}\p{Regional_Indicator}]/gu

const spelled = (sign: string): string => ` u${sign.codePointAt(0)?.toString(16).padStart(6, '0')} `

/** Returns lowercase terms without diacritics and punctuation, the same for both engines. */
const searchTerms = (text: string): string[] =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(unspaced, ' $& ')
    .replace(emoji, spelled)
    .match(/[\p{L}\p{N}]+/gu) ?? []

export const searchText = ({
  title,
  description,
  name,
}: {
  title: string
  description: string
  name?: string | null
}): string => [...new Set(searchTerms(`${title} ${name ?? ''} ${description}`))].join(' ')

/** Filters of a list of Explore. `maker` is an agent id. */
export type Filters = Partial<Pick<typeof apps.$inferSelect, 'shelf' | 'remix' | 'maker'>> & {
  kind?: string
  /** A pattern of the stored uses (`usesPattern`). */
  uses?: string
}

const termsMax = 12

/** Matches each word or prefix, in any order. Undefined for a text without words. */
export function matchOf(q: string, { kind, shelf, remix, maker }: Filters): string | undefined {
  const terms = searchTerms(q).slice(0, termsMax)
  if (terms.length === 0) return undefined
  if (dialect === 'postgres') return terms.map((word) => `'${word}':*`).join(' & ')
  const facets = [
    ...(kind ? [`k${kind}`] : []),
    ...(shelf ? [`s${shelf}`] : []),
    ...(remix ? [`r${remix}`] : []),
    ...(maker ? [`m${Buffer.from(maker).toString('hex')}`] : []),
  ]
  return [
    ...terms.map((word) => `words : "${word}" *`),
    ...facets.map((facet) => `facets : "${facet}"`),
  ].join(' AND ')
}

/** Bounds of a search. The query has the placeholders `match`, `limit` and those of `before`. */
interface Window {
  filters: SQL | undefined
  /** Limits matches by listing time. Other orders read all matches up to a maximum. */
  isNew: boolean
  /** Listing time and id of the app before the first match. */
  before: SQL[] | undefined
}

/**
 * Returns the matches as a subquery `found`: FTS5 on SQLite, tsvector on PostgreSQL (search.*.sql).
 * Its `place` grows with the listing time.
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

/** Index pages per merge: 5 ms. The index of 100,000 apps needs 80 merges. */
const mergedPages = 50
const mergesMax = 1_000

/** Merges the segments of the SQLite index. A search across a dozen takes ten times as long. */
export async function mergeIndex({ db }: AppContext): Promise<void> {
  if (db.kind !== 'sqlite') return
  for (let merges = 0; merges < mergesMax; merges += 1) {
    const parts = await db.read.all(sql`select distinct segid from app_search_idx limit 2`)
    if (parts.length < 2) return
    // A negative value merges until one segment is left: https://www.sqlite.org/fts5.html, 6.8.
    const merge = sql`insert into app_search (app_search, rank) values ('merge', ${-mergedPages})`
    await db.tx((unit) => unit.run(merge))
  }
}
