import { makeCursor, pageOf, pageSize, readCursor } from '../../core/cursor.ts'
import { iso } from '../../core/time.ts'
import { untilCommit } from '../../db/query.ts'
import type { House } from '../../house.ts'
import { Refusal } from '../../refusals.ts'
import { type Agent, findNamed } from '../agents/agents.ts'
import { handlesOf, makerPage } from '../agents/names.ts'
import * as apps from '../apps/apps.ts'
import { ancestorsOf } from '../apps/lineage.ts'
import * as listed from '../apps/listed.ts'
import { iconOf, linkOf, originOf, ratingOf } from '../apps/present.ts'
import { presentShared } from '../versions/versions.ts'
import type { ItemPageShape, ItemShape, MakerPageShape, TileShape, WantedShape } from './shapes.ts'

const besideMax = 30

/** What is read of apps on Explore, and how one of them is shown; `maker` is a name with its @. */
interface View<Row extends listed.TileApp, Shown> {
  find: listed.List<Row>
  show(house: House, row: Row, maker: string): Shown
}

/** As the wire shows them. */
const asItems: View<listed.ListedApp, ItemShape> = {
  find: listed.list,
  show: (house, row, maker) => ({
    id: row.id,
    link: linkOf(house, row.id),
    kind: row.kind,
    title: row.title,
    description: row.description,
    shelf: row.shelf,
    icon: iconOf(house, row),
    maker,
    version: row.listedVersion ?? 0,
    remix: row.remix,
    priceRemix: row.priceRemix,
    remixOf: originOf(row),
    remixes: row.remixes,
    opens: row.opens,
    rating: ratingOf(row),
    published: iso(row.listedAt ?? row.created),
    created: iso(row.created),
    updated: iso(row.updated),
  }),
}

/** As pages show them among others: the rest would cost a quarter of a list. */
const asTiles: View<listed.TileApp, TileShape> = {
  find: listed.tiles,
  show: (house, row, maker) => ({
    id: row.id,
    kind: row.kind,
    title: row.title,
    shelf: row.shelf,
    icon: iconOf(house, row),
    maker,
    remix: row.remix,
    priceRemix: row.priceRemix,
    opens: row.opens,
    rating: ratingOf(row),
  }),
}

/** Apps on Explore as a view shows them, in their order. */
async function present<Row extends listed.TileApp, Shown>(
  house: House,
  rows: Row[],
  { show }: View<Row, Shown>,
): Promise<Shown[]> {
  const makers = rows.map(({ maker }) => maker)
  const handles = await handlesOf(house, makers)
  return rows.map((row) => show(house, row, `@${handles.get(row.maker)}`))
}

interface Page<Shown> {
  items: Shown[]
  next: string | null
}

const firstPage = untilCommit<Page<ItemShape>>(100)

/** A page of what is on Explore. Refuses bad_request for a cursor of another list. */
export function list(house: House, wanted: WantedShape): Promise<Page<ItemShape>> {
  const { q, maker, cursor } = wanted
  // What many ask for is read once for all of them.
  const isCommon = q === undefined && maker === undefined && cursor === undefined
  const find = () => listNow(house, wanted, asItems)
  return isCommon ? firstPage(house.db, JSON.stringify(wanted), find) : find()
}

/** The same as tiles of a page, which are kept with it. */
export const tiles = (house: House, wanted: WantedShape): Promise<Page<TileShape>> =>
  listNow(house, wanted, asTiles)

async function listNow<Row extends listed.TileApp, Shown>(
  house: House,
  wanted: WantedShape,
  view: View<Row, Shown>,
  known?: Agent,
): Promise<Page<Shown>> {
  const { kind, shelf, q, maker: handle, price, sort = 'new', cursor } = wanted
  const limit = pageSize(wanted.limit)
  const after = readPlace(sort, cursor)
  const agent = handle === undefined ? known : await findNamed(house, handle)
  if (handle !== undefined && !agent) return { items: [], next: null }
  const listing = {
    order: sort,
    ...(kind && { kind }),
    ...(shelf && { shelf }),
    ...(agent && { maker: agent.id }),
    ...(price && { remix: price === 'free' ? ('free' as const) : ('price' as const) }),
    ...(q?.trim() && { q }),
  }
  const rows = await view.find(house, listing, limit + 1, after)
  const { page, next } = pageOf(rows, limit, (row) =>
    makeCursor(sort, ...listed.placeOf(sort, row)),
  )
  return { items: await present(house, page, view), next }
}

const cursors = {
  new: /^new (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  top: /^top (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  trending: /^trending (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
  remixed: /^remixed (\d{1,15}) (\d{1,15}) ([A-Za-z0-9_-]{12})$/,
}

/** Numbers but for the id, which comes last. */
function readPlace(sort: keyof typeof cursors, cursor: string | undefined): listed.Place {
  const parts = readCursor(cursor, cursors[sort]) ?? []
  return parts.map((part, at) => (at === parts.length - 1 ? part : Number(part)))
}

/** An app that is on Explore. Refuses not_found for any other, and taken_down. */
export async function theListed(house: House, id: string): Promise<apps.App> {
  const app = await apps.find(house, id)
  if (app?.takenDown != null) return apps.there(app)
  if (app?.listed === 'on') return app
  throw notOnExplore()
}

export const notOnExplore = (): Refusal<'not_found'> =>
  new Refusal('not_found', { what: 'item on Explore', see: 'GET /explore lists what is.' })

/** All that Explore tells of an item. Refuses not_found, taken_down. */
export async function read(house: House, id: string): Promise<ItemPageShape> {
  const app = await theListed(house, id)
  const before = apps.shownVersion(app) + 1
  const [versions, remixes, lineage] = await Promise.all([
    apps.versionsOf(house, app, besideMax, before),
    listed.remixesOf(house, id, besideMax),
    app.remixOf === null ? [] : ancestorsOf(house, id),
  ])
  const [item, ...others] = await present(house, [app, ...remixes], asItems)
  if (!item) throw notOnExplore()
  return {
    item,
    versions: versions.map(presentShared),
    remixes: others,
    lineage: lineage.map(({ maker, ...names }) => ({ ...names, maker: `@${maker}` })),
    rating: item.rating,
  }
}

type OfMaker = Pick<WantedShape, 'kind' | 'sort' | 'limit' | 'cursor'>

/** A maker and what it has on Explore. Refuses not_found until there is something. */
export const maker = (house: House, handle: string, wanted: OfMaker): Promise<MakerPageShape> =>
  madeBy(house, handle, wanted, asItems)

/** The same as tiles of a page. */
export const makerTiles = (house: House, handle: string, wanted: OfMaker) =>
  madeBy(house, handle, wanted, asTiles)

async function madeBy<Row extends listed.TileApp, Shown>(
  house: House,
  name: string,
  wanted: OfMaker,
  view: View<Row, Shown>,
) {
  const agent = await findNamed(house, name)
  const found = agent && (await listNow(house, wanted, view, agent))
  const isKnown = found && (found.items.length > 0 || (await hasListed(house, agent)))
  if (!isKnown) throw new Refusal('not_found', { what: 'maker on Explore', see: 'GET /explore.' })
  const { handle, about, created } = agent
  const page = makerPage(house, handle)
  return { maker: { handle, about, page, created: iso(created) }, ...found }
}

const hasListed = async (house: House, agent: Agent): Promise<boolean> =>
  (await listed.tiles(house, { order: 'new', maker: agent.id }, 1)).length > 0
