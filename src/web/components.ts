import type { AppContext } from '../context.ts'
import { lazy } from '../core/lazy.ts'
import { type Html, html, type Part } from '../core/markup.ts'
import type { Shelf } from '../hosting/apps/shelves.ts'
import type { Tile } from '../hosting/explore/schemas.ts'
import { coverArt } from './cover-art.ts'
import { formatAmount } from './format.ts'

const dates = lazy(() => new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }))
const counts = lazy(() => new Intl.NumberFormat('en', { notation: 'compact' }))

/** A moment of the wire as a day: 4 May 2026. */
export const renderDate = (time: string): Html =>
  html`<time datetime="${time}">${dates().format(Date.parse(time))}</time>`

const moments = lazy(
  () =>
    new Intl.DateTimeFormat('en-GB', {
      dateStyle: 'medium',
      timeStyle: 'short',
      timeZone: 'UTC',
    }),
)

/** A moment of the wire: 4 May 2026, 12:00 UTC. */
export const renderDateTime = (time: string): Html =>
  html`<time datetime="${time}">${moments().format(Date.parse(time))} UTC</time>`

const kb = 1_024
const tenths = lazy(() => new Intl.NumberFormat('en', { maximumFractionDigits: 1 }))

/** A number of bytes in few signs: 12 KB, 1.4 MB, 3 GB. */
export function formatBytes(bytes: number): string {
  if (bytes < kb ** 2) return `${Math.ceil(bytes / kb)} KB`
  const [many, unit] = bytes < kb ** 3 ? [bytes / kb ** 2, 'MB'] : [bytes / kb ** 3, 'GB']
  return `${tenths().format(many)} ${unit}`
}

/** What the wire calls a version's origin, in words. */
export const versionOrigins = {
  html: 'written',
  build: 'built',
  remix: 'remixed',
  restore: 'restored',
}

/** A number in few signs: 1.2K. Below a thousand the formatter would only cost time. */
export const formatCompact = (count: number): string =>
  count < 1_000 ? String(count) : counts().format(count)

/** "1 open", "2 opens". */
export const formatCount = (count: number, noun: string): string =>
  `${formatCompact(count)} ${noun}${count === 1 ? '' : 's'}`

/** The names of a table, which has no others. */
export const keysOf = <Key extends string>(table: Record<Key, unknown>): Key[] =>
  Object.keys(table).filter((key): key is Key => key in table)

/** What the address of a request asks for. */
export const queryOf = ({ url }: Request): URLSearchParams => new URL(url).searchParams

/** An address of a page with what is set in a query. */
export function withQuery(path: string, wanted: Record<string, string | undefined>): string {
  let query = ''
  for (const [name, value] of Object.entries(wanted)) {
    if (value) query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`
  }
  return path + query
}

/** The words that an address searches for; a cut never leaves half of a sign. */
export const searchTerm = (query: URLSearchParams, max: number): string | undefined =>
  query.get('q')?.slice(0, max).toWellFormed().trim() || undefined

interface ItemCover {
  id: string
  shelf: Shelf
  icon: string | null
}

/** The picture of an item as a path, whatever name of this host it was asked under. */
export const iconPath = ({ urls }: AppContext, icon: string): string => icon.slice(urls.app.length)

/** An item's picture, or the cover it has without one. Beside its title it says nothing. */
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

/** Stars in words and signs; nothing where nobody has rated. */
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

/** The sign of opening an item. */
export const playIcon = html`<svg viewBox="0 0 20 20" aria-hidden="true">
  <path d="M6.5 4v12l9.5-6z" />
</svg>`

/** What one does with an item. */
export const openLabel = ({ kind }: Pick<Tile, 'kind'>): string =>
  kind === 'game' ? 'Play' : 'Open'

function renderTile(ctx: AppContext, item: Tile): Html {
  const { id, title, maker, remix, priceRemix, opens, rating } = item
  const price = remix === 'price' && html`<span>${formatAmount(priceRemix ?? 0, 'credit')}</span>`
  return html`<li class="tile">
    <a class="face" href="/explore/${id}"
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

/** Items as tiles, each with its picture, its maker and a way straight into it. */
export const tileGrid = (ctx: AppContext, items: readonly Tile[]): Html =>
  html`<ul class="tiles">
    ${items.map((item) => renderTile(ctx, item))}
  </ul>`

/** A line to be copied; the button comes with its script. */
export const copyLine = (line: Part, what: string): Html =>
  html`<copy-line data-what="${what}">
    <pre tabindex="0" aria-label="${what}"><code>${line}</code></pre>
  </copy-line>`

/** A request for who writes programs, out of the way of who does not. */
export const requestDetails = (name: string, curl: string): Html =>
  html`<details>
    <summary>${name}</summary>
    ${copyLine(curl, name)}
  </details>`

/** What is told of one thing, each number under its name. */
export const statList = (all: readonly (readonly [name: string, value: Part])[]): Html =>
  html`<dl class="numbers">
    ${all.map(
      ([name, value]) =>
        html`<div>
          <dt>${name}</dt>
          <dd>${value}</dd>
        </div>`,
    )}
  </dl>`
