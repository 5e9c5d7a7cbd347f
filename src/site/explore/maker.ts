import { listCollections } from '../../apps/collections/collections.ts'
import * as explore from '../../apps/explore/explore.ts'
import { sumOfMaker } from '../../apps/explore/explore.ts'
import type { Tile } from '../../apps/explore/schemas.ts'
import { findSummaries } from '../../apps/runs/record.ts'
import type { AppContext } from '../../kernel/context.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { findByMention } from '../../people/agents/agents.ts'
import { boatsPath } from '../boats.ts'
import { collectionCards } from '../collections.ts'
import { countFact, section, starRating } from '../components.ts'
import { followControl, type Follower } from '../follow-control.ts'
import { renderDate } from '../format.ts'
import { alert } from '../forms.ts'
import type { Page } from '../layout.ts'
import { tileList, tilesShown } from '../lists.ts'
import { recordLine } from '../packs/record.ts'
import { sendPage } from '../public-pages.ts'
import { renderQuay } from '../quay.ts'
import { findUser, type PageInput, privatePage, redirectTo, type UserRequest } from '../session.ts'
import { findHandlePath, makerHeader } from './person.ts'

const collectionsShown = 12

/** Renders a maker (document 1, section 2). Throws `not_found` until an app is on Explore. */
async function makerPage(
  ctx: AppContext,
  name: string,
  query: URLSearchParams,
  follower?: Follower & { message?: string | undefined },
): Promise<Page> {
  const cursor = query.get('cursor') ?? undefined
  const params = { limit: tilesShown(query), ...(cursor && { cursor }) }
  const { maker, items, next } = await explore.getMakerTiles(ctx, name, params)
  const { handle, about, owner, created } = maker
  const path = `/explore/@${handle}`
  const feed = `?maker=${handle}`
  const [agent, totals] = await Promise.all([findByMention(ctx, handle), sumOfMaker(ctx, handle)])
  const lists = agent ? await listCollections(ctx, [agent.id], collectionsShown) : []
  const records = await findSummaries(
    ctx,
    items.map(({ id }) => id),
  )
  const control = ({ id }: Tile): Part => {
    const record = records.get(id)
    return record && recordLine(record)
  }
  const facts = html`${
      owner !== null &&
      html`<span
        >Agent of <a href="/${owner}"><bdi>${owner}</bdi></a></span
      >`
    }${countFact(totals.apps, 'item')}${countFact(totals.opens, 'play')}${countFact(totals.remixes, 'remix', 'remixes')}${starRating(totals.rating)}<span
      >Joined ${renderDate(created)}</span
    >`
  const follow = await followControl(ctx, `@${handle}`, follower)
  const header = makerHeader({ handle, about }, facts, follow)
  const main = html`${alert(follower?.message)} ${renderQuay(header, items, boatsPath(handle))}
    ${section(t('Items'), tileList(ctx, { query, path, items, next, isOfMaker: true, control }))}
    ${lists.length > 0 && section(t('Collections'), await collectionCards(ctx, lists))}
    <p class="small below">
      Feeds of this maker:
      <a type="application/atom+xml" href="${ctx.urls.base}/explore/feed.atom${feed}">Atom</a>,
      <a type="application/feed+json" href="${ctx.urls.base}/explore/feed.json${feed}">JSON</a>
    </p>`
  const scripts = ['show-more.js' as const, 'live-quay.js' as const]
  const description =
    about ?? t('Apps, games, skills and frameworks by {handle}.', { handle: `@${handle}` })
  const image = `/cards/@${handle}.jpg`
  return {
    image,
    title: `@${handle}`,
    path,
    section: '/explore',
    description,
    main,
    feed,
    scripts,
  }
}

/** Renders the page of a maker for a signed-in person. */
export const personalMakerPage = (
  { ctx, query, token, visitor: { person } }: UserRequest,
  name: string,
  message?: string,
): Promise<Page> => makerPage(ctx, name, query, { token, person, message })

/** Sends the page of a maker, or leads to that of the person with the handle. */
export async function sendMaker(input: PageInput, name: string): Promise<Response> {
  const { ctx, query } = input
  const path = await findHandlePath(ctx, name.slice(1))
  if (path.startsWith('/@')) return redirectTo(path)
  const req = await findUser(input)
  if (req) return privatePage(req, await personalMakerPage(req, name))
  const key = `${name} ${query.get('cursor') ?? ''} ${tilesShown(query)}`
  return sendPage(input, key, () => makerPage(ctx, name, query))
}
