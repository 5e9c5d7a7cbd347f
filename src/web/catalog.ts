import { modelTypes } from '../config/providers.ts'
import type { AppContext } from '../context.ts'
import { type Html, html, type Part } from '../core/html.ts'
import * as catalog from '../gateway/catalog/catalog.ts'
import type { ModelResponse, PriceResponse } from '../gateway/catalog/schemas.ts'
import { copyLine, keysOf, searchTerm, withQuery } from './components.ts'
import { formatCompact, formatUsd } from './format.ts'
import { hiddenField } from './forms.ts'
import type { Page } from './layout.ts'
import {
  chip,
  type Column,
  dataTable,
  emptyState,
  numberPager,
  paginate,
  searchField,
} from './lists.ts'

const rowsMax = 100
const searchCharsMax = 100

const typeNames = {
  chat: 'Chat',
  image: 'Image',
  video: 'Video',
  audio: 'Audio',
  embedding: 'Embeddings',
  moderation: 'Moderation',
  rerank: 'Rerank',
} as const

/** Renders the models, filtered by type and by words of their IDs and names. */
export function catalogPage(ctx: AppContext, query: URLSearchParams): Page {
  const type = modelTypes.find((known) => known === query.get('type'))
  const q = searchTerm(query, searchCharsMax)
  const words = (q ?? '').toLowerCase().split(/\s+/)
  const all = catalog.listModels(ctx, type).filter(({ id, name }) => {
    const text = `${id} ${name}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const shown = paginate(query, all, rowsMax)
  const count = `${all.length} model${all.length === 1 ? '' : 's'}`
  const main = html`<h1>Models</h1>
    <p class="lead">Use every model with any OpenAI client, one API key and one balance.</p>
    ${copyLine(`OPENAI_BASE_URL=${ctx.urls.gateway}/v1`, 'Base URL for OpenAI clients')}
    <section>
      <h2 class="visually-hidden">All models</h2>
      <live-search
        ><form class="search" role="search" action="/catalogue">
          ${type && hiddenField('type', type)}
          ${searchField({ label: 'Search models', value: q, maxLength: searchCharsMax })}
        </form></live-search
      >
      <p class="visually-hidden" role="status" id="search-status">${count}</p>
      <div id="search-results">
        ${typeChips(type, q)}
        ${all.length === 0 ? noResults(q) : html`<div class="models">${dataTable('Models', columns, shown.rows.map(row))}</div>`}${numberPager('/catalogue', shown, { q, type })}
      </div>
    </section>`
  return {
    title: 'Models',
    section: '/catalogue',
    ...(query.size === 0 && { path: '/catalogue' }),
    description: 'Models and their prices.',
    main,
    scripts: ['copy-line.js', 'live-search.js'],
  }
}

function typeChips(type: string | undefined, q: string | undefined): Html {
  const typeChip = (value: string | undefined, name: string): Html =>
    chip(withQuery('/catalogue', { q, type: value }), name, type === value)
  return html`<nav aria-label="Types">
    <ul class="chips">
      ${typeChip(undefined, 'All')}${modelTypes.map((one) => typeChip(one, typeNames[one]))}
    </ul>
  </nav>`
}

const noResults = (q: string | undefined): Html =>
  emptyState(
    q === undefined ? 'No models of this type' : html`No results for “<bdi>${q}</bdi>”`,
    'The operator adds models with provider keys and settings.',
    html`<a class="button quiet" href="/catalogue">Show all</a>`,
  )

const columns: Column[] = [
  { long: 'Model' },
  { long: 'Input types' },
  { number: 'Context' },
  { number: 'Input' },
  { number: 'Output' },
]

function row(model: ModelResponse): Part[] {
  const { id, name, type, inputs, supportsTools, context_length: window, price } = model
  const canTry = type === 'chat' && price.prompt !== undefined
  const takes = [...inputs, ...(supportsTools ? ['tools'] : [])].join(', ')
  return [
    html`<strong>${name}</strong
      ><code>${id}</code
      >${canTry && html`<a class="small" href="${withQuery('/wallet/playground', { model: id })}">Try it<span class="visually-hidden"> with ${id}</span></a>`}`,
    takes,
    window > 0 ? `${formatCompact(window)} tokens` : '–',
    ...costs(price),
  ]
}

const each = (amount: number, unit: string): Html =>
  html`${formatUsd(amount)} <span class="unit">${unit}</span>`

/** Formats a price per token as USD per million tokens. */
export const perMillion = (amount: string | undefined): string =>
  amount === undefined ? '–' : formatUsd(Number(amount) * 1e6)
const tokens = (amount: string | undefined): Part => [
  perMillion(amount),
  amount !== undefined && html` <span class="unit">/ 1M tokens</span>`,
]

const units = {
  per_image: 'per image',
  per_second: 'per second',
  per_minute: 'per minute',
  per_character: 'per character',
} as const

function costs(price: PriceResponse): [into: Part, out: Part] {
  const [unit] = keysOf(units).flatMap((name) => {
    const amount = price[name]
    return amount === undefined ? [] : [each(amount, units[name])]
  })
  return [tokens(price.prompt), unit ?? tokens(price.completion)]
}
