import * as explore from '../apps/explore/explore.ts'
import { listFeatured } from '../apps/explore/explore.ts'
import type { Tile } from '../apps/explore/schemas.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { t } from '../kernel/words/message.ts'
import { tileGrid } from './tiles.ts'

/** The tiles of a row on a wide screen. */
const rowTiles = 4

/** A row of tiles with a link to the whole list. */
export interface Shelf {
  title: string
  items: Tile[]
  more?: string
  /** It is all that there is, so that it takes as many lines as it needs. */
  isWhole?: boolean
}

/** Fewer items than this make one row. */
const severalRows = 8
/** A row with fewer items is left out, unless somebody chose them. */
const rowItemsMin = 3
/** Tiles that are read for a row, of which earlier rows may show most. */
const readTiles = 6 * rowTiles

interface Candidates extends Shelf {
  /** It is shown with a single item, too. */
  isChosen?: boolean
}

/**
 * Reads the rows of the home page and of Explore. A row has what no earlier row shows. `shown` is
 * an item above them.
 */
export async function readShelves(ctx: AppContext, shown?: string): Promise<Shelf[]> {
  const list = async (query: Parameters<typeof explore.listTiles>[1]) =>
    (await explore.listTiles(ctx, { limit: readTiles, ...query })).items
  const [featured, trending, week, newest, top, played, remixed, skills] = await Promise.all([
    listFeatured(ctx),
    list({ sort: 'trending' }),
    explore.listTopOfWeek(ctx, readTiles),
    list({ sort: 'new' }),
    list({ sort: 'top' }),
    list({ sort: 'played' }),
    list({ sort: 'remixed' }),
    list({ kind: 'skill', sort: 'record' }),
  ])
  const opened = (items: Tile[]): Tile[] => items.filter(({ opens }) => opens > 0)
  const newRow = { title: t('New'), items: newest, more: '/explore?sort=new' }
  const isFew = newest.filter(({ id }) => id !== shown).length < severalRows
  const rows: Candidates[] = [
    { title: t('Featured'), items: featured, isChosen: true },
    { title: t('Trending'), items: opened(trending), more: '/explore?sort=trending' },
    { title: t('Top this week'), items: week },
    newRow,
    {
      title: t('Best rated'),
      items: top.filter(({ rating }) => rating.count > 0),
      more: '/explore?sort=top',
    },
    { title: t('Most played'), items: opened(played), more: '/explore?sort=played' },
    { title: t('Skills'), items: skills, more: '/explore?kind=skill', isChosen: true },
    {
      title: t('Most remixed'),
      items: remixed.filter(({ remixes }) => remixes > 0),
      more: '/explore?sort=remixed',
    },
  ]
  return isFew
    ? withoutRepeats([{ ...newRow, isChosen: true, isWhole: true }], shown, severalRows)
    : withoutRepeats(rows, shown, rowTiles)
}

/** Removes what an earlier row shows, and rows that are left with too little. */
function withoutRepeats(rows: Candidates[], shown: string | undefined, max: number): Shelf[] {
  const seen = new Set([shown])
  return rows.flatMap(({ isChosen = false, items, ...row }) => {
    const fresh = items.filter(({ id }) => !seen.has(id)).slice(0, max)
    if (fresh.length < (isChosen ? 1 : rowItemsMin)) return []
    for (const { id } of fresh) seen.add(id)
    return [{ ...row, items: fresh }]
  })
}

export const renderShelf = (
  ctx: AppContext,
  { title, items, more, isWhole = false }: Shelf,
  isFirst = false,
): Html =>
  html`<section class="shelf">
    <div class="head">
      <h2>${title}</h2>
      ${seeAll(title, more)}
    </div>
    ${tileGrid(ctx, items, { style: isWhole ? '' : 'row', isFirst })}
  </section>`

const seeAll = (title: string, more: string | undefined): Part =>
  more !== undefined &&
  html`<a href="${more}">See all<span class="visually-hidden"> of ${title}</span></a>`
