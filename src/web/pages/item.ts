import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import * as explore from '../../hosting/explore/explore.ts'
import type { ItemPageShape, ItemShape } from '../../hosting/explore/schemas.ts'
import { told } from '../amounts.ts'
import { glyph } from '../cover.ts'
import type { Page } from '../layout.ts'
import {
  copyLine,
  dayOf,
  few,
  numbers,
  picture,
  picturePath,
  playSign,
  requestLine,
  sizeOf,
  stars,
  tiles,
  verbOf,
  vias,
} from '../parts.ts'
import { table } from '../table.ts'
import { saidOf } from './said.ts'

const versionsMax = 10
const ancestorsMax = 20

/** One item of Explore, all that is told of it. Refuses not_found, taken_down. */
export async function itemPage(ctx: AppContext, id: string, query: URLSearchParams): Promise<Page> {
  const found = await explore.read(ctx, id)
  const { item } = found
  const { title, description, icon, maker } = item
  return {
    title: `${title} by ${maker}`,
    path: `/explore/${id}`,
    place: '/explore',
    description: description || `Made by ${maker}, and open to anyone.`,
    image: icon === null ? undefined : picturePath(ctx, icon),
    scripts: ['copy-line.js'],
    main: html`${about(ctx, item)}${facts(item)}${remixing(ctx, item)}${await saidOf(ctx, item, query)}${lineage(found)}${remixes(ctx, found)}${versions(found)}`,
  }
}

function about(ctx: AppContext, item: ItemShape): Html {
  const { id, title, description, maker, kind, shelf, remixOf } = item
  const origin =
    remixOf &&
    html`, a remix of <bdi>${remixOf.title}</bdi> by
      <a href="/explore/${remixOf.maker}">${remixOf.maker}</a>`
  return html`<article class="item">
    <div>${picture(ctx, item)}</div>
    <div>
      <h1><bdi>${title}</bdi></h1>
      <p class="by">By <a href="/explore/${maker}">${maker}</a>${origin}</p>
      ${description !== '' && html`<p class="text"><bdi>${description}</bdi></p>`}
      <ul class="chips kind">
        <li><a href="/explore?kind=${kind}">${kind}</a></li>
        <li><a href="/explore?shelf=${shelf}">${glyph(shelf)}${shelf}</a></li>
      </ul>
      <p class="acts">
        <a class="button" href="/a/${id}">${playSign}${verbOf(item)}</a
        ><a class="button quiet" href="/report/${id}" rel="nofollow">Report</a>
      </p>
    </div>
  </article>`
}

const facts = ({ opens, remixes, rating, published, updated, version }: ItemShape): Html =>
  numbers([
    ['Rating', html`${stars(rating) || 'None yet'}`],
    ['Opens', few(opens)],
    ['Remixes', few(remixes)],
    ['Version', version],
    ['On Explore since', dayOf(published)],
    ['Changed', dayOf(updated)],
  ])

function remixing({ urls }: AppContext, { id, title, remix, priceRemix }: ItemShape): Html {
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
      : `A remix costs ${told(price, 'credit')}, 80% of it for the maker. An agent gets a copy with its code and files, and the maker is credited.`
  const line = html`Read ${urls.app}/skill.md, then remix "<bdi>${title}</bdi>" (${id}) and change
  it as I tell you.`
  const curl = `curl -sX POST ${urls.base}/apps/${id}/remix -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '{"maxCredits":${price}}'`
  return html`<section>
    <h2>Remix</h2>
    <p>${words}</p>
    ${copyLine(line, 'The line for your agent')}${requestLine('The request that remixes it', curl)}
  </section>`
}

function lineage({ item, lineage: all }: ItemPageShape): Html {
  if (all.length === 0) return html``
  const shown = all.slice(0, ancestorsMax).toReversed()
  const far = all.length - shown.length
  return html`<section>
    <h2>Lineage</h2>
    <ol class="lineage">
      ${far > 0 && html`<li class="small">${few(far)} before these</li>`}${shown.map(
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

const remixes = (ctx: AppContext, found: ItemPageShape): Html =>
  found.remixes.length === 0
    ? html``
    : html`<section>
        <h2>Remixes of it</h2>
        ${tiles(ctx, found.remixes)}
      </section>`

function versions({ versions: all }: ItemPageShape): Html {
  const rows = all
    .slice(0, versionsMax)
    .map(({ version, created, via, note, bytes }) => [
      `Version ${version}`,
      dayOf(created),
      html`${vias[via]}${note !== '' && html`: <bdi>${note}</bdi>`}`,
      sizeOf(bytes),
    ])
  return html`<section>
    <h2>Versions</h2>
    ${table('Versions', ['Version', 'Day', { long: 'How' }, { number: 'Size' }], rows)}
  </section>`
}
