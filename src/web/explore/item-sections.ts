import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/html.ts'
import type { ItemPage } from '../../hosting/explore/schemas.ts'
import { section, versionOrigins } from '../components.ts'
import { formatBytes, formatCompact, renderDate } from '../format.ts'
import { tileGrid } from '../tiles.ts'

const versionsMax = 10
const ancestorsMax = 20

/** The ancestors of a remix, the root first. */
export function itemLineage({ item, lineage: all }: ItemPage): Html {
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

/** The remixes of an item that are on Explore. */
export const itemRemixes = (ctx: AppContext, found: ItemPage): Html =>
  found.remixes.length === 0 ? html`` : section('Remixes', tileGrid(ctx, found.remixes))

/** The versions of an item up to the one on Explore. */
export function versionList({ versions: all }: ItemPage): Html {
  const rows = all.slice(0, versionsMax).map(
    ({ version, created, via, note, bytes }) =>
      html`<li>
        <strong>Version ${version}</strong>
        <p class="small">${renderDate(created)} · ${formatBytes(bytes)} · ${versionOrigins[via]}</p>
        ${note !== '' && html`<p><bdi>${note}</bdi></p>`}
      </li>`,
  )
  return section(
    'Version history',
    html`<ol class="rows">
      ${rows}
    </ol>`,
  )
}
