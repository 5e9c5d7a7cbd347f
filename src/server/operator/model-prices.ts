import type { Model } from '../../gateway/models/catalog.ts'
import { hasFixedPrice, readOwnPrice } from '../../gateway/models/open-catalog.ts'
import {
  fromUsdPerUnit,
  type ModelType,
  type Part as PricePart,
  parts,
  type RateTexts,
  toUsdPerUnit,
} from '../../gateway/models/price.ts'
import { isFixed } from '../../kernel/config/values.ts'
import type { AppContext } from '../../kernel/context.ts'
import { ApiError, rejectRequest } from '../../kernel/errors.ts'
import { type Message, msg } from '../../kernel/words/message.ts'
import { places } from './settings.ts'

const million = 1_000_000n

/** The parts of a price: their labels, and the units to which an amount applies. */
export const priceUnits = {
  prompt: { label: msg('Input'), unit: msg('1M input tokens'), units: million },
  completion: { label: msg('Output'), unit: msg('1M output tokens'), units: million },
  cacheRead: { label: msg('Cached input'), unit: msg('1M tokens'), units: million },
  cacheWrite: { label: msg('Cache write'), unit: msg('1M tokens'), units: million },
  reasoning: { label: msg('Reasoning'), unit: msg('1M tokens'), units: million },
  audio: { label: msg('Audio input'), unit: msg('1M tokens'), units: million },
  audioCacheRead: { label: msg('Cached audio input'), unit: msg('1M tokens'), units: million },
  audioCompletion: { label: msg('Audio output'), unit: msg('1M tokens'), units: million },
  perImage: { label: msg('Image'), unit: msg('image'), units: 1n },
  perSecond: { label: msg('Second'), unit: msg('second'), units: 1n },
  perMinute: { label: msg('Minute'), unit: msg('minute'), units: 1n },
  perCharacter: { label: msg('Characters'), unit: msg('1M characters'), units: million },
  perSearch: { label: msg('Web search'), unit: msg('search'), units: 1n },
} satisfies Record<PricePart, { label: Message; unit: Message; units: bigint }>

/** All parts, in the order of the page. */
const isPart = (name: string): name is PricePart => Object.hasOwn(priceUnits, name)
const allParts = Object.keys(priceUnits).filter(isPart)

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

export const partsOf = ({ type, price }: Model): PricePart[] =>
  allParts.filter((part) => partsByType[type].includes(part) || price?.[part] !== undefined)

/** Returns why a price cannot be changed here; undefined where it can. */
export function fixedReason(ctx: AppContext, { id }: Pick<Model, 'id'>): string | undefined {
  const row = ctx.config.rows.find(({ name }) => name === 'MODEL_PRICES')
  if (row && isFixed(row.source))
    return `The prices are set ${places[row.source]}, which wins. Change MODEL_PRICES there and restart Berth.`
  return hasFixedPrice(ctx.config.models, id)
    ? `The [[model]] ${id} in berth.toml has a price, which wins. Change it there and restart Berth.`
    : undefined
}

/** Reads an amount per displayed unit as USD per unit. Throws `bad_request`. */
function readAmount(text: string, part: PricePart): string | undefined {
  const { label, units } = priceUnits[part]
  if (text === '') return undefined
  const rate = fromUsdPerUnit(text)
  if (rate === undefined || rate % units !== 0n || text.length > 20) {
    const digits = units === 1n ? 15 : 9
    rejectRequest(
      `${label} must be USD with at most ${digits} decimals, such as 0.25. Nothing changed.`,
    )
  }
  return toUsdPerUnit(rate / units)
}

/**
 * Reads the price of a model from USD by part; null stays null. Throws `not_found`, `bad_request`.
 */
export function readModelPrice(
  ctx: AppContext,
  id: string,
  sent: Record<string, string> | null,
): RateTexts | null {
  const model = [...ctx.catalog.list(), ...ctx.catalog.listOff()].find((one) => one.id === id)
  if (!model) throw new ApiError('not_found', { what: 'model' })
  const fixed = fixedReason(ctx, model)
  if (fixed !== undefined) rejectRequest(fixed)
  if (sent === null) return null
  const price: RateTexts = Object.fromEntries(
    partsOf(model).flatMap((part) => {
      const usd = readAmount(sent[part]?.trim() ?? '', part)
      return usd === undefined ? [] : [[parts[part], usd]]
    }),
  )
  if (readOwnPrice(model.type, price)) return price
  const needed = partsByType[model.type].map((part) => priceUnits[part].label).join(', ')
  rejectRequest(
    `A price of the type ${model.type} needs the parts that it is charged by: ${needed}.`,
  )
}
