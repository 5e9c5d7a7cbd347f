import { type CoverBody, largeSize, smallSize } from '../apps/covers/schemas.ts'
import type { Item, Tile } from '../apps/explore/schemas.ts'
import { isPackKind, type Kind, type Shelf } from '../apps/kinds.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html, type Part } from '../kernel/html.ts'
import { coverArt } from './art.ts'
import { countFact, openLabel, playIcon, starRating } from './components.ts'
import { formatAmount } from './format.ts'
import { imagePath } from './paths.ts'

/** A multiple of 2, 3 and 4, so that rows are full. */
export const tilesPerPage = 24
/** The tiles that the first screen of a phone shows load at once, before those beside them. */
const eagerTiles = 2

interface ItemCover {
  id: string
  kind: Kind
  shelf: Shelf
  icon: string | null
  cover: CoverBody | null
}

/** Layout widths of a cover image, as the `sizes` of an image. */
const coverWidths = {
  tile: '(min-width: 1240px) 270px, (min-width: 1000px) 23vw, (min-width: 640px) 31vw, 46vw',
  wide: '(min-width: 1000px) 680px, 94vw',
  version: '(min-width: 720px) 192px, 120px',
  thumbnail: '80px',
  log: '(min-width: 720px) 300px, 46vw',
}

interface CoverOptions {
  widths?: keyof typeof coverWidths
  /** The image is on the first screen. */
  isEager?: boolean
}

/** An item's cover, its icon or generated art. It is decorative: the title is beside it. */
export function itemCover(
  ctx: AppContext,
  { id, kind, shelf, icon, cover }: ItemCover,
  { widths = 'tile', isEager = false }: CoverOptions = {},
): Html {
  const loading = isEager ? html` fetchpriority="high"` : html` loading="lazy"`
  if (cover) {
    const [small, large] = [imagePath(ctx, cover.small), imagePath(ctx, cover.large)]
    // The policy forbids style attributes; a shape may have a color.
    return html`<span class="cover"
      ><svg viewBox="0 0 16 10" aria-hidden="true">
        <rect width="16" height="10" fill="${cover.color}" /></svg
      ><img
        src="${small}"
        srcset="${small} ${smallSize.width}w, ${large} ${largeSize.width}w"
        sizes="${coverWidths[widths]}"
        alt=""
        width="${smallSize.width}"
        height="${smallSize.height}"
        decoding="async"
        ${loading}
    /></span>`
  }
  const image =
    icon !== null &&
    html`<img
      class="icon"
      src="${imagePath(ctx, icon)}"
      alt=""
      width="512"
      height="512"
      decoding="async"
      ${loading}
    />`
  return html`<span class="cover">${coverArt(id, shelf, kind)}${image}</span>`
}

/** A tile is one link; the name of the maker is a link of its own beside it. */
function renderTile(
  ctx: AppContext,
  item: Tile,
  at: number,
  { isFirst = false, isOfMaker = false, control }: GridOptions,
): Html {
  const { id, title, maker, remix, priceRemix, opens, rating } = item
  const isPageStart = at > 0 && at % tilesPerPage === 0
  const price =
    remix === 'price' && html`<span class="price">${formatAmount(priceRemix ?? 0, 'credit')}</span>`
  return html`<li class="tile" ${isPageStart && html` id="tile-${at + 1}"`}>
    <a class="tile-link" href="/explore/${id}"
      >${itemCover(ctx, item, { isEager: isFirst && at < eagerTiles })}
      <h3><bdi>${title}</bdi></h3></a
    >
    ${
      !isOfMaker &&
      html`<p>
        <a href="/explore/${maker}"><bdi>${maker}</bdi></a>
      </p>`
    }
    <p class="facts">
      ${starRating(rating)}${isPackKind(item.kind) ? countFact(opens, 'load') : countFact(opens, 'play')}${price}
    </p>
    ${control?.(item)}
  </li> `
}

interface GridOptions {
  /** The grid starts on the first screen. */
  isFirst?: boolean
  /** "row": one line that scrolls sideways on a phone. */
  style?: '' | 'row'
  /** All are of one maker, whose name stands above. */
  isOfMaker?: boolean
  /** Renders what the visitor can do with an item, below its tile. */
  control?: (item: Tile) => Part
}

export const tileGrid = (
  ctx: AppContext,
  items: readonly Tile[],
  options: GridOptions = {},
): Html =>
  html`<ul class="tiles${options.style && ` ${options.style}`}">
    ${items.map((item, at) => renderTile(ctx, item, at, options))}
  </ul>`

/**
 * The cover of an item, which plays it. With scripts it plays in place, in the same
 * sandbox as its link; without, it opens the link.
 */
export const playHere = (ctx: AppContext, item: Item): Html =>
  html`<play-here data-title="${item.title}"
    ><a class="poster" href="/a/${item.id}" aria-label="${openLabel(item)} ${item.title}"
      >${itemCover(ctx, item, { widths: 'wide', isEager: true })}<span class="start-button"
        >${playIcon}</span
      ></a
    ></play-here
  >`
