import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import * as explore from '../../hosting/explore/explore.ts'
import type { Item, ItemPage } from '../../hosting/explore/schemas.ts'
import {
  copyLine,
  formatBytes,
  formatCompact,
  iconPath,
  itemCover,
  openLabel,
  playIcon,
  renderDate,
  requestDetails,
  starRating,
  statList,
  tileGrid,
  versionOrigins,
} from '../components.ts'
import { shelfIcon } from '../cover-art.ts'
import { dataTable } from '../data-table.ts'
import { formatAmount } from '../format.ts'
import type { Page } from '../layout.ts'
import { renderFeedback } from './reviews.ts'

const versionsMax = 10
const ancestorsMax = 20

/** One item of Explore, all that is told of it. Refuses not_found, taken_down. */
export async function itemPage(ctx: AppContext, id: string, query: URLSearchParams): Promise<Page> {
  const found = await explore.getItem(ctx, id)
  const { item } = found
  const { title, description, icon, maker } = item
  return {
    title: `${title} by ${maker}`,
    path: `/explore/${id}`,
    section: '/explore',
    description: description || `Made by ${maker}, and open to anyone.`,
    image: icon === null ? undefined : iconPath(ctx, icon),
    scripts: ['copy-line.js'],
    main: html`${itemHeader(ctx, item)}${stats(item)}${remixSection(ctx, item)}${await renderFeedback(ctx, item, query)}${lineage(found)}${remixes(ctx, found)}${versionTable(found)}`,
  }
}

function itemHeader(ctx: AppContext, item: Item): Html {
  const { id, title, description, maker, kind, shelf, remixOf } = item
  const origin =
    remixOf &&
    html`, a remix of <bdi>${remixOf.title}</bdi> by
      <a href="/explore/${remixOf.maker}">${remixOf.maker}</a>`
  return html`<article class="item">
    <div>${itemCover(ctx, item)}</div>
    <div>
      <h1><bdi>${title}</bdi></h1>
      <p class="by">By <a href="/explore/${maker}">${maker}</a>${origin}</p>
      ${description !== '' && html`<p class="text"><bdi>${description}</bdi></p>`}
      <ul class="chips kind">
        <li><a href="/explore?kind=${kind}">${kind}</a></li>
        <li><a href="/explore?shelf=${shelf}">${shelfIcon(shelf)}${shelf}</a></li>
      </ul>
      <p class="acts">
        <a class="button" href="/a/${id}">${playIcon}${openLabel(item)}</a
        ><a class="button quiet" href="/report/${id}" rel="nofollow">Report</a>
      </p>
    </div>
  </article>`
}

const stats = ({ opens, remixes, rating, published, updated, version }: Item): Html =>
  statList([
    ['Rating', html`${starRating(rating) || 'None yet'}`],
    ['Opens', formatCompact(opens)],
    ['Remixes', formatCompact(remixes)],
    ['Version', version],
    ['On Explore since', renderDate(published)],
    ['Changed', renderDate(updated)],
  ])

function remixSection({ urls }: AppContext, { id, title, remix, priceRemix }: Item): Html {
  if (remix === 'off') {
    return html`<section>
      <h2>Remix</h2>
      <p>Its maker allows no remixing.</p>
    </section>`
  }
  const price = remix === 'price' ? (priceRemix ?? 0) : 0
  const words =
    price === 0
      ? 'A remix is free: an agent gets a copy with its code and files, and the maker is credited.'
      : `A remix costs ${formatAmount(price, 'credit')}, 80% of it for the maker. An agent gets a copy with its code and files, and the maker is credited.`
  const line = html`Read ${urls.app}/skill.md, then remix "<bdi>${title}</bdi>" (${id}) and change
  it as I tell you.`
  const curl = `curl -sX POST ${urls.base}/apps/${id}/remix -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"maxCredits":${price}}'`
  return html`<section>
    <h2>Remix</h2>
    <p>${words}</p>
    ${copyLine(line, 'The line for your agent')}${requestDetails('The request that remixes it', curl)}
  </section>`
}

function lineage({ item, lineage: all }: ItemPage): Html {
  if (all.length === 0) return html``
  const shown = all.slice(0, ancestorsMax).toReversed()
  const far = all.length - shown.length
  return html`<section>
    <h2>Lineage</h2>
    <ol class="lineage">
      ${far > 0 && html`<li class="small">${formatCompact(far)} before these</li>`}${shown.map(
        ({ id, title, maker }) =>
          html`<li>
            <a href="/explore/${id}"><bdi>${title}</bdi></a> by
            <a href="/explore/${maker}">${maker}</a>
          </li>`,
      )}
      <li>
        <strong><bdi>${item.title}</bdi></strong> by ${item.maker}
      </li>
    </ol>
  </section>`
}

const remixes = (ctx: AppContext, found: ItemPage): Html =>
  found.remixes.length === 0
    ? html``
    : html`<section>
        <h2>Remixes of it</h2>
        ${tileGrid(ctx, found.remixes)}
      </section>`

function versionTable({ versions: all }: ItemPage): Html {
  const rows = all
    .slice(0, versionsMax)
    .map(({ version, created, via, note, bytes }) => [
      `Version ${version}`,
      renderDate(created),
      html`${versionOrigins[via]}${note !== '' && html`: <bdi>${note}</bdi>`}`,
      formatBytes(bytes),
    ])
  return html`<section>
    <h2>Versions</h2>
    ${dataTable('Versions', ['Version', 'Day', { long: 'How' }, { number: 'Size' }], rows)}
  </section>`
}
