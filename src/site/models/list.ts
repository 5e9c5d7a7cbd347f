import * as catalog from '../../gateway/catalog/catalog.ts'
import type { ModelResponse } from '../../gateway/catalog/catalog.ts'
import { modelTypes } from '../../kernel/config/providers.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { copyLine, keysOf, searchTerm, withQuery } from '../components.ts'
import { formatCompact, formatCount } from '../format.ts'
import { hiddenField, selectField } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import {
  chip,
  type Column,
  dataTable,
  emptyState,
  numberPager,
  paginate,
  searchField,
} from '../lists.ts'
import { modelPath, modelsPath, playgroundPath } from '../paths.ts'
import { sendUncached } from '../public-pages.ts'
import { pageRoutes } from '../session.ts'
import { wireWord } from '../wire-words.ts'
import { comparePath } from './compare.ts'
import { costs, inputPrice, outputPrice, shortMeasurements } from './parts.ts'

const rowsMax = 100
const searchCharsMax = 100

const typeNames = {
  chat: msg('Chat'),
  image: msg('Image'),
  video: msg('Video'),
  audio: msg('Audio'),
  embedding: msg('Embeddings'),
  moderation: msg('Moderation'),
  rerank: msg('Rerank'),
  realtime: msg('Realtime'),
} as const

/** Returns the number of an order, lowest first. Larger windows come first. */
const orders = {
  context: ({ context_length: window }: ModelResponse): number => -window,
  input: inputPrice,
  output: outputPrice,
} as const
type Order = keyof typeof orders

const inputTypes = ['image', 'audio', 'file', 'video'] as const

/** The filters and the order of the list, as in its address. */
interface ListQuery {
  type: string | undefined
  q: string | undefined
  by: string | undefined
  input: string | undefined
  sort: Order | undefined
}

function readQuery(query: URLSearchParams): ListQuery {
  const chosen = (name: string) => query.get(name)
  return {
    type: modelTypes.find((known) => known === chosen('type')),
    q: searchTerm(query, searchCharsMax),
    by: searchTerm(query, searchCharsMax, 'by'),
    input: inputTypes.find((known) => known === chosen('input')),
    sort: keysOf(orders).find((known) => known === chosen('sort')),
  }
}

const pathOf = (list: ListQuery): string => withQuery(modelsPath, { ...list })

function matches({ q, by, input }: ListQuery, model: ModelResponse): boolean {
  const text = `${model.id} ${model.name}`.toLowerCase()
  const words = (q ?? '').toLowerCase().split(/\s+/)
  return (
    words.every((word) => text.includes(word)) &&
    (by === undefined || model.owned_by === by) &&
    (input === undefined || model.inputs.includes(input))
  )
}

/** The list of models. */
export const modelListRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout).get(modelsPath, ({ input }) =>
    sendUncached(input, () => modelListPage(ctx, input.query)),
  )

/** Renders the models: filtered, sorted by price or context, and with boxes to compare some. */
function modelListPage(ctx: AppContext, query: URLSearchParams): Page {
  const list = readQuery(query)
  const ofType = catalog.listModels(ctx, list.type)
  const makers = [...new Set(ofType.map(({ owned_by }) => owned_by))].sort()
  const found = ofType.filter((model) => matches(list, model))
  const order = list.sort && orders[list.sort]
  const all = order ? found.toSorted((a, b) => order(a) - order(b)) : found
  const shown = paginate(query, all, rowsMax)
  const rows = shown.rows.map((model) => row(ctx, model))
  const count = formatCount(all.length, 'model')
  const main = html`<div class="head title">
      <h1>Models</h1>
      <a class="button quiet" href="${playgroundPath}">Playground</a>
    </div>
    <p class="lead">Use every model with any OpenAI client, one API key and one balance.</p>
    ${copyLine(`OPENAI_BASE_URL=${ctx.urls.gateway}/v1`, t('Base URL for OpenAI clients'))}
    <section>
      <h2 class="visually-hidden">All models</h2>
      <live-search>${searchForm(list, makers)}</live-search>
      <div id="search-results">
        <div class="head list-head">
          ${typeChips(list)}
          <div class="compare-bar">
            <p class="small">${count}</p>
            ${all.length > 1 && html`<button class="button quiet slim" form="compare">Compare</button>`}
          </div>
        </div>
        ${all.length === 0 ? noResults(list) : compareForm(list, rows)}${numberPager(modelsPath, shown, { ...list })}
      </div>
      <p class="visually-hidden" role="status" id="search-status">${count}</p>
    </section>`
  return {
    title: t('Models'),
    section: modelsPath,
    ...(query.size === 0 && { path: modelsPath }),
    description: t('Models and their prices.'),
    main,
    scripts: ['copy-line.js', 'live-search.js'],
  }
}

function searchForm({ q, type, by, input, sort }: ListQuery, makers: string[]): Html {
  const maker = {
    label: t('Provider'),
    name: 'by',
    value: by ?? '',
    options: [['', t('All providers')], ...makers.map((one) => [one, one] as const)] as const,
  }
  const takes = {
    label: t('Input'),
    name: 'input',
    value: input ?? '',
    options: [
      ['', t('Any input')],
      ...inputTypes.map((one) => [one, t('With {kind} input', { kind: wireWord(one) })] as const),
    ] as const,
  }
  return html`<form class="search model-search" role="search" action="${modelsPath}">
    ${type && hiddenField('type', type)}${sort && hiddenField('sort', sort)}
    ${searchField(t('Search models'), q, searchCharsMax)}
    ${makers.length > 1 && selectField(maker)}${selectField(takes)}
  </form>`
}

function typeChips(list: ListQuery): Html {
  const typeChip = (value: string | undefined, name: Text): Html =>
    chip(pathOf({ ...list, type: value }), name, list.type === value)
  return html`<nav aria-label="Types">
    <ul class="chips">
      ${typeChip(undefined, t('All'))}${modelTypes.map((one) => typeChip(one, typeNames[one]))}
    </ul>
  </nav>`
}

const noResults = ({ q }: ListQuery): Html =>
  emptyState(
    q === undefined ? t('No models of this kind') : html`No results for “<bdi>${q}</bdi>”`,
    t('Change the filters. The operator adds models with provider keys and settings.'),
    html`<a class="button quiet" href="${modelsPath}">Show all</a>`,
  )

/** The table with a box in each row, whose form the button above it submits. */
const compareForm = (list: ListQuery, rows: Part[][]): Html =>
  html`<form class="models" id="compare" action="${comparePath}">
    ${dataTable(t('Models'), columns(list), rows)}
  </form>`

function columns(list: ListQuery): Column[] {
  const sorted = (name: string, order: Order): Column => ({
    number: name,
    link: pathOf({ ...list, sort: list.sort === order ? undefined : order }),
    ...(list.sort === order && { sorted: order === 'context' ? 'descending' : 'ascending' }),
  })
  return [
    { select: t('Compare') },
    { long: t('Model') },
    { long: t('Input types'), onPhone: 'plain' },
    sorted(t('Context'), 'context'),
    sorted(t('Input'), 'input'),
    sorted(t('Output'), 'output'),
    { number: t('Latency') },
  ]
}

/** The median time to the first byte, measured here. */
function latencyOf(ctx: AppContext, id: string): Part[] {
  const found = ctx.catalog.find(id)?.model
  return [found ? shortMeasurements(ctx, found)[0] : '–']
}

function row(ctx: AppContext, model: ModelResponse): Part[] {
  const { id, name, inputs, supportsTools, context_length: window, price } = model
  const takes = [...inputs, ...(supportsTools ? ['tools'] : [])].map(wireWord).join(', ')
  return [
    html`<input type="checkbox" name="model" value="${id}" aria-label="Compare ${id}" />`,
    html`<a class="model-name" href="${modelPath(id)}">${name}</a><code>${id}</code>`,
    takes,
    window > 0 ? html`${formatCompact(window)} <span class="unit">tokens</span>` : '–',
    ...costs(price),
    ...latencyOf(ctx, id),
  ]
}
