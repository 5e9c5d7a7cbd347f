import type { ModelRow } from '../../kernel/config/tables.ts'
import type { Model } from './catalog.ts'
import { hasRate, type ModelType, type Price, type RateTexts, readPrice } from './price.ts'

/**
 * Returns the model's id and its price of an entry of MODEL_PRICES:
 * "openai/small prompt=0.000002 completion=0.00001", in USD per unit.
 */
function parseOwnPrice(entry: string): [id: string, price: RateTexts] {
  const [id = '', ...pairs] = entry.split(' ')
  return [id, Object.fromEntries(pairs.map((pair) => pair.split('=')))]
}

export const formatOwnPrice = (id: string, price: RateTexts): string =>
  [id, ...Object.entries(price).map(([part, usd]) => `${part}=${usd}`)].join(' ')

/** Returns whether berth.toml has the price of a model. */
export const hasFixedPrice = (rows: readonly ModelRow[], id: string): boolean =>
  rows.some((row) => row.id === id && row.price !== undefined)

/** Returns the prices of MODEL_PRICES by the ids of their models. */
export const readOwnPrices = (entries: readonly string[]): Map<string, RateTexts> =>
  new Map(entries.map(parseOwnPrice))

/** Reads the price of a model; undefined where its type is charged by other parts. */
export function readOwnPrice(type: ModelType, texts: RateTexts): Price | undefined {
  const price = readPrice(texts)
  return 'error' in price || !hasRate(type, price) ? undefined : price
}

/**
 * Gives models the prices of MODEL_PRICES, without the margin. Rows of berth.toml with a price keep
 * it. A price that does not fit the type of its model counts as no price.
 */
export function applyOwnPrices(
  models: Model[],
  { models: rows, modelPrices = [] }: { models: ModelRow[]; modelPrices?: string[] },
): Model[] {
  const own = readOwnPrices(modelPrices)
  return models.map((model) => {
    const texts = hasFixedPrice(rows, model.id) ? undefined : own.get(model.id)
    if (!texts) return model
    const price = readOwnPrice(model.type, texts)
    const offers = model.offers.map((offer) => ({ ...offer, price, listPrice: offer.price }))
    return { ...model, price, offers }
  })
}
