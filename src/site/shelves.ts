import * as explore from '../apps/explore/explore.ts'
import { listFeatured } from '../apps/explore/featured.ts'
import type { Tile } from '../apps/explore/schemas.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import type { AppContext } from '../server/context.ts'
import { tileGrid } from './tiles.ts'

/** The tiles of a row on the widest screen. */
const rowTiles = 5

/** A row of tiles with a link to the whole list. */
export interface Shelf {
  title: string
  items: Tile[]
  more?: string
}

/** Reads the rows of the home page and of Explore. Rows without items are left out. */
export async function readShelves(ctx: AppContext): Promise<Shelf[]> {
  const packs = async () =>
    (await explore.listTiles(ctx, { kind: 'skill', sort: 'record', limit: rowTiles })).items
  const list = async (sort: 'new' | 'top' | 'trending' | 'remixed' | 'played', limit = rowTiles) =>
    (await explore.listTiles(ctx, { sort, limit })).items
  const [featured, trending, week, newest, top, played, remixed, skills] = await Promise.all([
    listFeatured(ctx),
    list('trending'),
    explore.listTopOfWeek(ctx, rowTiles),
    list('new'),
    list('top'),
    list('played'),
    list('remixed'),
    packs(),
  ])
  const opened = (items: Tile[]): Tile[] => items.filter(({ opens }) => opens > 0)
  const shelves: Shelf[] = [
    { title: 'Featured', items: featured.slice(0, rowTiles) },
    { title: 'Trending', items: opened(trending), more: '/explore?sort=trending' },
    { title: 'Top this week', items: week },
    { title: 'New', items: newest, more: '/explore?sort=new' },
    {
      title: 'Best rated',
      items: top.filter(({ rating }) => rating.count > 0),
      more: '/explore?sort=top',
    },
    { title: 'Most played', items: opened(played), more: '/explore?sort=played' },
    { title: 'Skills', items: skills, more: '/explore?kind=skill' },
    {
      title: 'Most remixed',
      items: remixed.filter(({ remixes }) => remixes > 0),
      more: '/explore?sort=remixed',
    },
  ]
  return shelves.filter(({ items }) => items.length > 0)
}

export const renderShelf = (
  ctx: AppContext,
  { title, items, more }: Shelf,
  isFirst = false,
): Html =>
  html`<section class="shelf">
    <div class="head">
      <h2>${title}</h2>
      ${seeAll(title, more)}
    </div>
    ${tileGrid(ctx, items, { style: 'row', isFirst })}
  </section>`

const seeAll = (title: string, more: string | undefined): Part =>
  more !== undefined &&
  html`<a href="${more}">See all<span class="visually-hidden"> of ${title}</span></a>`
