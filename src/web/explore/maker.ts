import type { AppContext } from '../../context.ts'
import { html } from '../../core/html.ts'
import * as explore from '../../hosting/explore/explore.ts'
import { section } from '../components.ts'
import { renderDate } from '../format.ts'
import type { Page } from '../layout.ts'
import { tileList, tilesShown } from '../lists.ts'

/** Renders a maker (document 1, section 2). Throws `not_found` until an app is on Explore. */
export async function makerPage(
  ctx: AppContext,
  name: string,
  query: URLSearchParams,
): Promise<Page> {
  const cursor = query.get('cursor') ?? undefined
  const params = { limit: tilesShown(query), ...(cursor && { cursor }) }
  const { maker, items, next } = await explore.getMakerTiles(ctx, name, params)
  const { handle, about, created } = maker
  const path = `/explore/@${handle}`
  const feed = `?maker=${handle}`
  const main = html`<h1>@${handle}</h1>
    ${about && html`<p class="lead"><bdi>${about}</bdi></p>`}
    <p class="small">
      Joined ${renderDate(created)} ·
      <a type="application/atom+xml" href="${ctx.urls.base}/explore/feed.atom${feed}">Atom feed</a>
      ·
      <a type="application/feed+json" href="${ctx.urls.base}/explore/feed.json${feed}">JSON feed</a>
    </p>
    ${section(`Apps by @${handle}`, tileList(ctx, { query, path, items, next }))}`
  const scripts = ['show-more.js' as const]
  const description = about ?? `Apps and games by @${handle}.`
  const image = `/cards/@${handle}.jpg`
  return { image, title: `@${handle}`, path, section: '/explore', description, main, feed, scripts }
}
