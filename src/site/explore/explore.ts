import * as explore from '../../apps/explore/explore.ts'
import type { ExploreQuery } from '../../apps/explore/schemas.ts'
import { isPackKind, shelfNames } from '../../apps/kinds.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html } from '../../kernel/html.ts'
import { matchesMax } from '../../kernel/limits.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { shelfIcon } from '../art.ts'
import { copyLine, keysOf, searchTerm, withQuery } from '../components.ts'
import { formatCount } from '../format.ts'
import { hiddenField } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import { chip, emptyState, searchField, tileList, tilesShown } from '../lists.ts'
import { agentPrompt } from '../new/new.ts'
import { readPackFacts } from '../packs/pack-page.ts'
import { sendPage, sendPopular } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { readShelves, renderShelf, type Shelf } from '../shelves.ts'
import { wireWord } from '../wire-words.ts'

const searchCharsMax = 200

const kinds = {
  app: msg('Apps'),
  game: msg('Games'),
  skill: msg('Skills'),
  framework: msg('Frameworks'),
} as const
const sorts = {
  new: msg('Newest first'),
  top: msg('Best rated'),
  trending: msg('Trending'),
  played: msg('Most played'),
  remixed: msg('Most remixed'),
  record: msg('Best record'),
} as const
const useLabels = {
  ai: msg('Uses AI'),
  db: msg('Shared data'),
  room: msg('Live rooms'),
  scores: msg('Scores'),
  files: msg('Shared files'),
} as const
const prices = { free: msg('Free to remix'), paid: msg('Paid remix') } as const

type Filters = Pick<ExploreQuery, 'q' | 'kind' | 'shelf' | 'sort' | 'price' | 'uses' | 'cursor'>

const hasFilter = (filters: Filters): boolean => Object.values(filters).some((one) => one)

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
    uses: oneOf(keysOf(useLabels), query.get('uses')),
    cursor: query.get('cursor') || undefined,
  }
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
}

const options = (labels: Record<string, Text>, selected: string | undefined): Html[] =>
  Object.entries(labels).map(
    ([value, name]) =>
      html`<option value="${value}" ${value === selected && html` selected`}>${name}</option>`,
  )

const select = (label: string, name: string, first: string, rest: Html[]): Html =>
  html`<label
    ><span class="visually-hidden">${label}</span
    ><select name="${name}">
      <option value="">${first}</option>
      ${rest}
    </select></label
  >`

/** One line of filters, which stays on top while one scrolls. A phone shows them on request. */
function filterForm(filters: Filters): Html {
  const { q, kind, shelf, sort, price, uses } = filters
  const isOpen = [sort, price, uses].some((one) => one !== undefined)
  // The rows of Explore have orders of their own; a list is sorted by time.
  const { new: newest, ...others } = sorts
  const orders = hasFilter(filters)
    ? select(t('Sort by'), 'sort', t(newest), options(others, sort))
    : select(t('Sort by'), 'sort', t('Sort'), options(sorts, sort))
  return html`<live-search
    ><form class="search explore-bar" role="search" action="/explore">
      ${searchField(t('Search'), q, searchCharsMax)}
      ${kind && hiddenField('kind', kind)}${shelf && hiddenField('shelf', shelf)}
      <details class="folded" ${isOpen && html` open`}>
        <summary>Filters</summary>
        ${orders}${select(t('Remix price'), 'price', t('Any price'), options(prices, price))}
        ${select(t('Uses'), 'uses', t('Any feature'), options(useLabels, uses))}
      </details>
    </form></live-search
  >`
}

/** Tabs of the kinds. Other filters stay. */
const kindTabs = ({ cursor: _, kind, ...others }: Filters): Html =>
  html`<nav class="tabs" aria-label="Kinds">
    <ul class="chips">
      ${chip(withQuery('/explore', others), t('All'), kind === undefined)}${keysOf(kinds).map(
        (one) => chip(withQuery('/explore', { ...others, kind: one }), kinds[one], one === kind),
      )}
    </ul>
  </nav>`

/** Links to the shelves; that of the chosen one shows all shelves again. Other filters stay. */
const shelfChips = ({ cursor: _, shelf, ...others }: Filters): Html =>
  html`<nav aria-label="Shelves">
    <ul class="chips shelves">
      ${shelfNames.map((one) => {
        const isChosen = one === shelf
        const path = withQuery('/explore', isChosen ? others : { ...others, shelf: one })
        return chip(path, html`${shelfIcon(one)}${wireWord(one)}`, isChosen)
      })}
    </ul>
  </nav>`

/** Renders Explore. Throws `bad_request` for a cursor of another list. */
async function explorePage(ctx: AppContext, query: URLSearchParams): Promise<Page> {
  const filters = readFilters(query)
  const shelves = hasFilter(filters) ? [] : await readShelves(ctx)
  const results =
    shelves.length > 0 ? shelfList(ctx, shelves) : await resultList(ctx, query, filters)
  const main = html`<h1 class="slim-title">Explore</h1>
    ${filterForm(filters)} ${results}`
  return {
    title: filters.q === undefined ? t('Explore') : t('{q} · Explore', { q: filters.q }),
    section: '/explore',
    hasSearch: true,
    ...(!hasFilter(filters) && { path: '/explore' }),
    description: t('Apps, games, skills and frameworks made and shared by people and agents.'),
    main,
    feed: '',
    scripts: ['live-search.js', 'show-more.js', 'copy-line.js'],
  }
}

/** Nothing is asked: rows. The status line is for screen readers and scripts. */
const shelfList = (ctx: AppContext, shelves: Shelf[]): Html =>
  html`<p class="visually-hidden" role="status" id="search-status"></p>
    <div id="search-results">
      ${kindTabs({})}${shelfChips({})}${shelves.map((shelf, at) => renderShelf(ctx, shelf, at === 0))}
    </div>`

/** Reads the results of a search. Skills and frameworks have the facts that one chooses by. */
async function readResults(ctx: AppContext, filters: Filters, limit: number) {
  const { kind } = filters
  if (kind === undefined || !isPackKind(kind)) {
    return { ...(await explore.listTiles(ctx, { ...filters, limit })), facts: undefined }
  }
  const { items, next } = await explore.listItems(ctx, { ...filters, limit })
  return { items, next, facts: await readPackFacts(ctx, items) }
}

async function resultList(
  ctx: AppContext,
  query: URLSearchParams,
  filters: Filters,
): Promise<Html> {
  const { cursor, ...rest } = filters
  const { items, next, facts } = await readResults(ctx, filters, tilesShown(query))
  const isOne = next === null && cursor === undefined
  const isCut = filters.q !== undefined && (filters.sort ?? 'new') !== 'new' && !isOne
  const count =
    items.length === 0
      ? hasFilter(filters) && t('No results')
      : `${formatCount(items.length, 'result')}${next === null ? '' : t(', more below')}`
  return html`<p class="small count" role="status" id="search-status">${count}</p>
    <div id="search-results">
      ${kindTabs(filters)}${(items.length > 0 || filters.shelf !== undefined) && shelfChips(filters)}
      <section class="results">
        <h2 class="visually-hidden">Results</h2>
        ${items.length === 0 ? await noResults(ctx, filters) : tileList(ctx, { query, path: '/explore', params: rest, items, next, control: ({ id }) => facts?.get(id) })}
        ${isCut && html`<p class="small below">This order covers the ${matchesMax} newest matches.</p>`}
      </section>
    </div>`
}

async function noResults(ctx: AppContext, filters: Filters): Promise<Html> {
  const { q, ...others } = filters
  if (!hasFilter(filters)) {
    return emptyState(
      t('No apps yet'),
      t('Items that people and agents list appear here. Make one, or give your agent this prompt:'),
      html`${copyLine(agentPrompt(ctx), t('Prompt for your agent'))}<a class="button" href="/new"
          >Make the first app</a
        >`,
    )
  }
  const clear = hasFilter(others) ? t('Clear filters') : t('Clear search')
  const [first] = await readShelves(ctx)
  return html`${emptyState(
    q === undefined ? t('No apps match these filters') : html`No results for “<bdi>${q}</bdi>”`,
    t('Search covers titles and descriptions. Try fewer words or remove a filter.'),
    html`<a class="button quiet" href="/explore">${clear}</a>`,
  )}
  ${first && renderShelf(ctx, first, false)}`
}

/** Is true for first pages without a search term, which many people open. */
const isPopular = (query: URLSearchParams): boolean =>
  !query.get('q') && !query.get('cursor') && !query.get('shown')

/** The key of a cached page: its filters and its length, without unknown parameters. */
const cacheKey = (query: URLSearchParams): string =>
  JSON.stringify([readFilters(query), tilesShown(query)])

/** Explore and its searches. */
export const exploreRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get('/explore', ({ input }) => {
    const { query } = input
    const [name, page] = [cacheKey(query), () => explorePage(ctx, query)]
    return isPopular(query) ? sendPopular(input, name, page) : sendPage(input, name, page)
  })
