import type { Item, ItemPage } from '../../apps/explore/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { section, versionOrigins } from '../components.ts'
import { shelfIcon } from '../cover-art.ts'
import { formatAmount, formatBytes, formatCompact, renderDate } from '../format.ts'
import { button, hiddenField, postForm } from '../forms.ts'
import { tileGrid } from '../tiles.ts'
import { wireWord } from '../wire-words.ts'
import { remixPrice } from './remix.ts'
import type { ItemVisitor } from './reviews.ts'

const versionsMax = 10
const ancestorsMax = 20

/** The title of an item, its maker, and what it is a remix of. */
export function itemTitle({ title, maker, remixOf }: Item): Html {
  const origin =
    remixOf &&
    html` · remix of <bdi>${remixOf.title}</bdi> by
      <a href="/explore/${remixOf.maker}">${remixOf.maker}</a>`
  return html`<h1><bdi>${title}</bdi></h1>
    <p class="by">By <a href="/explore/${maker}">${maker}</a>${origin}</p>`
}

/** Names of the uses that people should know before they open an item. */
const useLabels = new Map([
  ['ai', msg('Uses AI')],
  ['shared', msg('Shares data')],
  ['db', msg('Shares data')],
  ['room', msg('Live with others')],
  ['scores', msg('Scores')],
  ['files', msg('Shares data')],
])

/** One line on what an item uses; nothing for most. */
export function useLine({ uses }: ItemPage): Part {
  const labels = new Set(uses.flatMap((use) => useLabels.get(use) ?? []))
  return labels.size > 0 && html`<p class="small">${[...labels].join(' · ')}</p>`
}

/** Links to the items of the same kind and of the same shelf. */
export const itemChips = ({ kind, shelf }: Item): Html =>
  html`<ul class="chips capitalized">
    <li><a href="/explore?kind=${kind}">${wireWord(kind)}</a></li>
    <li><a href="/explore?shelf=${shelf}">${shelfIcon(shelf)}${wireWord(shelf)}</a></li>
  </ul>`

/** A free remix of a person with one agent is one press. Others confirm agent and price first. */
export function remixControl(item: Item, visitor: ItemVisitor | undefined): Part {
  const [only, other] = visitor?.agents ?? []
  if (!visitor || !only || other || remixPrice(item) !== 0) return remixLink(item)
  const fields = html`${hiddenField('as', only.handle)}${hiddenField('maxCredits', 0)}${hiddenField('ref', newId())}`
  const path = `/explore/${item.id}/remix`
  return postForm(visitor.token, path, html`${fields}${button(t('Remix'), 'quiet')}`, 'act')
}

/** The link that remixes an item of another maker; nothing where remixes are off. */
function remixLink(item: Item): Part {
  const price = remixPrice(item)
  const suffix = price !== undefined && price > 0 && ` · ${formatAmount(price, 'credit')}`
  return (
    price !== undefined &&
    html`<a class="button quiet" href="/explore/${item.id}/remix" rel="nofollow">Remix${suffix}</a>`
  )
}

export const reportLink = ({ id }: Item): Html =>
  html`<a class="quiet-link" href="/report/${id}" rel="nofollow">Report</a>`

/** The ancestors of a remix, the root first. */
export function itemLineage({ item, lineage: all }: ItemPage): Html {
  if (all.length === 0) return html``
  const shown = all.slice(0, ancestorsMax).toReversed()
  const hidden = all.length - shown.length
  return section(
    t('Lineage'),
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
  found.remixes.length === 0 ? html`` : section(t('Remixes'), tileGrid(ctx, found.remixes))

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
    t('Version history'),
    html`<ol class="rows">
      ${rows}
    </ol>`,
  )
}
