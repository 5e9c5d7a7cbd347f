import type { AppContext } from '../context.ts'
import { type Html, html, type Part } from '../core/html.ts'
import type { Shelf } from '../hosting/apps/shelves.ts'
import type { Tile } from '../hosting/explore/schemas.ts'
import { coverArt } from './cover-art.ts'
import { formatAmount, formatCount } from './format.ts'
import type { Page } from './layout.ts'

/** Labels of a version's `via`. */
export const versionOrigins = {
  html: 'written',
  build: 'built',
  remix: 'remixed',
  restore: 'restored',
}

/** Typed keys of a constant record. */
export const keysOf = <Key extends string>(table: Record<Key, unknown>): Key[] =>
  Object.keys(table).filter((key): key is Key => key in table)

export const queryOf = ({ url }: Request): URLSearchParams => new URL(url).searchParams

/** Appends the query parameters that have a value. */
export function withQuery(path: string, params: Record<string, string | undefined>): string {
  let query = ''
  for (const [name, value] of Object.entries(params)) {
    if (value) query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`
  }
  return path + query
}

/** The search term of a query, cut to `max` characters without splitting a surrogate pair. */
export const searchTerm = (query: URLSearchParams, max: number, name = 'q'): string | undefined =>
  query.get(name)?.slice(0, max).toWellFormed().trim() || undefined

interface ItemCover {
  id: string
  shelf: Shelf
  icon: string | null
}

/** The path of an icon's URL, so that it loads from the host that served the page. */
export const iconPath = ({ urls }: AppContext, icon: string): string => icon.slice(urls.app.length)

/** An item's icon or generated cover. It is decorative: the title is beside it. */
export const itemCover = (ctx: AppContext, { id, shelf, icon }: ItemCover): Html =>
  icon === null
    ? coverArt(id, shelf)
    : html`<img
        class="cover"
        src="${iconPath(ctx, icon)}"
        alt=""
        width="512"
        height="512"
        loading="lazy"
        decoding="async"
      />`

/** A star rating with a text alternative; nothing without ratings. */
export function starRating({ stars: mean, count }: Tile['rating']): Part {
  if (mean === null) return false
  const shown = mean.toFixed(1)
  return html`<span
    class="stars"
    role="img"
    aria-label="${shown} of 5 stars, ${formatCount(count, 'rating')}"
    >&#9733; ${shown}</span
  >`
}

export const playIcon = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <path d="M6.5 4v12l9.5-6z" />
</svg>`

export const openLabel = ({ kind }: Pick<Tile, 'kind'>): string =>
  kind === 'game' ? 'Play' : 'Open'

/** A multiple of 2, 3, 4 and 6, so that every row is full. */
export const tilesPerPage = 24

function renderTile(ctx: AppContext, item: Tile, at: number): Html {
  const { id, title, maker, remix, priceRemix, opens, rating } = item
  const isPageStart = at > 0 && at % tilesPerPage === 0
  const price = remix === 'price' && html`<span>${formatAmount(priceRemix ?? 0, 'credit')}</span>`
  return html`<li class="tile" ${isPageStart && html` id="tile-${at + 1}"`}>
    <a class="tile-link" href="/explore/${id}"
      >${itemCover(ctx, item)}
      <h3><bdi>${title}</bdi></h3></a
    >
    <a class="play" href="/a/${id}" aria-label="${openLabel(item)} ${title}">${playIcon}</a>
    <p><a href="/explore/${maker}">${maker}</a></p>
    <p class="facts">
      ${starRating(rating)}${opens > 0 && html`<span>${formatCount(opens, 'open')}</span>`}${price}
    </p>
  </li> `
}

export const tileGrid = (ctx: AppContext, items: readonly Tile[]): Html =>
  html`<ul class="tiles">
    ${items.map((item, at) => renderTile(ctx, item, at))}
  </ul>`

/** A code block; its script adds the Copy button. */
export const copyLine = (line: Part, label: string): Html =>
  html`<copy-line data-label="${label}">
    <pre tabindex="0" aria-label="${label}"><code>${line}</code></pre>
  </copy-line>`

/** A collapsed curl command. */
export const requestDetails = (name: string, curl: string): Html =>
  html`<details>
    <summary>${name}</summary>
    ${copyLine(curl, name)}
  </details>`

/** Labeled values of one subject. */
export const statList = (stats: readonly (readonly [name: string, value: Part])[]): Html =>
  html`<dl class="stats">
    ${stats.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`

/** A section of a page with its heading. */
export const section = (title: string, content: Part): Html =>
  html`<section>
    <h2>${title}</h2>
    ${content}
  </section>`

/** A narrow page, such as a form. */
export const narrowPage = (title: string, content: Part, options: Partial<Page> = {}): Page => ({
  title,
  main: html`<div class="narrow">
    <h1>${title}</h1>
    ${content}
  </div>`,
  ...options,
})

/** A page with one message; the page of an error shows its status. */
export const messagePage = (
  title: string,
  text: string,
  actions: Part = false,
  status?: number,
): Page => ({
  title,
  main: html`<div class="message">
    ${status !== undefined && html`<p class="small">${status}</p>`}
    <h1>${title}</h1>
    <p class="lead">${text}</p>
    ${actions !== false && html`<p class="actions">${actions}</p>`}
  </div>`,
  ...(status !== undefined && { status }),
})
