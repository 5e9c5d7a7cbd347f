import { html, type Part } from '../../core/html.ts'
import type { Model, Offer } from '../../models/catalog.ts'
import { type Price, toUsdPerUnit, withoutMargin } from '../../models/price.ts'
import { searchTerm } from '../components.ts'
import { formatUsd } from '../format.ts'
import type { Page } from '../layout.ts'
import { dataTable, emptyState, numberPager, paginate } from '../lists.ts'
import type { UserRequest } from '../session.ts'
import { badge, consolePage, searchCharsMax, searchForm } from './components.ts'

const rowsShown = 100

/** The shown parts of a price, with their units and the number of units. */
const units = [
  ['prompt', '1M input tokens', 1e6],
  ['completion', '1M output tokens', 1e6],
  ['perImage', 'image', 1],
  ['perSecond', 'second', 1],
  ['perMinute', 'minute', 1],
  ['perCharacter', '1M characters', 1e6],
] as const

/** One line a unit: "$0.15 / 1M input tokens". */
const priceLines = (price: Price | undefined, rateOf: (rate: bigint) => bigint): Part =>
  price === undefined
    ? badge('no price: disabled', 'bad')
    : units.flatMap(([part, unit, many]) => {
        const rate = price[part]
        if (rate === undefined) return []
        const usd = Number(toUsdPerUnit(rateOf(rate))) * many
        return html`<div>${formatUsd(usd)} <span class="small">/ ${unit}</span></div>`
      })

/** Renders every offer of every model: the upstream's price, our price and the margin. */
export function modelsPage({ ctx, query }: UserRequest): Page {
  const { marginPercent } = ctx.config
  const q = searchTerm(query, searchCharsMax)
  const all = ctx.catalog
    .list()
    .filter(({ id }) => id.toLowerCase().includes(q?.toLowerCase() ?? ''))
    .flatMap((model) => model.offers.map((offer) => ({ model, offer })))
  const row = ({ model, offer }: { model: Model; offer: Offer }): Part[] => [
    html`<code>${model.id}</code> <span class="small">${model.type}</span>`,
    offer.upstream,
    priceLines(offer.price, (rate) => withoutMargin(rate, marginPercent)),
    priceLines(offer.price, (rate) => rate),
    `${marginPercent} %`,
  ]
  const heads = ['Model', 'Upstream', 'Upstream price', 'Our price', { number: 'Margin' }]
  const shown = paginate(query, all, rowsShown)
  const none = emptyState(
    'No models found',
    'Models come from provider keys, Ollama and berth.toml.',
  )
  const main = html`${searchForm('/console/models', 'Search models', q)}
  ${all.length > 0 ? dataTable('Models', heads, shown.rows.map(row)) : none}
  ${numberPager('/console/models', shown, { q })}`
  const lead = html`Upstream prices and our prices. MARGIN_PERCENT is ${marginPercent}.`
  return consolePage({ place: '/console/models', title: 'Models', lead, main })
}
