import { html, type Part } from '../../core/markup.ts'
import type { Model, Offer } from '../../models/catalogue.ts'
import { type Price, toUsdPerUnit, withoutMargin } from '../../models/price.ts'
import { queryOf, searchTerm } from '../components.ts'
import { dataTable } from '../data-table.ts'
import { formatUsd } from '../format.ts'
import type { Page } from '../layout.ts'
import { emptyState, numberPager, paginate } from '../lists.ts'
import type { SignedInRequest } from '../session.ts'
import { badge, consolePage, searchCharsMax, searchForm } from './layout.ts'

const rowsShown = 100

/** The parts of a price that are shown: what one pays for, and how many of it. */
const units = [
  ['prompt', '1M tokens in', 1e6],
  ['completion', '1M tokens out', 1e6],
  ['perImage', 'picture', 1],
  ['perSecond', 'second', 1],
  ['perMinute', 'minute', 1],
  ['perCharacter', '1M characters', 1e6],
] as const

/** A price in lines: "$0.15 / 1M tokens in". */
const priceLines = (price: Price | undefined, rateOf: (rate: bigint) => bigint): Part =>
  price === undefined
    ? badge('no price: refused', 'bad')
    : units.flatMap(([part, unit, many]) => {
        const rate = price[part]
        if (rate === undefined) return []
        const usd = Number(toUsdPerUnit(rateOf(rate))) * many
        return html`<div>${formatUsd(usd)} <span class="small">/ ${unit}</span></div>`
      })

/** Every model at every upstream: what it costs there, what is asked here, and what stays. */
export function modelsPage({ ctx, request }: SignedInRequest): Page {
  const { marginPercent } = ctx.config
  const query = queryOf(request)
  const q = searchTerm(query, searchCharsMax)
  const all = ctx.catalogue
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
  const heads = ['Model', 'Upstream', 'Upstream price', 'Price here', { number: 'Margin' }]
  const shown = paginate(query, all, rowsShown)
  const none = emptyState(
    'No such model',
    'Models come from keys, from Ollama and from berth.toml.',
  )
  const main = html`${searchForm('/console/models', 'Search models', q)}
  ${all.length > 0 ? dataTable('Models', heads, shown.rows.map(row)) : none}
  ${numberPager('/console/models', shown, { q })}`
  const lead = html`What the upstream asks, and what is asked here: MARGIN_PERCENT is
  ${marginPercent}.`
  return consolePage({ place: '/console/models', title: 'Models', lead, main })
}
