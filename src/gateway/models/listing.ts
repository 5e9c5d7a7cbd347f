import type { Model } from './catalog.ts'
import { hasRate, type ModelType, type PriceTexts, readPrice } from './price.ts'

/** A model as a source lists it. Missing fields follow from the type. */
export type Listing = Pick<Model, 'id'> &
  Partial<Omit<Model, 'id' | 'ownedBy' | 'price' | 'offers'>> & { price?: PriceTexts }

/** Default for the input tokens of an image at most. */
const imageTokensDefault = 8_000

const defaultOutputs: Record<ModelType, string[]> = {
  chat: ['text'],
  image: ['image'],
  video: ['video'],
  audio: ['audio', 'text'],
  embedding: ['embedding'],
  moderation: ['moderation'],
  rerank: ['rerank'],
  realtime: ['text', 'audio'],
}

/**
 * Creates a model of the catalog. A price without the parts that its type is charged by counts as
 * no price. Throws when a price is invalid.
 */
export function toModel(
  listing: Listing,
  places: { upstream: string; model: string; weight?: number }[],
  marginPercent: number,
): Model {
  const { id, type = 'chat' } = listing
  const price = priceOf(listing, type, marginPercent)
  return {
    id,
    name: listing.name ?? id,
    type,
    ownedBy: id.split('/')[0] ?? id,
    inputs: listing.inputs ?? (type === 'realtime' ? ['text', 'audio'] : ['text']),
    outputs: listing.outputs ?? defaultOutputs[type],
    supportsTools: listing.supportsTools ?? (type === 'chat' || type === 'realtime'),
    contextLength: listing.contextLength ?? 0,
    maxOutput: listing.maxOutput ?? 0,
    imageTokens: listing.imageTokens ?? imageTokensDefault,
    price,
    ...(listing.balance && { balance: listing.balance }),
    ...(listing.retries && { retries: listing.retries }),
    offers: places.map((place) => ({ ...place, price })),
  }
}

function priceOf({ id, price: texts }: Listing, type: ModelType, marginPercent: number) {
  if (!texts) return undefined
  const price = readPrice(texts, marginPercent)
  if ('error' in price) throw new Error(`The price of ${id} is invalid: ${price.error}.`)
  return hasRate(type, price) ? price : undefined
}
