import type { Model } from '../../gateway/models/catalog.ts'
import { hasFixedPrice, readOwnPrice, readOwnPrices } from '../../gateway/models/own-prices.ts'
import {
  fromUsdPerUnit,
  type ModelType,
  type Part as PricePart,
  parts,
  type Price,
  type RateTexts,
  toUsdPerUnit,
} from '../../gateway/models/price.ts'
import { isFixed } from '../../kernel/config/values.ts'
import { ApiError } from '../../kernel/errors.ts'
import { html, type Part } from '../../kernel/html.ts'
import { keysOf, withQuery } from '../../site/components.ts'
import { type Form, form, inputField, notice, rejectForm } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { redirectTo, type UserRequest } from '../../site/session.ts'
import { changeModelPrice, places } from '../operator/settings.ts'
import { operatorName } from './access.ts'
import { consolePage } from './components.ts'
import { findRow } from './settings.ts'

const million = 1_000_000n

/** The parts of a price: their labels, and the units to which an amount applies. */
export const priceUnits = {
  prompt: { label: 'Input', unit: '1M input tokens', units: million },
  completion: { label: 'Output', unit: '1M output tokens', units: million },
  cacheRead: { label: 'Cached input', unit: '1M tokens', units: million },
  cacheWrite: { label: 'Cache write', unit: '1M tokens', units: million },
  reasoning: { label: 'Reasoning', unit: '1M tokens', units: million },
  audio: { label: 'Audio input', unit: '1M tokens', units: million },
  audioCacheRead: { label: 'Cached audio input', unit: '1M tokens', units: million },
  audioCompletion: { label: 'Audio output', unit: '1M tokens', units: million },
  perImage: { label: 'Image', unit: 'image', units: 1n },
  perSecond: { label: 'Second', unit: 'second', units: 1n },
  perMinute: { label: 'Minute', unit: 'minute', units: 1n },
  perCharacter: { label: 'Characters', unit: '1M characters', units: million },
  perSearch: { label: 'Web search', unit: 'search', units: 1n },
} satisfies Record<PricePart, { label: string; unit: string; units: bigint }>

/** The parts by which models of a type can be charged. */
const partsByType: Record<ModelType, PricePart[]> = {
  chat: ['prompt', 'completion', 'cacheRead', 'cacheWrite'],
  embedding: ['prompt'],
  moderation: ['prompt'],
  rerank: ['perSearch', 'prompt'],
  image: ['perImage', 'prompt', 'completion'],
  video: ['perSecond', 'perMinute', 'perImage'],
  realtime: ['prompt', 'completion', 'cacheRead', 'audio', 'audioCacheRead', 'audioCompletion'],
  audio: ['perCharacter', 'perMinute', 'perSecond', 'prompt', 'completion'],
}

const partsOf = ({ type, price }: Model): PricePart[] =>
  keysOf(priceUnits).filter(
    (part) => partsByType[type].includes(part) || price?.[part] !== undefined,
  )

export const pricePath = (id: string): string => withQuery('/console/models/price', { model: id })

/** Returns the model of the query, even if it is off. Throws `not_found`. */
function getModel({ ctx, query }: UserRequest): Model {
  const id = query.get('model')
  const model = [...ctx.catalog.list(), ...ctx.catalog.listOff()].find((one) => one.id === id)
  if (!model) throw new ApiError('not_found', { what: 'model' })
  return model
}

/** Returns why a price cannot be changed here; undefined where it can. */
function fixedReason({ ctx }: UserRequest, { id }: Model): string | undefined {
  const row = findRow(ctx, 'MODEL_PRICES')
  if (row && isFixed(row.source))
    return `The prices are set ${places[row.source]}, which wins. Change MODEL_PRICES there and restart Berth.`
  return hasFixedPrice(ctx.config.models, id)
    ? `The [[model]] ${id} in berth.toml has a price, which wins. Change it there and restart Berth.`
    : undefined
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
  const fixed = fixedReason(req, model)
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
    ${fixed === undefined ? form(token, pricePath(id), fields) : notice(fixed)}
    <p class="below"><a href="${withQuery('/console/models', { q: id })}">All prices</a></p>`
  return consolePage({ place: '/console/models', title: id, message, main })
}

/** Reads an amount per displayed unit as USD per unit. Throws `bad_request`. */
function readAmount(text: string, part: PricePart): string | undefined {
  const { label, units } = priceUnits[part]
  if (text === '') return undefined
  const rate = fromUsdPerUnit(text)
  if (rate === undefined || rate % units !== 0n || text.length > 20) {
    const digits = units === 1n ? 15 : 9
    rejectForm(
      `${label} must be USD with at most ${digits} decimals, such as 0.25. Nothing changed.`,
    )
  }
  return toUsdPerUnit(rate / units)
}

/** Sets or restores the price of a model. Throws `not_found`, `bad_request`. */
export async function submitModelPrice(req: UserRequest, submitted: Form): Promise<Response> {
  const model = getModel(req)
  const { id, type } = model
  const by = operatorName(req)
  const fixed = fixedReason(req, model)
  if (fixed !== undefined) rejectForm(fixed)
  if (submitted.text('act') === 'reset') {
    await changeModelPrice(req.ctx, { id, price: null, by })
  } else {
    const price: RateTexts = Object.fromEntries(
      partsOf(model).flatMap((part) => {
        const usd = readAmount(submitted.text(part).trim(), part)
        return usd === undefined ? [] : [[parts[part], usd]]
      }),
    )
    if (!readOwnPrice(type, price)) {
      const needed = partsByType[type].map((part) => priceUnits[part].label).join(', ')
      rejectForm(`A price of the type ${type} needs the parts that it is charged by: ${needed}.`)
    }
    await changeModelPrice(req.ctx, { id, price, by })
  }
  return redirectTo(withQuery('/console/models', { q: id, changed: id }))
}
