import type { Model, Offer } from '../../gateway/models/catalog.ts'
import { readOwnPrices } from '../../gateway/models/open-catalog.ts'
import {
  type Part as PricePart,
  type Price,
  toUsdPerUnit,
  withoutMargin,
} from '../../gateway/models/price.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { searchTerm, withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { formatUsd } from '../../site/format.ts'
import {
  button,
  type Form,
  hiddenField,
  inputField,
  notice,
  postForm,
  rowMenu,
} from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import {
  type Column,
  dataTable,
  emptyState,
  numberPager,
  paginate,
  usual,
} from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { wireWord } from '../../site/wire-words.ts'
import { fixedReason, partsOf, priceUnits } from '../operator/model-prices.ts'
import { changeModelPrice, switchModel } from '../operator/operations.ts'
import { badge, consolePage, searchCharsMax, searchForm, settingLink } from './components.ts'

const pricePath = (id: string): string => withQuery('/console/models/price', { model: id })

/** Returns the model of the query, even if it is off. Throws `not_found`. */
function getModel({ ctx, query }: UserRequest): Model {
  const id = query.get('model')
  const model = [...ctx.catalog.list(), ...ctx.catalog.listOff()].find((one) => one.id === id)
  if (!model) throw new ApiError('not_found', { what: 'model' })
  return model
}

const amountOf = (price: Price | undefined, part: PricePart): string => {
  const rate = price?.[part]
  return rate === undefined ? '' : toUsdPerUnit(rate * priceUnits[part].units)
}

function priceField(price: Price | undefined, part: PricePart, submitted: Form | undefined): Part {
  const { label, unit } = priceUnits[part]
  const value = submitted?.has(part) ? submitted.text(part) : amountOf(price, part)
  const name = t('{label}, USD per {unit}', { label, unit })
  return inputField({ label: name, name: part, value, max: 30, isOptional: true })
}

/** Renders the price of one model with its form. Throws `not_found`. */
export function modelPricePage(req: UserRequest, message?: string, submitted?: Form): Page {
  const { ctx, token } = req
  const model = getModel(req)
  const { id, price } = model
  const isOwn = readOwnPrices(ctx.config.modelPrices).has(id)
  const fixed = fixedReason(ctx, model)
  const fields = html`${partsOf(model).map((part) => priceField(price, part, submitted))}
    <div class="actions">
      <button class="button" name="act" value="set">Save price</button>
      ${isOwn && html`<button class="button quiet" name="act" value="reset">Restore list price</button>`}
    </div>`
  const hasTiers = price?.tiers !== undefined
  const { marginPercent } = ctx.config
  const now = isOwn
    ? t('Clients pay your own price, without the margin.')
    : t('Clients pay the price of the list and the margin of {marginPercent} %.', { marginPercent })
  const main = html`<p class="small">
      A price that you save replaces both. An empty field is not offered, 0 is free.
      ${hasTiers && t('Saving a price ends the higher prices of long prompts.')} Running requests
      pay the price at their start.
    </p>
    ${fixed === undefined ? postForm(token, pricePath(id), fields) : notice(fixed)} `
  return consolePage({
    place: '/console/models',
    title: id,
    above: [[withQuery('/console/models', { q: id }), t('Models')]],
    lead: now,
    message,
    main,
  })
}

/** Sets or restores the price of a model. */
export const modelPriceForm = form(changeModelPrice, {
  fields(sent, req: UserRequest) {
    const model = getModel(req)
    const price = Object.fromEntries(
      partsOf(model).flatMap((part) => {
        const usd = sent.text(part).trim()
        return usd === '' ? [] : [[part, usd]]
      }),
    )
    return { model: model.id, price: sent.text('act') === 'reset' ? null : price }
  },
  then(_, _sent, req) {
    const id = req.query.get('model') ?? ''
    return withQuery('/console/models', { q: id, changed: id })
  },
})

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
    ? badge(t('no price: disabled'), 'bad')
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
  const turn = button(isOn ? t('Turn off') : t('Turn on'), style, {
    name: 'turn',
    value: act,
    target: id,
  })
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
    ${postForm(token, '/console/settings/MODEL_PRICES', html`${hiddenField('act', 'undo')}${button(t('Undo'), 'quiet slim')}`, 'inline')}
  </div>`

/** Renders every offer of every model: the upstream's price, our price and the margin. */
export function modelsPage({ ctx, query, token }: UserRequest, message?: string): Page {
  const { marginPercent } = ctx.config
  const off = ctx.catalog.listOff()
  const q = searchTerm(query, searchCharsMax)
  const all = [...off, ...ctx.catalog.list()]
    .filter(({ id }) => id.toLowerCase().includes(q?.toLowerCase() ?? ''))
    .flatMap((model) => model.offers.map((offer) => ({ model, offer })))
  const menu = (model: Model): Part =>
    rowMenu(
      model.id,
      html`<a
          class="button quiet slim"
          href="${pricePath(model.id)}"
          aria-label="${t('Edit the price')} ${model.id}"
          >Edit the price</a
        >${switchForm(token, model.id, !off.includes(model))}`,
    )
  const upstreamPrice = (offer: Offer) => {
    const isOwn = 'listPrice' in offer
    const lines = priceLines(isOwn ? offer.listPrice : offer.price, (rate) =>
      withoutMargin(rate, marginPercent),
    )
    // A phone shows it where it differs from ours.
    return isOwn || marginPercent !== 0 ? lines : usual(lines)
  }
  const row = ({ model, offer }: { model: Model; offer: Offer }) => [
    html`<code>${model.id}</code>
      <span class="small">${wireWord(model.type)}</span>
      ${off.includes(model) && badge(t('off'), 'bad')}`,
    offer.upstream,
    upstreamPrice(offer),
    priceLines(offer.price, (rate) => rate),
    'listPrice' in offer ? badge(t('own price')) : usual(`${marginPercent} %`),
    offer === model.offers[0] && menu(model),
  ]
  const heads: Column[] = [
    t('Model'),
    { text: t('Upstream'), onPhone: 'plain' },
    t('Upstream price'),
    t('Our price'),
    { number: t('Margin') },
    { unseen: t('Actions') },
  ]
  const shown = paginate(query, all, rowsShown)
  const none = emptyState(
    t('No models found'),
    t('Models come from provider keys, Ollama and berth.toml.'),
  )
  const main = html`${changedNotice(token, query.get('changed'))}
  ${searchForm('/console/models', t('Search models'), q)}
  ${dataTable(t('Models'), heads, shown.rows.map(row), none)}
  ${numberPager('/console/models', shown, { q })}`
  const lead = html`Upstream prices and our prices. The ${settingLink('MARGIN_PERCENT')} is
  ${marginPercent} %.`
  return consolePage({ place, title: t('Models'), lead, message, main })
}
