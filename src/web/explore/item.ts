import type { AppContext } from '../../context.ts'
import { type Html, html, type Part } from '../../core/html.ts'
import * as explore from '../../hosting/explore/explore.ts'
import type { Item, ItemPage } from '../../hosting/explore/schemas.ts'
import {
  copyLine,
  openLabel,
  playIcon,
  requestDetails,
  section,
  starRating,
  statList,
  versionOrigins,
} from '../components.ts'
import { shelfIcon } from '../cover-art.ts'
import { formatAmount, formatBytes, formatCompact, renderDate } from '../format.ts'
import type { Page } from '../layout.ts'
import { dataTable } from '../lists.ts'
import { imagePath, itemCover, tileGrid } from '../tiles.ts'
import { remixPrice } from './remix.ts'
import { renderFeedback } from './reviews.ts'
import type { ItemVisitor } from './visitor.ts'

const versionsMax = 10
const ancestorsMax = 20

/**
 * Renders the page of an item, with forms for a signed-in person. Throws `not_found`, `taken_down`.
 */
export async function itemPage(
  ctx: AppContext,
  id: string,
  query: URLSearchParams,
  visitor?: ItemVisitor,
): Promise<Page> {
  const found = await explore.getItem(ctx, id)
  const { item } = found
  const { title, description, icon, maker } = item
  return {
    title: `${title} by ${maker}`,
    path: `/explore/${id}`,
    section: '/explore',
    description: description || `An app by ${maker}.`,
    image: icon === null ? undefined : imagePath(ctx, icon),
    scripts: ['copy-line.js'],
    main: html`${itemHeader(ctx, item, visitor)}${stats(item)}${await renderFeedback(ctx, item, query, visitor)}${remixSection(ctx, item)}${lineage(found)}${remixes(ctx, found)}${versionTable(found)}`,
  }
}

function itemHeader(ctx: AppContext, item: Item, visitor: ItemVisitor | undefined): Html {
  const { id, title, description, maker, kind, shelf, remixOf } = item
  const origin =
    remixOf &&
    html` · remix of <bdi>${remixOf.title}</bdi> by
      <a href="/explore/${remixOf.maker}">${remixOf.maker}</a>`
  return html`<article class="item">
    <div>${itemCover(ctx, item)}</div>
    <div>
      <h1><bdi>${title}</bdi></h1>
      <p class="by">By <a href="/explore/${maker}">${maker}</a>${origin}</p>
      ${description !== '' && html`<p class="text"><bdi>${description}</bdi></p>`}
      <ul class="chips capitalized">
        <li><a href="/explore?kind=${kind}">${kind}</a></li>
        <li><a href="/explore?shelf=${shelf}">${shelfIcon(shelf)}${shelf}</a></li>
      </ul>
      <p class="actions">
        <a class="button" href="/a/${id}">${playIcon}${openLabel(item)}</a
        >${itemActions(item, visitor)}
      </p>
    </div>
  </article>`
}

/** Opens the studio of an own app; remixes or reports another's. */
function itemActions(item: Item, visitor: ItemVisitor | undefined): Part {
  const { id } = item
  if (visitor?.isOwner)
    return html`<a class="button quiet" href="/studio/${id}/build">Open in studio</a>`
  const price = remixPrice(item)
  const suffix = price !== undefined && price > 0 && ` · ${formatAmount(price, 'credit')}`
  return html`${price !== undefined && html`<a class="button quiet" href="/explore/${id}/remix" rel="nofollow">Remix${suffix}</a>`}<a
      class="button quiet"
      href="/report/${id}"
      rel="nofollow"
      >Report</a
    >`
}

const stats = ({ opens, remixes, rating, published, updated, version }: Item): Html =>
  statList([
    ['Rating', html`${starRating(rating) || 'No ratings'}`],
    ['Opens', formatCompact(opens)],
    ['Remixes', formatCompact(remixes)],
    ['Version', version],
    ['Published', renderDate(published)],
    ['Updated', renderDate(updated)],
  ])

function remixSection({ urls }: AppContext, item: Item): Html {
  const { id, title } = item
  const price = remixPrice(item)
  if (price === undefined) {
    return section('Remix', html`<p>The maker turned off remixes.</p>`)
  }
  const text =
    price === 0
      ? 'Free. An agent gets a copy with the code and files, and the maker is credited.'
      : `${formatAmount(price, 'credit')}; the maker receives 80%. An agent gets a copy with the code and files, and the maker is credited.`
  const line = html`Read ${urls.app}/skill.md, then remix "<bdi>${title}</bdi>" (${id}) and change
  it as I describe.`
  const curl = `curl -sX POST ${urls.base}/apps/${id}/remix -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"maxCredits":${price}}'`
  return section(
    'Remix',
    html`<p>${text}</p>
      ${copyLine(line, 'Prompt for your agent')}${requestDetails('Remix with curl', curl)}`,
  )
}

function lineage({ item, lineage: all }: ItemPage): Html {
  if (all.length === 0) return html``
  const shown = all.slice(0, ancestorsMax).toReversed()
  const hidden = all.length - shown.length
  return section(
    'Lineage',
    html`<ol class="lineage">
      ${hidden > 0 && html`<li class="small">${formatCompact(hidden)} earlier</li>`}${shown.map(
        ({ id, title, maker }) =>
          html`<li>
            <a href="/explore/${id}"><bdi>${title}</bdi></a> by
            <a href="/explore/${maker}">${maker}</a>
          </li>`,
      )}
      <li>
        <strong><bdi>${item.title}</bdi></strong> by ${item.maker}
      </li>
    </ol>`,
  )
}

const remixes = (ctx: AppContext, found: ItemPage): Html =>
  found.remixes.length === 0 ? html`` : section('Remixes', tileGrid(ctx, found.remixes))

function versionTable({ versions: all }: ItemPage): Html {
  const rows = all
    .slice(0, versionsMax)
    .map(({ version, created, via, note, bytes }) => [
      `Version ${version}`,
      renderDate(created),
      html`${versionOrigins[via]}${note !== '' && html`: <bdi>${note}</bdi>`}`,
      formatBytes(bytes),
    ])
  return section(
    'Version history',
    dataTable('Versions', ['Version', 'Date', { long: 'Change' }, { number: 'Size' }], rows),
  )
}
