import {
  type Collection,
  listItemIds,
  presentCollections,
} from '../../apps/collections/collections.ts'
import type { CollectionBody } from '../../apps/collections/schemas.ts'
import { listTilesByIds } from '../../apps/explore/explore.ts'
import type { Tile } from '../../apps/explore/schemas.ts'
import { type Html, html } from '../../kernel/html.ts'
import type { AppContext } from '../../server/context.ts'
import { formatCount, renderDate } from '../format.ts'
import { itemCover } from '../tiles.ts'

/** The covers on a card: one, or four in a square. */
const coversShown = 4

/** The path of a collection on this server. */
export const collectionPath = ({ id }: Pick<CollectionBody, 'id'>): string => `/collections/${id}`

/** Cards of collections with the covers of their first items. */
export async function collectionCards(ctx: AppContext, rows: Collection[]): Promise<Html> {
  const [all, ids] = await Promise.all([
    presentCollections(ctx, rows),
    Promise.all(rows.map(({ id }) => listItemIds(ctx, id, coversShown))),
  ])
  const tiles = await listTilesByIds(ctx, [...new Set(ids.flat())])
  const byId = new Map(tiles.map((tile) => [tile.id, tile]))
  const card = (one: CollectionBody, at: number): Html => {
    const items = (ids[at] ?? []).flatMap((id) => byId.get(id) ?? [])
    return collectionCard(ctx, one, items)
  }
  return html`<ul class="tiles">
    ${all.map(card)}
  </ul>`
}

function collectionCard(ctx: AppContext, one: CollectionBody, items: Tile[]): Html {
  const { title, maker, updated } = one
  const covers = items.length < coversShown ? items.slice(0, 1) : items
  return html`<li class="tile">
    <a class="tile-link" href="${collectionPath(one)}"
      ><span class="cover mosaic${covers.length > 1 && ' four'}"
        >${covers.map((item) => itemCover(ctx, item))}</span
      >
      <h3><bdi>${title}</bdi></h3></a
    >
    <p class="facts">
      <span>${formatCount(one.items, 'item')}</span><span>by ${maker}</span
      ><span>${renderDate(updated)}</span>
    </p>
  </li> `
}
