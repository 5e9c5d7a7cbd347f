import { modelTypes } from '../config/providers.ts'
import type { AppContext } from '../context.ts'
import { type Html, html, type Part } from '../core/markup.ts'
import * as catalogue from '../gateway/catalogue/catalogue.ts'
import type { ModelResponse, PriceResponse } from '../gateway/catalogue/schemas.ts'
import { copyLine, formatCompact, keysOf, searchTerm, withQuery } from './components.ts'
import { type Column, dataTable } from './data-table.ts'
import { formatUsd } from './format.ts'
import { hiddenField } from './forms.ts'
import type { Page } from './layout.ts'
import { chip, numberPager, paginate } from './lists.ts'

const rowsMax = 100
const searchCharsMax = 100

const typeNames = {
  chat: 'Chat',
  image: 'Pictures',
  video: 'Films',
  audio: 'Sound',
  embedding: 'Embeddings',
} as const

/** Models by type and by words of their ids and names. */
export function cataloguePage(ctx: AppContext, query: URLSearchParams): Page {
  const type = modelTypes.find((known) => known === query.get('type'))
  const q = searchTerm(query, searchCharsMax)
  const words = (q ?? '').toLowerCase().split(/\s+/)
  const all = catalogue.listModels(ctx, type).filter(({ id, name }) => {
    const text = `${id} ${name}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
  const shown = paginate(query, all, rowsMax)
  const count = `${all.length} model${all.length === 1 ? '' : 's'}`
  const main = html`<h1>Catalogue</h1>
    <p class="lead">Every model here answers any OpenAI client, with one key and one balance.</p>
    ${copyLine(`OPENAI_BASE_URL=${ctx.urls.gateway}/v1`, 'The address for OpenAI clients')}
    <section>
      <h2 class="unseen">Models</h2>
      <live-search
        ><form class="search" role="search" action="/catalogue">
          ${type && hiddenField('type', type)}
          <label class="words"
            ><span class="unseen">Search models</span
            ><input
              type="search"
              name="q"
              value="${q}"
              maxlength="${searchCharsMax}"
              placeholder="Search models"
              autocomplete="off" /></label
          ><button class="button">Search</button>
        </form></live-search
      >
      <p class="unseen" role="status" id="said">${count}</p>
      <div id="found">
        ${typeChips(type, q)}
        ${all.length === 0 ? noResults(q) : html`<div class="models">${dataTable('Models', columns, shown.rows.map(row))}</div>`}${numberPager('/catalogue', shown, { q, type })}
      </div>
    </section>`
  return {
    title: 'Catalogue',
    section: '/catalogue',
    ...(query.size === 0 && { path: '/catalogue' }),
    description: 'The models that are served here, and their prices.',
    main,
    scripts: ['copy-line.js', 'live-search.js'],
  }
}

function typeChips(type: string | undefined, q: string | undefined): Html {
  const way = (value: string | undefined, name: string): Html =>
    chip(withQuery('/catalogue', { q, type: value }), name, type === value)
  return html`<nav aria-label="Types">
    <ul class="chips">
      ${way(undefined, 'All')}${modelTypes.map((one) => way(one, typeNames[one]))}
    </ul>
  </nav>`
}

const noResults = (q: string | undefined): Html =>
  html`<div class="empty">
    <h3>
      ${q === undefined ? 'No such model is served here' : html`Nothing matches “<bdi>${q}</bdi>”`}
    </h3>
    <p>Models come from the operator’s keys and settings.</p>
    <a class="button quiet" href="/catalogue">Show all</a>
  </div>`

const columns: Column[] = [
  { long: 'Model' },
  { long: 'Takes' },
  { number: 'Window' },
  { number: 'In' },
  { number: 'Out' },
]

function row(model: ModelResponse): Part[] {
  const { id, name, type, inputs, supportsTools, context_length: window, price } = model
  const isTried = type === 'chat' && price.prompt !== undefined
  const takes = [...inputs, ...(supportsTools ? ['tools'] : [])].join(', ')
  return [
    html`<strong>${name}</strong
      ><code>${id}</code
      >${isTried && html`<a class="small" href="${withQuery('/wallet/playground', { model: id })}">Try it<span class="unseen"> with ${id}</span></a>`}`,
    takes,
    window > 0 ? `${formatCompact(window)} tokens` : '–',
    ...costs(price),
  ]
}

const each = (amount: number, unit: string): Html =>
  html`${formatUsd(amount)} <span class="unit">${unit}</span>`
/** The price of a token as USD for a million of them; "–" where it has none. */
export const perMillion = (amount: string | undefined): string =>
  amount === undefined ? '–' : formatUsd(Number(amount) * 1e6)
const tokens = (amount: string | undefined): Part => [
  perMillion(amount),
  amount !== undefined && html` <span class="unit">/ 1M tokens</span>`,
]

const units = {
  per_image: 'a picture',
  per_second: 'a second',
  per_minute: 'a minute',
  per_character: 'a character',
} as const

/** What goes in and what comes out, each with its price. */
function costs(price: PriceResponse): [into: Part, out: Part] {
  const [unit] = keysOf(units).flatMap((name) => {
    const amount = price[name]
    return amount === undefined ? [] : [each(amount, units[name])]
  })
  return [tokens(price.prompt), unit ?? tokens(price.completion)]
}
