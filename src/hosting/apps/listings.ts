import { and, desc, eq, sql } from 'drizzle-orm'

import type { AppContext } from '../../context.ts'
import type { Db, Prepared } from '../../db/engine.ts'
import { prepared } from '../../db/query.ts'
import type { App } from './apps.ts'
import { type Filters, foundBy, matchOf } from './search.ts'
import { apps, isListed, type Order, orders } from './tables.ts'

/** Columns of a tile, and those that a cursor needs. */
const tile = {
  id: apps.id,
  maker: apps.maker,
  kind: apps.kind,
  title: apps.title,
  shelf: apps.shelf,
  icon: apps.icon,
  listedAt: apps.listedAt,
  remix: apps.remix,
  priceRemix: apps.priceRemix,
  opens: apps.opens,
  stars: apps.stars,
  reviews: apps.reviews,
}
export type TileApp = Pick<App, keyof typeof tile>

/** Columns of an item on Explore. */
const shown = {
  ...tile,
  description: apps.description,
  listedVersion: apps.listedVersion,
  remixOf: apps.remixOf,
  remixOfTitle: apps.remixOfTitle,
  remixOfMaker: apps.remixOfMaker,
  remixes: apps.remixes,
  created: apps.created,
  updated: apps.updated,
}
export type ListedApp = Pick<App, keyof typeof shown>

/** A row with the value it is sorted by. */
type Ranked<Row extends TileApp> = Row & { score: number | null }

/** Filters and order of a list of Explore. `q` is a search text. */
export interface Listing extends Filters {
  order: Order
  q?: string | undefined
}

/** Sort values of the last row of a page. */
export type Place = (string | number)[]

export function placeOf(order: Order, { score, listedAt, id }: Ranked<TileApp>): Place {
  const ranked = [score ?? 0, listedAt ?? 0, id]
  return order === 'new' ? ranked.slice(1) : ranked
}

/** Returns at most `limit` apps on Explore, after a position. */
export type List<Row extends TileApp> = (
  ctx: AppContext,
  listing: Listing,
  limit: number,
  after?: Place,
) => Promise<Ranked<Row>[]>

type Query = (db: Db) => Prepared<Ranked<TileApp>[]>

/** Builds a list query that selects these columns. */
function listOf(columns: typeof shown): List<ListedApp>
function listOf(columns: typeof tile): List<TileApp>
function listOf(columns: typeof tile): List<TileApp> {
  /** One prepared query per set of filters, at most 256. */
  const queries = new Map<string, Query>()
  return async (ctx, { order, q, ...filters }, limit, after = []) => {
    const match = q === undefined ? undefined : matchOf(q, filters)
    if (q !== undefined && match === undefined) return []
    const places = Object.fromEntries(after.map((value, at) => [`after${at}`, value]))
    const values = { ...filters, ...(match && { match }), ...places }
    const name = [order, ...Object.keys(values).sort()].join(' ')
    const query = queries.get(name) ?? prepared((db) => build(db, columns, order, values))
    queries.set(name, query)
    return query(ctx.db.read).execute({ ...values, limit })
  }
}

export const list = listOf(shown)
export const tiles = listOf(tile)

const value = sql.placeholder

function build(
  db: Db,
  shownOf: typeof tile,
  order: Order,
  has: Record<string, unknown>,
): Prepared<Ranked<TileApp>[]> {
  const ranked = { ...shownOf, score: apps[orders[order][0]] }
  const columns = orders[order].map((column) => apps[column])
  const filters = and(
    'kind' in has ? eq(apps.kind, value('kind')) : undefined,
    'shelf' in has ? eq(apps.shelf, value('shelf')) : undefined,
    'remix' in has ? eq(apps.remix, value('remix')) : undefined,
    'maker' in has ? eq(apps.maker, value('maker')) : undefined,
  )
  const places = 'after0' in has ? columns.map((_, at) => sql`${value(`after${at}`)}`) : undefined
  const older = places && sql`(${sql.join(columns, sql`, `)}) < (${sql.join(places, sql`, `)})`
  const byOrder = columns.map((column) => desc(column))
  const chosen = and(isListed(apps), filters)
  if (!('match' in has)) {
    const rows = db.select(ranked).from(apps).where(and(chosen, older))
    return rows
      .orderBy(...byOrder)
      .limit(value('limit'))
      .prepare()
  }
  const isNew = order === 'new'
  const found = foundBy({ filters, isNew, before: isNew ? places : undefined })
  // A cross join makes SQLite start with the matches.
  const rows = db.select(ranked).from(found).crossJoin(apps)
  const matching = and(sql`found.app = ${apps.id}`, chosen, isNew ? undefined : older)
  const inOrder = isNew ? [desc(sql`found.place`), desc(apps.id)] : byOrder
  return rows
    .where(matching)
    .orderBy(...inOrder)
    .limit(value('limit'))
    .prepare()
}

const ofItem = prepared((db) =>
  db
    .select(shown)
    .from(apps)
    .where(and(isListed(apps), eq(apps.remixOf, value('id'))))
    .orderBy(desc(apps.listedAt), desc(apps.id))
    .limit(value('limit'))
    .prepare(),
)

/** Returns the remixes of an app that are on Explore, newest first. */
export const remixesOf = (ctx: AppContext, id: string, limit: number): Promise<ListedApp[]> =>
  ofItem(ctx.db.read).execute({ id, limit })
