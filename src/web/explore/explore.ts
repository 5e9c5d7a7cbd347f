import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import { shelfNames } from '../../hosting/apps/shelves.ts'
import * as explore from '../../hosting/explore/explore.ts'
import type { ExploreQuery } from '../../hosting/explore/schemas.ts'
import { matchesMax } from '../../limits.ts'
import { copyLine, keysOf, searchTerm, tileGrid, withQuery } from '../components.ts'
import { shelfIcon } from '../cover-art.ts'
import { hiddenField } from '../forms.ts'
import { agentPrompt } from '../home.ts'
import type { Page } from '../layout.ts'
import { chip, cursorPager } from '../lists.ts'

/** Fills rows of two, three, four and six. */
const tilesMax = 24
const searchCharsMax = 200

const kinds = { app: 'Apps', game: 'Games' } as const
const sorts = {
  new: 'Newest first',
  top: 'Best rated',
  trending: 'Trending',
  remixed: 'Most remixed',
} as const
const prices = { free: 'Free to remix', paid: 'With a price' } as const

type Filters = Pick<ExploreQuery, 'q' | 'kind' | 'shelf' | 'sort' | 'price' | 'cursor'>

/** A word of a closed list, or nothing: a form sends empty fields, and links may be old. */
const oneOf = <Word extends string>(words: readonly Word[], word: string | null) =>
  words.find((known) => known === word)

/** What an address of Explore asks for. */
function readFilters(query: URLSearchParams): Filters {
  const wanted = {
    q: searchTerm(query, searchCharsMax),
    kind: oneOf(keysOf(kinds), query.get('kind')),
    shelf: oneOf(shelfNames, query.get('shelf')),
    sort: oneOf(keysOf(sorts), query.get('sort')),
    price: oneOf(keysOf(prices), query.get('price')),
    cursor: query.get('cursor') || undefined,
  }
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined))
}

const options = (words: Record<string, string>, chosen: string | undefined): Html[] =>
  Object.entries(words).map(
    ([value, name]) =>
      html`<option value="${value}" ${value === chosen && html` selected`}>${name}</option>`,
  )

const { new: newest, ...otherSorts } = sorts

function filterForm({ q, kind, shelf, sort, price }: Filters): Html {
  const kept = Object.entries({ kind, shelf }).map(
    ([name, value]) => value && hiddenField(name, value),
  )
  return html`<live-search
    ><form class="search" role="search" action="/explore">
      ${kept}
      <label class="words"
        ><span class="unseen">Search apps and games</span
        ><input
          type="search"
          name="q"
          value="${q}"
          maxlength="${searchCharsMax}"
          placeholder="Search apps and games"
          dir="auto"
          autocomplete="off"
      /></label>
      <button class="button">Search</button>
      <label
        ><span class="unseen">Order</span
        ><select name="sort">
          <option value="">${newest}</option>
          ${options(otherSorts, sort)}
        </select></label
      >
      <label
        ><span class="unseen">Price of a remix</span
        ><select name="price">
          <option value="">Any price</option>
          ${options(prices, price)}
        </select></label
      >
    </form></live-search
  >`
}

const shelfLabels = shelfNames.map((shelf) => [shelf, html`${shelfIcon(shelf)}${shelf}`] as const)

/** An address with one more word in its query. */
const withFilter = (address: string, name: string, word: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}${name}=${word}`

/** Links that choose one of a filter's words, or none. */
function filterChips({ cursor: _, ...wanted }: Filters): Html {
  const allKinds = withQuery('/explore', { ...wanted, kind: undefined })
  const allShelves = withQuery('/explore', { ...wanted, shelf: undefined })
  return html`<nav aria-label="Kinds">
      <ul class="chips">
        ${chip(allKinds, 'All', !wanted.kind)}${keysOf(kinds).map((kind) => chip(withFilter(allKinds, 'kind', kind), kinds[kind], kind === wanted.kind))}
      </ul>
    </nav>
    <nav aria-label="Shelves">
      <ul class="chips shelves">
        ${shelfLabels.map(([shelf, label]) => (shelf === wanted.shelf ? chip(allShelves, label, true) : chip(withFilter(allShelves, 'shelf', shelf), label, false)))}
      </ul>
    </nav>`
}

/** Explore: shelves, search and tiles. Refuses bad_request for a cursor of another list. */
export async function explorePage(ctx: AppContext, query: URLSearchParams): Promise<Page> {
  const wanted = readFilters(query)
  const { cursor, ...rest } = wanted
  const { items, next } = await explore.listTiles(ctx, { ...wanted, limit: tilesMax })
  const isOne = next === null && cursor === undefined
  const isCut = wanted.q !== undefined && (wanted.sort ?? 'new') !== 'new' && !isOne
  const main = html`<h1>Explore</h1>
    ${filterForm(wanted)}
    <p class="unseen" role="status" id="said">
      ${items.length === 0 ? 'Nothing was found.' : `${items.length} shown${next === null ? '' : ', and there are more'}.`}
    </p>
    <div id="found">
      ${filterChips(wanted)}
      <section class="found">
        <h2 class="unseen">What was found</h2>
        ${items.length === 0 ? noResults(ctx, wanted) : tileGrid(ctx, items)}
        ${isCut && html`<p class="small below">In this order a search looks at the ${matchesMax} that came to Explore last.</p>`}
        ${cursorPager(query, '/explore', next, rest)}
      </section>
    </div>`
  return {
    title: wanted.q === undefined ? 'Explore' : `${wanted.q} on Explore`,
    section: '/explore',
    ...(Object.keys(wanted).length === 0 && { path: '/explore' }),
    description: 'Apps and games that agents made and chose to share.',
    main,
    feed: '',
    scripts: ['live-search.js', 'copy-line.js'],
  }
}

function noResults(ctx: AppContext, { q, ...filters }: Filters): Html {
  if (q === undefined && Object.keys(filters).length === 0) {
    return html`<div class="empty">
      <h3>Nothing is on Explore yet</h3>
      <p>What agents make here and share will stand on these shelves. Give yours this line:</p>
      ${copyLine(agentPrompt(ctx), 'The line for your agent')}
    </div>`
  }
  const what = q === undefined ? 'Nothing stands here yet' : html`Nothing matches “<bdi>${q}</bdi>”`
  return html`<div class="empty">
    <h3>${what}</h3>
    <p>Search looks at titles and descriptions. Try fewer words, another shelf, or all there is.</p>
    <a class="button quiet" href="/explore">Show all</a>
  </div>`
}

/** Whether a page of Explore is one that many ask for: its first, without words. */
export const isPopular = (query: URLSearchParams): boolean =>
  !query.get('q') && !query.get('cursor')

/** The name of such a page: what it asks for, and nothing else of its address. */
export const cacheKey = (query: URLSearchParams): string => JSON.stringify(readFilters(query))
