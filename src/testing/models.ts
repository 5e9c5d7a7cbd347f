import { Catalogue, type Model } from '../models/catalogue.ts'
import { type PriceTexts, readPrice } from '../models/price.ts'

/** A model for tests, chat unless told otherwise, priced as berth.toml would. */
export function testModel(price: PriceTexts | undefined, more: Partial<Model> = {}): Model {
  const read = price && readPrice(price)
  if (read && 'fault' in read) throw new Error(read.fault)
  return {
    id: 'maker/small',
    name: 'Small',
    type: 'chat',
    ownedBy: 'maker',
    inputs: ['text'],
    outputs: ['text'],
    supportsTools: false,
    contextLength: 32_768,
    maxOutput: 4_096,
    pictureTokens: 1_000,
    price: read,
    offers: [{ upstream: 'local', model: 'small', price: read }],
    ...more,
  }
}

export const testCatalogue = (...models: Model[]): Catalogue => new Catalogue(models)
