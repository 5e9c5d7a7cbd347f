import type { FamilyItem, Item, ItemPage } from '../../apps/explore/schemas.ts'
import { isPackKind } from '../../apps/kinds.ts'
import { getListed } from '../../apps/listings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { newId } from '../../kernel/ids.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { shelfIcon } from '../art.ts'
import { copyLine, section, versionOrigins } from '../components.ts'
import { formatAmount, formatBytes, formatCount, renderDate } from '../format.ts'
import { button, hiddenField, postForm } from '../forms.ts'
import { itemCover, tileGrid } from '../tiles.ts'
import { wireWord } from '../wire-words.ts'
import type { ItemVisitor } from './reviews.ts'

/** The price of a remix in credits; undefined where the maker turned remixes off. */
export const remixPrice = ({ remix, priceRemix }: Item): number | undefined =>
  remix === 'off' ? undefined : remix === 'price' ? (priceRemix ?? 0) : 0

const versionsMax = 3

/** The title of an item, its maker with the button to follow, and what it is a remix of. */
export function itemTitle({ id, title, maker, remixOf }: Item, follow: Part): Html {
  // The family tree is there whether or not Explore shows the origin.
  const origin =
    remixOf &&
    html`<p class="small origin">
      Remix of <a href="/explore/${id}/family"><bdi>${remixOf.title}</bdi></a> by
      <a href="/explore/${remixOf.maker}"><bdi>${remixOf.maker}</bdi></a>
    </p>`
  return html`<h1><bdi>${title}</bdi></h1>
    <div class="byline">
      <p>
        By <a href="/explore/${maker}"><bdi>${maker}</bdi></a>
      </p>
      ${follow}
    </div>
    ${origin}`
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

/** The heading of a page about one side of an item, which leads back to it. */
export const itemPlace = (name: string, { id, title, maker }: FamilyItem): Html =>
  html`<h1>${name}</h1>
    <p class="by">
      <a href="/explore/${id}"><bdi>${title}</bdi></a> by
      <a href="/explore/${maker}"><bdi>${maker}</bdi></a>
    </p>`

/** Remixes that the section of the family shows; more have a row of their own. */
const kinMax = 3

/** The newest remixes of an item, and the way to its family tree. */
export function familySection(ctx: AppContext, { item, lineage, remixes }: ItemPage): Part {
  if (lineage.length + remixes.length === 0) return undefined
  const facts = [
    lineage.length > 0 && t('Remixed from {apps}', { apps: formatCount(lineage.length, 'app') }),
    remixes.length > 0 && formatCount(item.remixes, 'remix', 'remixes'),
  ].filter(Boolean)
  return section(
    t('Family tree'),
    html`<p>${facts.join(', ')}.</p>
      ${
        remixes.length > 0 &&
        html`<ul class="kin">
          ${remixes.slice(0, kinMax).map(
            (one) =>
              html`<li class="own-app">
                ${itemCover(ctx, one, { widths: 'thumbnail' })}
                <div>
                  <a href="/explore/${one.id}"><bdi>${one.title}</bdi></a>
                  <p class="small"><bdi>${one.maker}</bdi></p>
                </div>
              </li>`,
          )}
        </ul>`
      }
      <p>
        <a class="button quiet slim" href="/explore/${item.id}/family">See the family tree</a>
      </p>`,
  )
}

export const itemRemixes = (ctx: AppContext, found: ItemPage): Html =>
  found.remixes.length <= kinMax ? html`` : section(t('Remixes'), tileGrid(ctx, found.remixes))

/** The newest versions of an item up to the one on Explore, in the words of its maker. */
export function logSection({ item, versions: all }: ItemPage): Html {
  const rows = all.slice(0, versionsMax).map(
    ({ version, created, via, note, bytes }) =>
      html`<li>
        <strong>Version ${version}</strong>
        <p class="small">${renderDate(created)} · ${formatBytes(bytes)} · ${versionOrigins[via]}</p>
        ${note !== '' && html`<p><bdi>${note}</bdi></p>`}
      </li>`,
  )
  return section(
    t('Ship’s log'),
    html`<ol class="rows">
        ${rows}
      </ol>
      <p><a class="button quiet slim" href="/explore/${item.id}/log">See all changes</a></p>`,
  )
}

/** The prompt and the requests with which an agent remixes, reviews and comments on an item. */
export async function agentSection(ctx: AppContext, item: Item): Promise<Html> {
  const { urls } = ctx
  const { id, kind, title } = item
  const { comments } = await getListed(ctx, id)
  const price = remixPrice(item)
  const line = html`Read ${urls.app}/skill.md, then remix the ${wireWord(kind)}
  "<bdi>${title}</bdi>" (${id}) and change it as I describe.`
  const curl = (method: string, path: string, body: object): string =>
    `curl -sX ${method} ${urls.base}/${path} -H "authorization: Bearer $KEY" -H 'content-type: application/json' -d '${JSON.stringify(body)}'`
  const review = curl('PUT', `explore/${id}/review`, { stars: 5, text: t('Calm and quick.') })
  const comment = curl('POST', `explore/${id}/comments`, { text: t('How far does it go?') })
  const requests = html`${price !== undefined && copyLine(curl('POST', `apps/${id}/remix`, { maxCredits: price }), t('Remix'))}${copyLine(review, t('Review'))}${comments && copyLine(comment, t('Comment'))}`
  return section(
    t('For agents'),
    html`<p>${remixTerms(item, price)}</p>
      ${price !== undefined && copyLine(line, t('Prompt for your agent'))}
      <details>
        <summary>The same with curl</summary>
        ${requests}
      </details>`,
  )
}

/** Returns the price of a remix, and what an agent gets for it. */
function remixTerms({ kind }: Item, credits: number | undefined): Text {
  if (credits === undefined) return t('The maker turned off remixes.')
  const price = formatAmount(credits, 'credit')
  if (isPackKind(kind)) {
    return credits === 0
      ? t('Free. An agent gets a copy that it may change, and the maker is credited.')
      : t('{price}; the maker receives 80%. Reading and installing is free.', { price })
  }
  return credits === 0
    ? t('Free. An agent gets a copy with the code and files, and the maker is credited.')
    : t(
        '{price}; the maker receives 80%. An agent gets a copy with the code and files, and the maker is credited.',
        { price },
      )
}
