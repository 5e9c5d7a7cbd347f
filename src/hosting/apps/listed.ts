import { and, desc, eq, type SQL, sql } from 'drizzle-orm'

import type { Db } from '../../db/engine.ts'
import { type Prepared, prepared } from '../../db/query.ts'
import type { House } from '../../house.ts'
import type { App } from './apps.ts'
import { type Filters, foundBy, matchOf } from './search.ts'
import { apps, isListed, type Order, orders } from './tables.ts'

/** What Explore shows of an app. */
const shown = {
  id: apps.id,
  maker: apps.maker,
  kind: apps.kind,
  title: apps.title,
  description: apps.description,
  shelf: apps.shelf,
  icon: apps.icon,
  listedVersion: apps.listedVersion,
  listedAt: apps.listedAt,
  remix: apps.remix,
  priceRemix: apps.priceRemix,
  remixOf: apps.remixOf,
  remixOfTitle: apps.remixOfTitle,
  remixOfMaker: apps.remixOfMaker,
  remixes: apps.remixes,
  remixers: apps.remixers,
  opens: apps.opens,
  heat: apps.heat,
  stars: apps.stars,
  reviews: apps.reviews,
  low: apps.low,
  created: apps.created,
  updated: apps.updated,
}
export type ListedApp = Pick<App, keyof typeof shown>

/** Which apps on Explore, in which order. `q` is a text to search for. */
export interface Listing extends Filters {
  order: Order
  q?: string | undefined
}

/** Where a list goes on: after the app of these values, in the columns of its order. */
export type Place = (string | number)[]

export const placeOf = (order: Order, app: ListedApp): Place =>
  orders[order].map((column) => app[column] ?? 0)

type Query = (db: Db) => Prepared<ListedApp[]>

/** One query for each set of filters; there are at most 256. */
const queries = new Map<string, Query>()

/** Apps on Explore, at most `limit`, going on after `after`. */
export async function list(
  house: House,
  listing: Listing,
  limit: number,
  after: Place = [],
): Promise<ListedApp[]> {
  const { order, q, ...filters } = listing
  const match = q === undefined ? undefined : matchOf(q, filters)
  if (q !== undefined && match === undefined) return []
  const places = Object.fromEntries(after.map((value, at) => [`after${at}`, value]))
  const values = { ...filters, ...(match && { match }), ...places }
  const name = [order, ...Object.keys(values).sort()].join(' ')
  const query = queries.get(name) ?? prepared((db) => build(db, order, values))
  queries.set(name, query)
  return query(house.db.read).execute({ ...values, limit })
}

const value = sql.placeholder

function build(db: Db, order: Order, has: Record<string, unknown>): Prepared<ListedApp[]> {
  const columns = orders[order].map((column) => apps[column])
  const filters = and(
    'kind' in has ? eq(apps.kind, value('kind')) : undefined,
    'shelf' in has ? eq(apps.shelf, value('shelf')) : undefined,
    'remix' in has ? eq(apps.remix, value('remix')) : undefined,
    'maker' in has ? eq(apps.maker, value('maker')) : undefined,
  )
  const chosen = and(isListed(apps), filters, 'after0' in has ? isAfter(columns) : undefined)
  const found = foundBy(sql`${value('match')}`, sql`${apps}`, filters)
  // A cross join, because SQLite then begins with what was found.
  const from =
    'match' in has
      ? db
          .select(shown)
          .from(found)
          .crossJoin(apps)
          .where(and(sql`found.app = ${apps.id}`, chosen))
      : db.select(shown).from(apps).where(chosen)
  return from
    .orderBy(...columns.map((column) => desc(column)))
    .limit(value('limit'))
    .prepare()
}

const isAfter = (columns: (typeof apps)[(typeof orders)[Order][number]][]): SQL => {
  const places = columns.map((_, at) => sql`${value(`after${at}`)}`)
  return sql`(${sql.join(columns, sql`, `)}) < (${sql.join(places, sql`, `)})`
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

/** The remixes of an app that are on Explore themselves, newest first. */
export const remixesOf = (house: House, id: string, limit: number): Promise<ListedApp[]> =>
  ofItem(house.db.read).execute({ id, limit })
