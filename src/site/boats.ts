import { getMakerTiles, listTiles } from '../apps/explore/explore.ts'
import type { Tile } from '../apps/explore/schemas.ts'
import { isPackKind } from '../apps/kinds.ts'
import type { AppContext } from '../kernel/context.ts'
import { html } from '../kernel/html.ts'
import type { Layout } from './layout.ts'
import { sendPart } from './public-pages.ts'
import { boatsMax, boatsOf } from './quay.ts'
import { pageRoutes } from './session.ts'

/** The path of the boats of the home page, or of those of a maker. */
export const boatsPath = (handle?: string): string =>
  handle === undefined ? '/boats' : `/boats/@${handle}`

/** Lists the newest apps. Some of the newest items may be packs, which one cannot play. */
export async function listNewest(ctx: AppContext): Promise<Tile[]> {
  const { items } = await listTiles(ctx, { sort: 'new', limit: 2 * boatsMax })
  return items.filter(({ kind }) => !isPackKind(kind))
}

/**
 * The boats alone, which an open page loads again to show new ones. They are the same for
 * everyone, so a browser keeps them until they change: its own page is private and would be sent
 * whole.
 */
export const boatRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/boats', ({ input }) =>
      sendPart(input, '/boats', async () => html`${boatsOf(await listNewest(ctx))}`),
    )
    .get('/boats/:name', ({ input, params: { name } }) =>
      sendPart(input, `/boats/${name}`, async () => {
        const { items } = await getMakerTiles(ctx, name, { limit: boatsMax })
        return html`${boatsOf(items)}`
      }),
    )
