import { and, asc, count, desc, eq, gt, inArray, isNotNull, ne, or, sql, sum } from 'drizzle-orm'

import type { AppContext } from '../kernel/context.ts'
import type { Db, Prepared } from '../kernel/db/engine.ts'
import { prepared } from '../kernel/db/query.ts'
import { ApiError } from '../kernel/errors.ts'
import { type App, findApp, requireAvailable, type Version } from './apps.ts'
import type { Folder } from './folders/folder.ts'
import { packKinds } from './kinds.ts'
import { type Filters, foundBy, matchOf } from './search.ts'
import { apps, isListed, type Order, orders, versions } from './tables.ts'
import { readStoredUses, type Use } from './uses/uses.ts'

/** Columns of a tile, and those that a cursor needs. */
const tile = {
  id: apps.id,
  maker: apps.maker,
  kind: apps.kind,
  title: apps.title,
  shelf: apps.shelf,
  icon: apps.icon,
  cover: apps.cover,
  coverSmall: apps.coverSmall,
  coverColor: apps.coverColor,
  listedAt: apps.listedAt,
  remix: apps.remix,
  priceRemix: apps.priceRemix,
  remixes: apps.remixes,
  opens: apps.opens,
  stars: apps.stars,
  reviews: apps.reviews,
}
export type TileApp = Pick<App, keyof typeof tile>

const isShownVersion = sql`${versions.app} = ${apps.id} and ${versions.version} = ${apps.listedVersion}`

/** Columns of an item on Explore. */
const item = {
  ...tile,
  name: apps.name,
  description: apps.description,
  listedVersion: apps.listedVersion,
  remixOf: apps.remixOf,
  remixOfTitle: apps.remixOfTitle,
  remixOfMaker: apps.remixOfMaker,
  remixers: apps.remixers,
  embeds: apps.embeds,
  heat: apps.heat,
  ratingLowerBound: apps.ratingLowerBound,
  successLow: apps.successLow,
  created: apps.created,
  updated: apps.updated,
  uses: sql`coalesce((select ${versions.uses} from ${versions} where ${isShownVersion}), 'null')`.mapWith(
    readStoredUses,
  ),
}
export type ListedApp = Pick<App, Exclude<keyof typeof item, 'uses'>> & { uses: Use[] }

/** A row with the value it is sorted by. */
type Ranked<Row extends TileApp> = Row & { score: number | null }

/** Filters and order of a list of Explore. `q` is a search text. */
export interface ListQuery extends Filters {
  order: Order
  q?: string | undefined
}

/** Sort values of the last row of a page. */
export type ListPosition = (string | number)[]

export function positionOf(order: Order, { score, listedAt, id }: Ranked<TileApp>): ListPosition {
  const ranked = [score ?? 0, listedAt ?? 0, id]
  return order === 'new' ? ranked.slice(1) : ranked
}

/** Returns at most `limit` apps on Explore, after a position. */
export type ListFunction<Row extends TileApp> = (
  ctx: AppContext,
  query: ListQuery,
  limit: number,
  after?: ListPosition,
) => Promise<Ranked<Row>[]>

type Query = (db: Db) => Prepared<Ranked<TileApp>[]>

/** Builds a list query that selects these columns. */
function createList(columns: typeof item): ListFunction<ListedApp>
function createList(columns: typeof tile): ListFunction<TileApp>
function createList(columns: typeof tile): ListFunction<TileApp> {
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

export const list = createList(item)
export const tiles = createList(tile)

const value = sql.placeholder

/** Returns the pattern of the stored uses of a version with this one. */
export const usesPattern = (use: Use): string => `%"${use}"%`
const usesMatch = sql`exists (select 1 from ${versions} where ${isShownVersion} and ${versions.uses} like ${value('uses')})`

function build(
  db: Db,
  selection: typeof tile,
  order: Order,
  values: Record<string, unknown>,
): Prepared<Ranked<TileApp>[]> {
  const ranked = { ...selection, score: apps[orders[order][0]] }
  const columns = orders[order].map((column) => apps[column])
  const filters = and(
    'kind' in values ? eq(apps.kind, value('kind')) : undefined,
    'shelf' in values ? eq(apps.shelf, value('shelf')) : undefined,
    'remix' in values ? eq(apps.remix, value('remix')) : undefined,
    'maker' in values ? eq(apps.maker, value('maker')) : undefined,
    'uses' in values ? usesMatch : undefined,
  )
  const places =
    'after0' in values ? columns.map((_, at) => sql`${value(`after${at}`)}`) : undefined
  const older = places && sql`(${sql.join(columns, sql`, `)}) < (${sql.join(places, sql`, `)})`
  const byOrder = columns.map((column) => desc(column))
  const condition = and(isListed(apps), filters)
  if (!('match' in values)) {
    const rows = db.select(ranked).from(apps).where(and(condition, older))
    return rows
      .orderBy(...byOrder)
      .limit(value('limit'))
      .prepare()
  }
  // The search index does not have the uses, so all matches are read before they are compared.
  const isNew = order === 'new' && !('uses' in values)
  const found = foundBy({ filters, isNew, before: isNew ? places : undefined })
  // A cross join makes SQLite start with the matches.
  const rows = db.select(ranked).from(found).crossJoin(apps)
  const matching = and(sql`found.app = ${apps.id}`, condition, isNew ? undefined : older)
  const inOrder = isNew ? [desc(sql`found.place`), desc(apps.id)] : byOrder
  return rows
    .where(matching)
    .orderBy(...inOrder)
    .limit(value('limit'))
    .prepare()
}

/** Returns those of the apps that are on Explore, in any order. Pass a hundred at most. */
export const tilesById = ({ db }: AppContext, ids: string[]): Promise<TileApp[]> =>
  db.read
    .select(tile)
    .from(apps)
    .where(and(isListed(apps), inArray(apps.id, ids)))

/** As `tilesById`, with the columns of an item. */
export const itemsById = ({ db }: AppContext, ids: string[]): Promise<ListedApp[]> =>
  db.read
    .select(item)
    .from(apps)
    .where(and(isListed(apps), inArray(apps.id, ids)))

/** Returns apps of these makers that came to Explore after a time, newest first. */
export const listNewestBy = (
  { db }: AppContext,
  makers: string[],
  since: number,
  limit: number,
): Promise<TileApp[]> =>
  db.read
    .select(tile)
    .from(apps)
    .where(and(isListed(apps), inArray(apps.maker, makers), gt(apps.listedAt, since)))
    .orderBy(desc(apps.listedAt), desc(apps.id))
    .limit(limit)

const totals = {
  apps: count(),
  opens: sum(apps.opens).mapWith(Number),
  remixes: sum(apps.remixes).mapWith(Number),
  stars: sum(apps.stars).mapWith(Number),
  reviews: sum(apps.reviews).mapWith(Number),
}

/** Returns sums over the apps of a maker that are on Explore. */
export async function sumListed({ db }: AppContext, maker: string) {
  const [row] = await db.read
    .select(totals)
    .from(apps)
    .where(and(isListed(apps), eq(apps.maker, maker)))
  const { apps: number = 0, opens, remixes, stars, reviews } = row ?? {}
  // The sum of no rows is null.
  return {
    apps: number,
    opens: opens ?? 0,
    remixes: remixes ?? 0,
    stars: stars ?? 0,
    reviews: reviews ?? 0,
  }
}

const remixQuery = prepared((db) =>
  db
    .select(item)
    .from(apps)
    .where(and(isListed(apps), eq(apps.remixOf, value('id'))))
    .orderBy(desc(apps.listedAt), desc(apps.id))
    .limit(value('limit'))
    .prepare(),
)

/** Returns the remixes of an app that are on Explore, newest first. */
export const remixesOf = (ctx: AppContext, id: string, limit: number): Promise<ListedApp[]> =>
  remixQuery(ctx.db.read).execute({ id, limit })

/**
 * Returns those of these origins that must stay without a name: they are here, and Explore cannot
 * list them.
 */
export async function findPrivate(
  { db }: AppContext,
  ids: readonly (string | null)[],
): Promise<Set<string>> {
  const known = ids.filter((id) => id !== null)
  if (known.length === 0) return new Set()
  const isPrivate = or(ne(apps.audience, 'public'), isNotNull(apps.expires))
  const rows = await db.read
    .select({ id: apps.id })
    .from(apps)
    .where(and(inArray(apps.id, known), isPrivate))
  return new Set(rows.map(({ id }) => id))
}

/** Returns an app that is on Explore. Throws `not_found` and `taken_down`. */
export const getListed = async (ctx: AppContext, id: string): Promise<App> =>
  requireListed(await findApp(ctx, id))

/** Returns an item that is on Explore. Throws `not_found` and `taken_down`. */
export function requireListed(app: App | undefined): App {
  if (app?.takenDown != null) return requireAvailable(app)
  if (app?.listed === 'on') return app
  throw notOnExplore()
}

export const notOnExplore = (): ApiError<'not_found'> =>
  new ApiError('not_found', { what: 'item on Explore', see: 'GET /explore lists what is.' })

/** A pack on Explore with the version that it shows there. */
export interface ListedPack {
  item: App
  row: Version
  folder: Folder
}

const isShown = and(eq(versions.app, apps.id), eq(versions.version, apps.listedVersion))

/** Returns the packs on Explore with the best record of each kind; then the newest. */
export async function listBestPacks({ db }: AppContext, limit: number): Promise<ListedPack[]> {
  // Each kind has an index in this order.
  const lists = await Promise.all(
    packKinds.map((kind) =>
      selectShown(db.read)
        .where(and(isListed(apps), eq(apps.kind, kind)))
        .orderBy(desc(apps.successLow), desc(apps.listedAt), desc(apps.id))
        .limit(limit),
    ),
  )
  return lists.flat().flatMap(withFolder)
}

/** Returns the packs of a maker on Explore, newest first: an order by record would read all. */
export async function listPacksOfMaker(
  { db }: AppContext,
  maker: string,
  limit: number,
): Promise<ListedPack[]> {
  const rows = await selectShown(db.read)
    .where(and(isListed(apps), eq(apps.maker, maker), isNotNull(apps.name)))
    .orderBy(desc(apps.listedAt), desc(apps.id))
    .limit(limit)
  return rows.flatMap(withFolder)
}

const selectShown = (db: Db) =>
  db.select({ item: apps, row: versions }).from(apps).innerJoin(versions, isShown)

/** Finds the pack of a name: of a maker, or the one with the best record, then the oldest. */
export async function findListedPack(
  { db }: AppContext,
  name: string,
  maker: string | undefined,
): Promise<ListedPack | undefined> {
  const rows = await selectShown(db.read)
    .where(
      and(
        isListed(apps),
        isNotNull(apps.name),
        eq(apps.name, name),
        maker === undefined ? undefined : eq(apps.maker, maker),
      ),
    )
    .orderBy(desc(apps.successLow), asc(apps.listedAt), asc(apps.id))
    .limit(1)
  return rows.flatMap(withFolder)[0]
}

const withFolder = ({ item, row }: Omit<ListedPack, 'folder'>): ListedPack[] =>
  row.folder ? [{ item, row, folder: row.folder }] : []
