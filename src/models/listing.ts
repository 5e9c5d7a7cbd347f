import type { Model } from './catalogue.ts'
import { hasRate, type ModelType, type PriceTexts, readPrice } from './price.ts'

/** A model as a source states it; what is left out follows from its type. */
export interface Listing {
  id: string
  name?: string
  type?: ModelType
  inputs?: string[]
  outputs?: string[]
  supportsTools?: boolean
  contextLength?: number
  maxOutput?: number
  imageTokens?: number
  price?: PriceTexts
}

/** The most input tokens that a picture counts as, unless a model's row says otherwise. */
const pictureTokensMost = 8_000

const outputsOf: Record<ModelType, string[]> = {
  chat: ['text'],
  image: ['image'],
  video: ['video'],
  audio: ['audio', 'text'],
  embedding: ['embedding'],
}

/**
 * A model of the catalogue, from how its source lists it and where it can be had. A price without
 * what its type is paid by is no published rate. Throws when a price cannot be read.
 */
export function toModel(
  listing: Listing,
  places: { upstream: string; model: string }[],
  marginPercent: number,
): Model {
  const { id, type = 'chat' } = listing
  const price = priceOf(listing, type, marginPercent)
  return {
    id,
    name: listing.name ?? id,
    type,
    ownedBy: id.split('/')[0] ?? id,
    inputs: listing.inputs ?? ['text'],
    outputs: listing.outputs ?? outputsOf[type],
    supportsTools: listing.supportsTools ?? type === 'chat',
    contextLength: listing.contextLength ?? 0,
    maxOutput: listing.maxOutput ?? 0,
    imageTokens: listing.imageTokens ?? pictureTokensMost,
    price,
    offers: places.map((place) => ({ ...place, price })),
  }
}

function priceOf({ id, price }: Listing, type: ModelType, marginPercent: number) {
  if (!price) return undefined
  const read = readPrice(price, marginPercent)
  if ('error' in read) throw new Error(`The price of ${id}: ${read.error}.`)
  return hasRate(type, read) ? read : undefined
}
