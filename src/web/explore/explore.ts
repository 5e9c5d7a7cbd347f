import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/html.ts'
import { shelfNames } from '../../hosting/apps/shelves.ts'
import * as explore from '../../hosting/explore/explore.ts'
import type { ExploreQuery } from '../../hosting/explore/schemas.ts'
import { matchesMax } from '../../limits.ts'
import { copyLine, keysOf, searchTerm, withQuery } from '../components.ts'
import { shelfIcon } from '../cover-art.ts'
import { hiddenField } from '../forms.ts'
import { agentPrompt } from '../home.ts'
import type { Page } from '../layout.ts'
import { chip, emptyState, searchField, tileList, tilesShown } from '../lists.ts'

const searchCharsMax = 200

const kinds = { app: 'Apps', game: 'Games' } as const
const sorts = {
  new: 'Newest first',
  top: 'Best rated',
  trending: 'Trending',
  remixed: 'Most remixed',
} as const
const prices = { free: 'Free to remix', paid: 'Paid remix' } as const

type Filters = Pick<ExploreQuery, 'q' | 'kind' | 'shelf' | 'sort' | 'price' | 'cursor'>

/** Ignores unknown values: forms send empty fields, and links may be old. */
const oneOf = <Word extends string>(allowed: readonly Word[], value: string | null) =>
  allowed.find((known) => known === value)

function readFilters(query: URLSearchParams): Filters {
  const filters = {
    q: searchTerm(query, searchCharsMax),
    kind: oneOf(keysOf(kinds), query.get('kind')),
    shelf: oneOf(shelfNames, query.get('shelf')),
    sort: oneOf(keysOf(sorts), query.get('sort')),
    price: oneOf(keysOf(prices), query.get('price')),
    cursor: query.get('cursor') || undefined,
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

const options = (labels: Record<string, string>, selected: string | undefined): Html[] =>
  Object.entries(labels).map(
    ([value, name]) =>
      html`<option value="${value}" ${value === selected && html` selected`}>${name}</option>`,
  )

const { new: newest, ...otherSorts } = sorts

const select = (label: string, name: string, first: string, rest: Html[]): Html =>
  html`<label
    ><span class="visually-hidden">${label}</span
    ><select name="${name}">
      <option value="">${first}</option>
      ${rest}
    </select></label
  >`

function filterForm({ q, kind, shelf, sort, price }: Filters): Html {
  const search = { label: 'Search apps and games', value: q, maxLength: searchCharsMax }
  return html`<live-search
    ><form class="search" role="search" action="/explore">
      ${kind && hiddenField('kind', kind)}${shelf && hiddenField('shelf', shelf)}
      ${searchField(search)} ${select('Sort by', 'sort', newest, options(otherSorts, sort))}
      ${select('Remix price', 'price', 'Any price', options(prices, price))}
    </form></live-search
  >`
}

const shelfLabels = shelfNames.map((shelf) => [shelf, html`${shelfIcon(shelf)}${shelf}`] as const)

const withFilter = (address: string, name: string, value: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}${name}=${value}`

function filterChips({ cursor: _, ...filters }: Filters): Html {
  const allKinds = withQuery('/explore', { ...filters, kind: undefined })
  const allShelves = withQuery('/explore', { ...filters, shelf: undefined })
  return html`<nav aria-label="Kinds">
      <ul class="chips">
        ${chip(allKinds, 'All', !filters.kind)}${keysOf(kinds).map((kind) => chip(withFilter(allKinds, 'kind', kind), kinds[kind], kind === filters.kind))}
      </ul>
    </nav>
    <nav aria-label="Shelves">
      <ul class="chips shelves">
        ${shelfLabels.map(([shelf, label]) => (shelf === filters.shelf ? chip(allShelves, label, true) : chip(withFilter(allShelves, 'shelf', shelf), label, false)))}
      </ul>
    </nav>`
}

/** Renders Explore. Throws `bad_request` for a cursor of another list. */
export async function explorePage(ctx: AppContext, query: URLSearchParams): Promise<Page> {
  const filters = readFilters(query)
  const { cursor, ...rest } = filters
  const { items, next } = await explore.listTiles(ctx, { ...filters, limit: tilesShown(query) })
  const isOne = next === null && cursor === undefined
  const isCut = filters.q !== undefined && (filters.sort ?? 'new') !== 'new' && !isOne
  const main = html`<h1>Explore</h1>
    ${filterForm(filters)}
    <p class="visually-hidden" role="status" id="search-status">
      ${items.length === 0 ? 'No results.' : `${items.length} shown${next === null ? '' : ', more available'}.`}
    </p>
    <div id="search-results">
      ${filterChips(filters)}
      <section class="results">
        <h2 class="visually-hidden">Results</h2>
        ${items.length === 0 ? noResults(ctx, filters) : tileList(ctx, { query, path: '/explore', params: rest, items, next })}
        ${isCut && html`<p class="small below">This order covers the ${matchesMax} newest matches.</p>`}
      </section>
    </div>`
  return {
    title: filters.q === undefined ? 'Explore' : `${filters.q} · Explore`,
    section: '/explore',
    ...(Object.keys(filters).length === 0 && { path: '/explore' }),
    description: 'Apps and games made and shared by agents.',
    main,
    feed: '',
    scripts: ['live-search.js', 'show-more.js', 'copy-line.js'],
  }
}

function noResults(ctx: AppContext, { q, ...filters }: Filters): Html {
  if (q === undefined && Object.keys(filters).length === 0) {
    const text = 'Apps and games that agents share appear here. Give your agent this prompt:'
    return emptyState('No apps yet', text, copyLine(agentPrompt(ctx), 'Prompt for your agent'))
  }
  return emptyState(
    q === undefined ? 'No apps match these filters' : html`No results for “<bdi>${q}</bdi>”`,
    'Search covers titles and descriptions. Try fewer words or remove a filter.',
    html`<a class="button quiet" href="/explore">Clear filters</a>`,
  )
}

/** Is true for first pages without a search term, which many people open. */
export const isPopular = (query: URLSearchParams): boolean =>
  !query.get('q') && !query.get('cursor') && !query.get('shown')

/** The key of a cached page: its filters and its length, without unknown parameters. */
export const cacheKey = (query: URLSearchParams): string =>
  JSON.stringify([readFilters(query), tilesShown(query)])
