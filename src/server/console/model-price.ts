import type { Model } from '../../gateway/models/catalog.ts'
import { readOwnPrices } from '../../gateway/models/own-prices.ts'
import { type Part as PricePart, type Price, toUsdPerUnit } from '../../gateway/models/price.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { withQuery } from '../../site/components.ts'
import { form } from '../../site/form.ts'
import { type Form, inputField, notice, postForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import type { UserRequest } from '../../site/session.ts'
import { fixedReason, partsOf, priceUnits } from '../operator/model-prices.ts'
import { changeModelPrice } from '../operator/operations.ts'
import { consolePage } from './components.ts'

export const pricePath = (id: string): string => withQuery('/console/models/price', { model: id })

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
  const name = `${label}, USD per ${unit}`
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
  const main = html`<p class="lead">
      Clients pay this price as it is: the margin is not added. An empty field is not offered, 0 is
      free.
    </p>
    <p class="small">
      ${isOwn ? 'The price was set here or in MODEL_PRICES.' : 'The price of the list, with the margin.'}
      ${hasTiers && 'Saving a price ends the higher prices of long prompts.'} Running requests pay
      the price at their start.
    </p>
    ${fixed === undefined ? postForm(token, pricePath(id), fields) : notice(fixed)}
    <p class="below"><a href="${withQuery('/console/models', { q: id })}">All prices</a></p>`
  return consolePage({ place: '/console/models', title: id, message, main })
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
