import { builderKind } from '../apps/builds/budget.ts'
import * as explore from '../apps/explore/explore.ts'
import { listFeatured } from '../apps/explore/explore.ts'
import type { Item, Tile } from '../apps/explore/schemas.ts'
import { isPackKind } from '../apps/kinds.ts'
import { defaultOf } from '../kernel/config/values.ts'
import type { AppContext } from '../kernel/context.ts'
import { type Html, html } from '../kernel/html.ts'
import { prefers } from '../kernel/http/accept.ts'
import { msg, t } from '../kernel/words/message.ts'
import { boatsPath, listNewest } from './boats.ts'
import { copyLine, openLabel, playIcon, section, starRating } from './components.ts'
import { formatCount } from './format.ts'
import { getGuide, guideMarkdown } from './guide/guide.ts'
import { discoveryLinks } from './guide/routes.ts'
import type { Layout, Page } from './layout.ts'
import { emptyState } from './lists.ts'
import { agentPrompt, waysToMake } from './new/new.ts'
import { sendPopular } from './public-pages.ts'
import { renderQuay } from './quay.ts'
import { pageRoutes } from './session.ts'
import { readShelves, renderShelf } from './shelves.ts'
import { playHere } from './tiles.ts'

/** The home page. Agents that request it receive the guide. */
export const homeRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/', ({ input, request }) => {
    const isBrowser = prefers(request, 'text/html', 'text/markdown')
    if (isBrowser || !ctx.config.agentsOn) return sendPopular(input, '/', () => homePage(ctx))
    const guide = getGuide(ctx)
    const headers = { vary: 'accept', link: discoveryLinks(ctx) }
    if (prefers(request, 'application/json', 'text/markdown')) {
      return Response.json(guide, { headers })
    }
    const type = { 'content-type': 'text/markdown; charset=utf-8' }
    return new Response(guideMarkdown(guide), { headers: { ...headers, ...type } })
  })

async function homePage(ctx: AppContext): Promise<Page> {
  const item = await findHero(ctx)
  const rows = (await readShelves(ctx, item?.id)).slice(0, rowsMax)
  const lead = leadOf(ctx)
  const welcome = html`<div class="hero">
    <h1><bdi>${headingOf(ctx)}</bdi></h1>
    ${lead !== '' && html`<p class="lead"><bdi>${lead}</bdi></p>`} ${await waysToMake(ctx)}
  </div>`
  const main = html`${renderQuay(welcome, await listNewest(ctx), boatsPath())}
    ${item ? hero(ctx, item) : nothingYet} ${rows.map((shelf) => renderShelf(ctx, shelf))}
    <div id="for-agents">${agentSection(ctx)}</div>
    ${about}`
  return {
    title: 'Berth',
    path: '/',
    section: '/',
    plays: true,
    description: t('Make, play and remix apps and games, by hand or with your agent.'),
    image: '/cards/home.jpg',
    main,
    feed: '',
    scripts: ['copy-line.js', 'play-here.js', 'live-quay.js'],
    headers: { vary: 'accept', link: discoveryLinks(ctx) },
  }
}

const rowsMax = 5

/** The default heading promises a model, so it changes where there is none. */
function headingOf(ctx: AppContext): string {
  const { homeTitle } = ctx.config
  const isDefault = homeTitle === defaultOf('HOME_TITLE')
  return isDefault && builderKind(ctx) !== 'model'
    ? t('Share your app or game with one link')
    : homeTitle
}

/** Returns the words of the operator, or else what is different here. */
function leadOf({ config }: AppContext): string {
  const isOwn = config.homeText !== '' || config.homeTitle !== defaultOf('HOME_TITLE')
  if (isOwn || !config.agentsOn) return config.homeText
  return t('Agents publish with one key, and the same balance pays for every model.')
}

const isPage = ({ kind }: Tile): boolean => !isPackKind(kind)

/** The popular items, of which one with a cover is large. */
const popularMax = 10

/** Chooses the large item: the operator's newest choice, or the most popular one with a cover. */
async function findHero(ctx: AppContext): Promise<Item | undefined> {
  const [chosen, { items: popular }] = await Promise.all([
    listFeatured(ctx),
    explore.listTiles(ctx, { sort: 'trending', limit: popularMax }),
  ])
  const all = popular.filter(isPage)
  const best = chosen.find(isPage) ?? all.find(({ cover }) => cover !== null) ?? all[0]
  return best && (await explore.getItem(ctx, best.id)).item
}

function hero(ctx: AppContext, item: Item): Html {
  const { id, title, maker, description, rating, opens, remix } = item
  const facts = [starRating(rating), opens > 0 && formatCount(opens, 'play')].filter(Boolean)
  return html`<article class="feature" aria-labelledby="feature">
    ${playHere(ctx, item)}
    <div>
      <h2 id="feature">
        <a href="/explore/${id}"><bdi>${title}</bdi></a>
      </h2>
      <p class="small">
        by <a href="/explore/${maker}"><bdi>${maker}</bdi></a>
      </p>
      ${facts.length > 0 && html`<p class="facts">${facts.map((fact) => html`<span>${fact}</span>`)}</p>`}
      ${description !== '' && html`<p class="clamp"><bdi>${description}</bdi></p>`}
      <p class="actions">
        <a class="button" href="/a/${id}">${playIcon}${openLabel(item)}</a>${
          remix !== 'off' &&
          html`<a class="button quiet" href="/explore/${id}/remix" rel="nofollow">Remix</a>`
        }
      </p>
    </div>
  </article>`
}

/** The featured place without any app on Explore; a first start lists a sample game. */
const nothingYet = html`<section>
  ${emptyState(
    msg('Your app could be the first here'),
    msg('Bring a page, try it, and share it: this place and the rows below show what people play.'),
    html`<a class="button" href="/new">Make the first app</a>`,
  )}
</section>`

function agentSection(ctx: AppContext): Html {
  const steps = getGuide(ctx)
    .quickstart.slice(0, 2)
    .map(({ step, curl }, at) => {
      // The second command needs the key from the first one's response.
      const line =
        at > 0 ? curl : `KEY=$(${curl} | grep -o 'ak_[A-Za-z0-9]*' | head -n 1); echo $KEY`
      return html`<p>${t(step)}</p>
        ${copyLine(line, t(step))}`
    })
  return section(
    t('For agents'),
    html`<p>
        No account or email needed. An agent creates its own API key and starts with 400 credits.
        Give yours this prompt:
      </p>
      ${copyLine(agentPrompt(ctx), t('Prompt for your agent'))}
      <details>
        <summary>The same with curl</summary>
        ${steps}
        <p>The <a href="/docs">docs</a> have guides and the API reference.</p>
      </details>`,
  )
}

const about = section(
  msg('How it works'),
  html`<ul class="three">
    <li>
      <h3>Open a link and play</h3>
      <p>Every page passes a safety check and runs in a sandbox without network access.</p>
    </li>
    <li>
      <h3>Remix anything</h3>
      <p>
        Copy an app with its code and change it, by hand or by a sentence. The maker is credited and
        receives 80% of a paid remix.
      </p>
    </li>
    <li>
      <h3>Many models, one API</h3>
      <p>
        Chat, images, audio and video with any OpenAI client.
        <a href="/catalogue">See models and prices</a>.
      </p>
    </li>
  </ul>`,
)
