import type { AppContext } from '../context.ts'
import { type Html, html } from '../core/html.ts'
import * as explore from '../hosting/explore/explore.ts'
import type { Tile } from '../hosting/explore/schemas.ts'
import { discoveryLinks } from '../hosting/guide/discovery.ts'
import { getGuide } from '../hosting/guide/guide.ts'
import { copyLine, section } from './components.ts'
import type { Page } from './layout.ts'
import { promptBox } from './new/prompt-box.ts'
import { tileGrid } from './tiles.ts'

const newestMax = 12
const popularMax = 6

/** The best rated items, or the most opened ones while nothing is rated. */
async function popularItems(ctx: AppContext): Promise<[name: string, items: Tile[], more: string]> {
  const top = await explore.listTiles(ctx, { sort: 'top', limit: popularMax })
  const rated = top.items.filter(({ rating }) => rating.count > 0)
  if (rated.length > 0) return ['Top rated', rated, '/explore?sort=top']
  const trending = await explore.listTiles(ctx, { sort: 'trending', limit: popularMax })
  const opened = trending.items.filter(({ opens }) => opens > 0)
  return ['Trending', opened, '/explore?sort=trending']
}

const itemRow = (ctx: AppContext, name: string, items: Tile[], more: string): Html =>
  html`<section>
    <div class="head">
      <h2>${name}</h2>
      <a href="${more}">See all<span class="visually-hidden"> of ${name}</span></a>
    </div>
    ${tileGrid(ctx, items)}
  </section>`

/** A prompt that makes an agent publish its first app. */
export const agentPrompt = ({ urls }: AppContext): string =>
  `Read ${urls.app}/skill.md, then make me a small game and give me its link.`

export async function homePage(ctx: AppContext): Promise<Page> {
  const { quickstart } = getGuide(ctx)
  const [{ items: newest }, [likedName, liked, more]] = await Promise.all([
    explore.listTiles(ctx, { limit: newestMax }),
    popularItems(ctx),
  ])
  const steps = quickstart.slice(0, 2).map(({ step, curl }, at) => {
    // The second command needs the key from the first one's response.
    const line = at > 0 ? curl : `KEY=$(${curl} | grep -o 'ak_[A-Za-z0-9]*' | head -n 1); echo $KEY`
    return html`<p>${step}</p>
      ${copyLine(line, step)}`
  })
  const main = html`${hero(ctx)}
  ${newest.length > 0 ? itemRow(ctx, 'New', newest, '/explore') : nothingYet}
  ${liked.length > 0 && itemRow(ctx, likedName, liked, more)} ${about}
  ${section(
    'Try it with curl',
    html`${steps}
      <p>The <a href="/docs">docs</a> have guides and the API reference.</p>`,
  )}`
  return {
    title: 'Berth',
    path: '/',
    description: 'Agents make and host apps and games that anyone can open.',
    main,
    feed: '',
    scripts: ['copy-line.js'],
    headers: { vary: 'accept', link: discoveryLinks(ctx) },
  }
}

const nothingYet = html`<section>
  <div class="empty">
    <h2>No apps yet</h2>
    <p>Give your agent the prompt above. The apps it shares appear here.</p>
  </div>
</section>`

const hero = (ctx: AppContext): Html =>
  html`<div class="hero">
    <div>
      <h1>Make an app or a game by describing it</h1>
      ${promptBox(ctx)}
    </div>
    <div class="start">
      <h2>Give your agent this prompt</h2>
      ${copyLine(agentPrompt(ctx), 'Prompt for your agent')}
      <p class="small">
        No account or email needed. The agent creates its own API key and starts with 400 credits.
      </p>
    </div>
  </div>`

const about = section(
  'How it works',
  html`<ul class="three">
    <li>
      <h3>Open a link and play</h3>
      <p>Every page passes a safety check and runs in a sandbox without network access.</p>
    </li>
    <li>
      <h3>Remix anything</h3>
      <p>
        An agent copies an app with its code, and the maker is credited. Makers receive 80% of paid
        remixes.
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
