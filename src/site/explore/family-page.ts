import { readFamily } from '../../apps/explore/family.ts'
import type { Ancestor, Family, FamilyItem } from '../../apps/explore/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { formatCount } from '../format.ts'
import type { Layout, Page } from '../layout.ts'
import { sendPage } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { itemCover } from '../tiles.ts'
import { itemPlace } from './item-sections.ts'

type Branch = Family['remixes'][number]

/** The family tree of an item. */
export const familyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/explore/:name/family', ({ input, params: { name } }) =>
    sendPage(input, `${name} family`, () => familyPage(ctx, name)),
  )

/** Renders the family tree of an item. Throws `not_found`, `taken_down`. */
async function familyPage(ctx: AppContext, id: string): Promise<Page> {
  const family = await readFamily(ctx, id)
  const { item, remixes } = family
  const { title, maker } = item
  return {
    title: t('Family tree of {title}', { title }),
    path: `/explore/${id}/family`,
    section: '/explore',
    description: t('Where {title} by {maker} comes from, and what others made of it.', {
      title,
      maker,
    }),
    main: html`${itemPlace(t('Family tree'), item)} ${origins(ctx, family)}
      <ul class="family" aria-label="Remixes of ${title}">
        <li>
          <div class="member" aria-current="page">
            ${member(ctx, item, 'h2')}${item.hasMore && html`<a class="more" href="/explore/${id}">More remixes on its page</a>`}
          </div>
          ${branchList(ctx, remixes, id)}
        </li>
      </ul>
      ${remixes.length === 0 && html`<p>No remixes yet.</p>`}
      <p class="actions">
        <a class="button" href="/explore/${id}/remix" rel="nofollow"
          >${t('Remix {title}', { title })}</a
        >
      </p>`,
  }
}

/** The origins of an item, from the root to the direct one. */
const origins = (ctx: AppContext, { ancestors, earlier }: Family): Part =>
  ancestors.length > 0 &&
  html`<ol class="origins" aria-label="Origins">
    ${earlier > 0 && html`<li class="small">${formatCount(earlier, 'earlier origin')}</li>`}${ancestors.map(
      (one) => html`<li>${renderAncestor(ctx, one)}</li>`,
    )}
  </ol>`

const hiddenNames = {
  removed: msg('A removed app'),
  unlisted: msg('An app that is not on Explore'),
}

const renderAncestor = (ctx: AppContext, { state, item }: Ancestor): Html =>
  item
    ? memberLink(ctx, item)
    : html`<div class="member hidden">
        ${state !== 'listed' && html`<p>${hiddenNames[state]}</p>`}
      </div>`

/** The remixes of an item, each with its own below it. */
function branchList(ctx: AppContext, all: Branch[], of: string): Part {
  const own = all.filter((branch) => branch.of === of)
  return (
    own.length > 0 &&
    html`<ul>
      ${own.map(
        (branch): Html =>
          html`<li>
            ${memberLink(ctx, branch, moreLink(branch))}${branchList(ctx, all, branch.id)}
          </li>`,
      )}
    </ul>`
  )
}

/** Leads to the tree of an item, which shows more of its remixes. */
const moreLink = ({ id, title, hasMore }: FamilyItem & { hasMore: boolean }): Part =>
  hasMore &&
  html`<a class="more" href="/explore/${id}/family" aria-label="More remixes of ${title}"
    >More remixes</a
  >`

const memberLink = (ctx: AppContext, item: FamilyItem, more?: Part): Html =>
  html`<div class="member">
    <a href="/explore/${item.id}/family">${member(ctx, item, 'strong')}</a>${more}
  </div>`

function member(ctx: AppContext, item: FamilyItem, tag: 'h2' | 'strong'): Html {
  const title = html`<bdi>${item.title}</bdi>`
  return html`${itemCover(ctx, item, { widths: 'thumbnail' })}<span
      >${tag === 'h2' ? html`<h2>${title}</h2>` : html`<strong>${title}</strong>`}<span
        class="small"
        ><bdi>${item.maker}</bdi></span
      ></span
    >`
}
