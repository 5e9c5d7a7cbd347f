import type { Model, Offer } from '../../gateway/models/catalog.ts'
import { type Price, toUsdPerUnit, withoutMargin } from '../../gateway/models/price.ts'
import { html, type Part } from '../../kernel/html.ts'
import { searchTerm } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatUsd } from '../../site/format.ts'
import { button, hiddenField, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable, emptyState, numberPager, paginate } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { priceUnits } from '../operator/model-prices.ts'
import { switchModel } from '../operator/operations.ts'
import { badge, consolePage, searchCharsMax, searchForm } from './components.ts'
import { pricePath } from './model-price.ts'

const place = '/console/models'
const rowsShown = 100

/** The parts of a price that the list shows. */
const shownParts = [
  'prompt',
  'completion',
  'perImage',
  'perSecond',
  'perMinute',
  'perCharacter',
] as const

/** One line a unit: "$0.15 / 1M input tokens". */
const priceLines = (price: Price | undefined, rateOf: (rate: bigint) => bigint): Part =>
  price === undefined
    ? badge('no price: disabled', 'bad')
    : shownParts.flatMap((part) => {
        const rate = price[part]
        if (rate === undefined) return []
        const { unit, units } = priceUnits[part]
        const usd = Number(toUsdPerUnit(rateOf(rate) * units))
        return html`<div>${formatUsd(usd)} <span class="small">/ ${unit}</span></div>`
      })

/** A button that turns a model off, or on again. */
function switchForm(token: string, id: string, isOn: boolean): Part {
  const act = isOn ? 'off' : 'on'
  const style = isOn ? 'quiet slim danger' : 'quiet slim'
  const turn = button(`Turn ${act}`, style, { name: 'turn', value: act, target: id })
  return postForm(token, `${place}/switch`, html`${hiddenField('model', id)}${turn}`, 'inline')
}

/** Turns a model on or off. */
export const modelForm = form(switchModel, {
  fields: (sent) => ({ model: sent.text('model').trim(), on: sent.text('turn') === 'on' }),
  then: place,
})

/** Renders the last change of a price, with a button that restores the prices before it. */
const changedNotice = (token: string, id: string | null): Part =>
  id !== null &&
  html`<div class="notice" role="status">
    <span>The price of <code>${id}</code> changed.</span>
    ${postForm(token, '/console/settings/MODEL_PRICES', html`${hiddenField('act', 'undo')}${button('Undo', 'quiet slim')}`, 'inline')}
  </div>`

/** Renders every offer of every model: the upstream's price, our price and the margin. */
export function modelsPage({ ctx, query, token }: UserRequest, message?: string): Page {
  const { marginPercent } = ctx.config
  const off = ctx.catalog.listOff()
  const q = searchTerm(query, searchCharsMax)
  const all = [...off, ...ctx.catalog.list()]
    .filter(({ id }) => id.toLowerCase().includes(q?.toLowerCase() ?? ''))
    .flatMap((model) => model.offers.map((offer) => ({ model, offer })))
  const row = ({ model, offer }: { model: Model; offer: Offer }): Part[] => [
    html`<code>${model.id}</code>
      <span class="small">${model.type}</span> ${off.includes(model) && badge('off', 'bad')}`,
    offer.upstream,
    priceLines('listPrice' in offer ? offer.listPrice : offer.price, (rate) =>
      withoutMargin(rate, marginPercent),
    ),
    html`${priceLines(offer.price, (rate) => rate)}
    ${offer === model.offers[0] && html`<a class="small" href="${pricePath(model.id)}" aria-label="Edit the price of ${model.id}">Edit</a>`}`,
    'listPrice' in offer ? badge('own price') : `${marginPercent} %`,
    offer === model.offers[0] && switchForm(token, model.id, !off.includes(model)),
  ]
  const heads = [
    'Model',
    'Upstream',
    'Upstream price',
    'Our price',
    { number: 'Margin' },
    { unseen: 'Actions' },
  ]
  const shown = paginate(query, all, rowsShown)
  const none = emptyState(
    'No models found',
    'Models come from provider keys, Ollama and berth.toml.',
  )
  const main = html`${changedNotice(token, query.get('changed'))}
  ${searchForm('/console/models', 'Search models', q)}
  ${dataTable('Models', heads, shown.rows.map(row), none)}
  ${numberPager('/console/models', shown, { q })}`
  const lead = html`Upstream prices and our prices.
    <a href="/console/settings/MARGIN_PERCENT">MARGIN_PERCENT</a> is ${marginPercent}.`
  return consolePage({ place, title: 'Models', lead, message, main })
}
