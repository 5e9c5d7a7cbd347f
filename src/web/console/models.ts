import { html, type Part } from '../../core/markup.ts'
import type { Model, Offer } from '../../models/catalogue.ts'
import { type Price, toUsdPerUnit, withoutMargin } from '../../models/price.ts'
import { inUsd } from '../amounts.ts'
import type { Page } from '../layout.ts'
import { empty, numberPager, pageIn } from '../lists.ts'
import { queryOf, wordsIn } from '../parts.ts'
import type { Own } from '../people/desk.ts'
import { table } from '../table.ts'
import { badge, consolePage, searchForm, wordsMax } from './frame.ts'

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
const lines = (price: Price | undefined, rateOf: (rate: bigint) => bigint): Part =>
  price === undefined
    ? badge('no price: refused', 'bad')
    : units.flatMap(([part, unit, many]) => {
        const rate = price[part]
        if (rate === undefined) return []
        const usd = Number(toUsdPerUnit(rateOf(rate))) * many
        return html`<div>${inUsd(usd)} <span class="small">/ ${unit}</span></div>`
      })

/** Every model at every upstream: what it costs there, what is asked here, and what stays. */
export function modelsPage({ ctx, request }: Own): Page {
  const { marginPercent } = ctx.config
  const query = queryOf(request)
  const q = wordsIn(query, wordsMax)
  const all = ctx.catalogue
    .list()
    .filter(({ id }) => id.toLowerCase().includes(q?.toLowerCase() ?? ''))
    .flatMap((model) => model.offers.map((offer) => ({ model, offer })))
  const row = ({ model, offer }: { model: Model; offer: Offer }): Part[] => [
    html`<code>${model.id}</code> <span class="small">${model.type}</span>`,
    offer.upstream,
    lines(offer.price, (rate) => withoutMargin(rate, marginPercent)),
    lines(offer.price, (rate) => rate),
    `${marginPercent} %`,
  ]
  const heads = ['Model', 'Upstream', 'Upstream price', 'Price here', { number: 'Margin' }]
  const shown = pageIn(query, all, rowsShown)
  const none = empty('No such model', 'Models come from keys, from Ollama and from berth.toml.')
  const main = html`${searchForm('/console/models', 'Search models', q)}
  ${all.length > 0 ? table('Models', heads, shown.rows.map(row)) : none}
  ${numberPager('/console/models', shown, { q })}`
  const lead = html`What the upstream asks, and what is asked here: MARGIN_PERCENT is
  ${marginPercent}.`
  return consolePage({ place: '/console/models', title: 'Models', lead, main })
}
