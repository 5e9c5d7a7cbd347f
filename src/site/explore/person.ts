import { listTilesByIds } from '../../apps/explore/explore.ts'
import {
  getShownProfile,
  presentProfile,
  type ShownProfile,
} from '../../apps/profiles/operations.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { pathOf } from '../../kernel/http/request-context.ts'
import { t } from '../../kernel/words/message.ts'
import { type Agent, findByMention } from '../../people/agents/agents.ts'
import { findPublicProfile } from '../../people/own-profile.ts'
import { renderAvatar } from '../art.ts'
import { collectionCards } from '../collections.ts'
import { countFact, section } from '../components.ts'
import { renderDate } from '../format.ts'
import type { Layout, Page } from '../layout.ts'
import { emptyState } from '../lists.ts'
import { imagePath } from '../paths.ts'
import { sendPage } from '../public-pages.ts'
import { renderQuay } from '../quay.ts'
import { pageRoutes, redirectTo } from '../session.ts'
import { tileGrid } from '../tiles.ts'

/** The header of the page of a person or an agent. `facts` and `more` stand below the words. */
export const makerHeader = (
  { handle, about, image }: { handle: string; about: string | null; image?: Part },
  facts: Part,
  more: Part = false,
): Html =>
  html`<header class="maker">
    ${renderAvatar(handle, image)}
    <div>
      <h1><bdi>@${handle}</bdi></h1>
      ${about && html`<p class="lead"><bdi>${about}</bdi></p>`}
      <p class="facts">${facts}</p>
      ${more}
    </div>
  </header>`

/** A row of agents or makers, each with its flag. */
const makerChips = (handles: string[]): Html =>
  html`<ul class="makers">
    ${handles.map(
      (handle) =>
        html`<li>
          <a href="/explore/@${handle}"
            >${renderAvatar(handle)}<span><bdi>@${handle}</bdi></span></a
          >
        </li>`,
    )}
  </ul>`

function reviewList(reviews: ShownProfile['reviews'], agents: Agent[]): Html {
  const handles = new Map(agents.map(({ id, handle }) => [id, handle]))
  return html`<ul class="rows">
    ${reviews.map(
      ({ item, title, stars, text, created, agent }) =>
        html`<li>
          <p>
            <a href="/explore/${item}#reviews"><bdi>${title}</bdi></a>
            <span class="stars" role="img" aria-label="${stars} of 5 stars"
              >${'★'.repeat(stars)}</span
            >
          </p>
          ${text !== '' && html`<p><bdi>${text}</bdi></p>`}
          <p class="small">
            ${handles.has(agent) && html`by <bdi>@${handles.get(agent)}</bdi> · `}${renderDate(created)}
          </p>
        </li>`,
    )}
  </ul>`
}

/** Returns the path of the page of the person or the agent with a handle; else of that agent. */
export async function findHandlePath(ctx: AppContext, handle: string): Promise<string> {
  if (await findByMention(ctx, handle)) return `/explore/@${handle}`
  const found = await findPublicProfile(ctx, handle)
  return found ? `/@${found.profile.handle}` : `/explore/@${handle}`
}

/** Renders what a person shows of themselves. Throws `not_found`. */
async function personPage(ctx: AppContext, name: string): Promise<Page> {
  const shown = await getShownProfile(ctx, name)
  const { profile, agents, collections, reviews, follows } = shown
  const { handle, about, avatar, created } = presentProfile(ctx, profile)
  const items = await listTilesByIds(
    ctx,
    shown.items.map(({ id }) => id),
  )
  const isEmpty = items.length + collections.length + reviews.length + follows.length === 0
  const facts = html`${countFact(items.length, 'item')}<span>Joined ${renderDate(created)}</span>`
  const report = html`<a class="quiet-link" href="/report/@${handle}" rel="nofollow">Report</a>`
  const header = makerHeader(
    { handle, about, image: avatar && imagePath(ctx, avatar) },
    facts,
    report,
  )
  const main = html`${renderQuay(header, items)}
  ${agents.length > 0 && section(t('Agents'), makerChips(agents.map((agent) => agent.handle)))}
  ${items.length > 0 && section(t('Items'), tileGrid(ctx, items, { isFirst: true }))}
  ${collections.length > 0 && section(t('Collections'), await collectionCards(ctx, collections))}
  ${reviews.length > 0 && section(t('Reviews'), reviewList(reviews, agents))}
  ${follows.length > 0 && section(t('Follows'), makerChips(follows.map((one) => one.slice(1))))}
  ${isEmpty && emptyState(t('{handle} shows nothing yet', { handle: `@${handle}` }), t('Their apps, collections and reviews appear here when they choose to show them.'), html`<a class="button quiet" href="/explore">Explore</a>`)}`
  return {
    title: `@${handle}`,
    path: `/@${handle}`,
    section: '/explore',
    description: about ?? t('What {handle} makes on Berth.', { handle: `@${handle}` }),
    image: `/cards/@${handle}.jpg`,
    main,
    scripts: ['live-quay.js'],
  }
}

/** The pages of people. */
export const personRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/@:handle', async ({ input, request }) => {
    // Elysia types no parameter with a prefix.
    const handle = pathOf(request.url).slice(2)
    const path = await findHandlePath(ctx, handle)
    if (path !== `/@${handle}`) return redirectTo(path)
    return sendPage(input, path, () => personPage(ctx, handle))
  })
