import { desc, eq } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, pageSize, parseCursor, takePage } from '../../kernel/cursor.ts'
import { cacheUntilCommit, hasRows } from '../../kernel/db/query.ts'
import { ApiError } from '../../kernel/errors.ts'
import { day, iso } from '../../kernel/time.ts'
import { type Agent, findByMention, findHandles, makerPageUrl } from '../../people/agents/agents.ts'
import { recordAudit } from '../../people/audit/audit.ts'
import { findShownOwner } from '../../people/own-profile.ts'
import * as apps from '../apps.ts'
import { listScreenshots } from '../covers/covers.ts'
import { presentCover } from '../covers/present-cover.ts'
import { isPackKind, itemUrl } from '../kinds.ts'
import * as listed from '../listings.ts'
import { getListed } from '../listings.ts'
import { iconUrl, presentOrigin, presentRating } from '../present.ts'
import { ancestorsOf } from '../remix/lineage.ts'
import { presentPublicVersion } from '../versions/versions.ts'
import type { ExploreQuery, Item, ItemPage, MakerPage, Tile } from './schemas.ts'
import { featured } from './tables.ts'

const relatedMax = 30

/** A row of a list; those of tiles have no origin. */
type PresentedRow = listed.TileApp & Partial<Pick<listed.ListedApp, 'remixOf'>>

/** A query of listed apps and its wire format. `maker` is the handle with @. */
interface View<Row extends PresentedRow, Shown> {
  find: listed.ListFunction<Row>
  show(ctx: AppContext, row: Row, maker: string): Shown
}

/** Tiles of web pages. The other fields would cost a quarter of a list. */
const tileView: View<listed.TileApp, Tile> = {
  find: listed.tiles,
  show: (ctx, row, maker) => ({
    id: row.id,
    kind: row.kind,
    title: row.title,
    shelf: row.shelf,
    icon: iconUrl(ctx, row),
    cover: presentCover(ctx, row),
    maker,
    remixes: row.remixes,
    remix: row.remix,
    priceRemix: row.priceRemix,
    opens: row.opens,
    rating: presentRating(row),
  }),
}

/** Items in wire format. */
const itemView: View<listed.ListedApp, Item> = {
  find: listed.list,
  show: (ctx, row, maker) => ({
    ...tileView.show(ctx, row, maker),
    link: itemUrl(ctx, row),
    ...(row.name !== null && { name: row.name }),
    description: row.description,
    version: row.listedVersion ?? 0,
    remixOf: presentOrigin(row),
    remixers: row.remixers,
    embeds: row.embeds,
    uses: row.uses,
    heat: row.heat,
    ratingLow: shareOf(row.ratingLowerBound ?? 0),
    ...(isPackKind(row.kind) && { record: { successLow: shareOf(row.successLow) } }),
    published: iso(row.listedAt ?? row.created),
    created: iso(row.created),
    updated: iso(row.updated),
  }),
}

/** Rounds millionths as GET /packs/{id}/record does. */
const shareOf = (millionths: number): number => Math.round(millionths / 100) / 10_000

/** Shows rows. An origin that is private now has no name. */
async function present<Row extends PresentedRow, Shown>(
  ctx: AppContext,
  rows: Row[],
  { show }: View<Row, Shown>,
): Promise<Shown[]> {
  const makers = rows.map(({ maker }) => maker)
  const origins = rows.map(({ remixOf }) => remixOf ?? null)
  const [handles, hidden] = await Promise.all([
    findHandles(ctx, makers),
    listed.findPrivate(ctx, origins),
  ])
  return rows.map((row) => {
    const isHidden = hidden.has(row.remixOf ?? '')
    return show(ctx, isHidden ? { ...row, remixOf: null } : row, `@${handles.get(row.maker)}`)
  })
}

interface Page<Shown> {
  items: Shown[]
  next: string | null
}

const firstPage = cacheUntilCommit<Page<Item>>(100)

/** Returns a page of items on Explore. Throws `bad_request` for a cursor of another list. */
export function listItems(ctx: AppContext, query: ExploreQuery): Promise<Page<Item>> {
  const { q, maker, cursor } = query
  // Common first pages are cached until the next commit.
  const isCommon = q === undefined && maker === undefined && cursor === undefined
  const find = () => findPage(ctx, query, itemView)
  return isCommon ? firstPage(ctx.db, JSON.stringify(query), find) : find()
}

/** Returns a page of tiles for web pages, which cache them with the page. */
export const listTiles = (ctx: AppContext, query: ExploreQuery): Promise<Page<Tile>> =>
  findPage(ctx, query, tileView)

async function findPage<Row extends PresentedRow, Shown>(
  ctx: AppContext,
  query: ExploreQuery,
  view: View<Row, Shown>,
  known?: Agent,
): Promise<Page<Shown>> {
  const { kind, shelf, q, maker: handle, price, uses, sort = 'new', cursor } = query
  const limit = pageSize(query.limit)
  const after = parsePosition(sort, cursor)
  const agent = handle === undefined ? known : await findByMention(ctx, handle)
  if (handle !== undefined && !agent) return { items: [], next: null }
  const listing = {
    order: sort,
    ...(kind && { kind }),
    ...(shelf && { shelf }),
    ...(agent && { maker: agent.id }),
    ...(price && { remix: price === 'free' ? ('free' as const) : ('price' as const) }),
    ...(uses && { uses: listed.usesPattern(uses) }),
    ...(q?.trim() && { q }),
  }
  const rows = await view.find(ctx, listing, limit + 1, after)
  const { page, next } = takePage(rows, limit, (row) =>
    makeCursor(sort, ...listed.positionOf(sort, row)),
  )
  return { items: await present(ctx, page, view), next }
}

const cursors = {
  new: /^new (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  top: /^top (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  trending: /^trending (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  remixed: /^remixed (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  record: /^record (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  played: /^played (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
}

/** Parses the position in a cursor: numbers, and the id last. */
function parsePosition(
  sort: keyof typeof cursors,
  cursor: string | undefined,
): listed.ListPosition {
  const parts = parseCursor(cursor, cursors[sort]) ?? []
  return parts.map((part, at) => (at === parts.length - 1 ? part : Number(part)))
}

/** Throws `not_found` and `taken_down`. */
export async function getItem(ctx: AppContext, id: string): Promise<ItemPage> {
  const app = await listed.getListed(ctx, id)
  const before = apps.visibleVersion(app) + 1
  const [versions, remixes, lineage, screenshots] = await Promise.all([
    apps.listVersions(ctx, app, relatedMax, before),
    listed.remixesOf(ctx, id, relatedMax),
    app.remixOf === null ? [] : ancestorsOf(ctx, id),
    listScreenshots(ctx, id),
  ])
  const uses = versions[0]?.uses?.service ?? []
  const [item, ...others] = await present(ctx, [{ ...app, uses }, ...remixes], itemView)
  if (!item) throw listed.notOnExplore()
  const hidden = await listed.findPrivate(
    ctx,
    lineage.map((origin) => origin.id),
  )
  return {
    item,
    screenshots,
    versions: versions.map(presentPublicVersion),
    remixes: others,
    lineage: lineage
      .filter((origin) => origin.title !== '' && !hidden.has(origin.id))
      .map(({ maker, ...names }) => ({ ...names, maker: `@${maker}` })),
    rating: item.rating,
    uses,
  }
}

function inOrder<Row extends { id: string }>(ids: string[], rows: Row[]): Row[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** Returns listed apps of these IDs as items, in this order. */
export async function listItemsByIds(ctx: AppContext, ids: string[]): Promise<Item[]> {
  return present(ctx, inOrder(ids, await listed.itemsById(ctx, ids)), itemView)
}

/** Returns listed apps of these IDs as tiles, in this order. */
export async function listTilesByIds(ctx: AppContext, ids: string[]): Promise<Tile[]> {
  return present(ctx, inOrder(ids, await listed.tilesById(ctx, ids)), tileView)
}

/** New items that the row of the week is chosen from. */
const newestMax = 100

/** Returns the best rated and most opened items of the last seven days, out of the newest 100. */
export async function listTopOfWeek(ctx: AppContext, limit: number): Promise<Tile[]> {
  const since = ctx.clock.now() - 7 * day
  const rows = await listed.tiles(ctx, { order: 'new' }, newestMax)
  const points = (row: listed.TileApp): number => row.stars - 2 * row.reviews + row.opens / 10
  const best = rows
    .filter((row) => (row.listedAt ?? 0) >= since && points(row) > 0)
    .toSorted((a, b) => points(b) - points(a))
  return present(ctx, best.slice(0, limit), tileView)
}

type MakerQuery = Pick<ExploreQuery, 'kind' | 'sort' | 'limit' | 'cursor'>

/** Returns a maker and its items on Explore. Throws `not_found` when it has none. */
export const getMaker = (ctx: AppContext, handle: string, query: MakerQuery): Promise<MakerPage> =>
  findMakerPage(ctx, handle, query, itemView)

/** Returns a maker and its tiles on Explore. Throws `not_found` when it has none. */
export const getMakerTiles = (ctx: AppContext, handle: string, query: MakerQuery) =>
  findMakerPage(ctx, handle, query, tileView)

async function findMakerPage<Row extends PresentedRow, Shown>(
  ctx: AppContext,
  name: string,
  query: MakerQuery,
  view: View<Row, Shown>,
) {
  const agent = await findByMention(ctx, name)
  const found = agent && (await findPage(ctx, query, view, agent))
  const isKnown = found && (found.items.length > 0 || (await isOnExplore(ctx, agent)))
  if (!isKnown) throw new ApiError('not_found', { what: 'maker on Explore', see: 'GET /explore.' })
  return { maker: presentMaker(ctx, agent, await findShownOwner(ctx, agent)), ...found }
}

/** Returns a maker in wire format. `owner` is the handle of a person. */
export function presentMaker(
  ctx: AppContext,
  { handle, about, created }: Agent,
  owner: string | undefined,
): MakerPage['maker'] {
  const page = makerPageUrl(ctx, handle)
  return { handle, about, page, owner: owner ? `@${owner}` : null, created: iso(created) }
}

export const isOnExplore = async (ctx: AppContext, agent: Agent): Promise<boolean> =>
  (await listed.tiles(ctx, { order: 'new', maker: agent.id }, 1)).length > 0

/** Returns the counts over all items of a maker on Explore. */
export async function sumOfMaker(ctx: AppContext, handle: string) {
  const agent = await findByMention(ctx, handle)
  const { apps, opens, remixes, ...rated } = await listed.sumListed(ctx, agent?.id ?? '')
  return { apps, opens, remixes, rating: presentRating(rated) }
}

/** Older choices leave the home page. */
const featuredMax = 24

/** Returns the featured items that are on Explore, the newest choice first. */
export async function listFeatured(ctx: AppContext): Promise<Tile[]> {
  const rows = await ctx.db.read
    .select({ item: featured.item })
    .from(featured)
    .orderBy(desc(featured.at), desc(featured.item))
    .limit(featuredMax)
  return rows.length === 0
    ? []
    : listTilesByIds(
        ctx,
        rows.map(({ item }) => item),
      )
}

export const isFeatured = ({ db }: AppContext, id: string): Promise<boolean> =>
  hasRows(db.read, featured, eq(featured.item, id))

/** Features an item, or moves it to the front. Throws `not_found`, `taken_down`. */
export async function feature(ctx: AppContext, id: string, by: string): Promise<void> {
  await getListed(ctx, id)
  const at = ctx.clock.now()
  await ctx.db.tx(async (db) => {
    await db
      .insert(featured)
      .values({ item: id, at })
      .onConflictDoUpdate({ target: featured.item, set: { at } })
    await recordAudit(ctx, db, { by, did: 'feature', item: id, why: '' })
  })
}

/** Removes an item from the featured ones. */
export async function unfeature(ctx: AppContext, id: string, by: string): Promise<void> {
  await ctx.db.tx(async (db) => {
    await db.delete(featured).where(eq(featured.item, id))
    await recordAudit(ctx, db, { by, did: 'unfeature', item: id, why: '' })
  })
}
