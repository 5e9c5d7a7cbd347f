import type { ModelRow } from '../../kernel/config/tables.ts'
import { Catalog, type Listing, type Model, toModel } from './catalog.ts'
import {
  hasRate,
  type ModelType,
  type Price,
  type PriceTexts,
  type RateTexts,
  readPrice,
  withSearch,
} from './price.ts'
import type { ListedModel } from './public-lists.ts'
import { publishedModels } from './published-models.ts'

export interface Sources {
  /** The operator's rows. They replace others with the same id. */
  models: ModelRow[]
  /** Upstreams with published prices (openai, openrouter ...). */
  published: string[]
  /** Rows that `berth models sync` stored. */
  synced?: ListedModel[]
  /** Models of an upstream on this machine. */
  local: { upstream: string; model: string }[]
  demo: boolean
  /** The upstreams of further API keys, by the name of the first one. */
  replicas?: Map<string, string[]>
  marginPercent: number
  /** Ids of models that are not available. */
  modelsOff?: string[]
  /** Prices that the operator gave single models (MODEL_PRICES). */
  modelPrices?: string[]
  /** USD per web search; undefined without web search. */
  perSearch?: string | undefined
  /** Milliseconds since 1970. Published prices change over time. */
  now: number
}

/** Default price of local models: without a price, anyone could use them without limit. */
const localPrice: PriceTexts = { prompt: '0.0000001', completion: '0.0000001' }

/** Opens the catalog. Throws when a price of berth.toml is invalid. */
export const openCatalog = async (sources: Sources): Promise<Catalog> =>
  new Catalog(await listPricedModels(sources), sources.modelsOff)

/** Returns the models of all sources with their prices. */
export async function listPricedModels(sources: Sources): Promise<Model[]> {
  const { marginPercent, now } = sources
  const own = sources.models.map(({ upstreams, upstreamModel, weights, ...listing }) => {
    const places = upstreams.map((upstream, at) => {
      const weight = weights?.[at]
      return { upstream, model: upstreamModel, ...(weight !== undefined && { weight }) }
    })
    return toModel(listing, places, marginPercent)
  })
  const local = sources.local.map((place) => {
    const id = `${place.upstream}/${place.model}`
    const type = place.model.includes('embed') ? 'embedding' : 'chat'
    return toModel({ id, type, price: localPrice }, [place], marginPercent)
  })
  const published = await Promise.all(
    sources.published.map((upstream) =>
      publishedModels(upstream, now, marginPercent, sources.synced),
    ),
  )
  const demo = sources.demo ? demoModels(marginPercent) : []
  const models = mergeOffers([...published.flat(), ...local, ...demo], own)
  return applyOwnPrices(models, sources).map((model) =>
    addReplicas(addSearchPrice(model, sources), sources),
  )
}

/** Adds the price of a web search to models that can search. */
function addSearchPrice(model: Model, { perSearch, marginPercent }: Sources): Model {
  const { type, supportsTools } = model
  if (perSearch === undefined || type !== 'chat' || !supportsTools) return model
  const withPrice = (price: Price | undefined) =>
    price && withSearch(price, perSearch, marginPercent)
  const offers = model.offers.map((offer) => ({ ...offer, price: withPrice(offer.price) }))
  return { ...model, price: withPrice(model.price), offers }
}

/** Adds an offer for each further API key of an upstream. */
function addReplicas(model: Model, { replicas }: Sources): Model {
  if (!replicas || replicas.size === 0) return model
  const offers = model.offers.flatMap((offer) => [
    offer,
    ...(replicas.get(offer.upstream) ?? []).map((upstream) => {
      return { ...offer, upstream, replicaOf: offer.upstream }
    }),
  ])
  return { ...model, offers }
}

/** Merges models with the same id into one with all offers, in order. */
function mergeOffers(models: Model[], own: Model[]): Model[] {
  const byId = new Map<string, Model>()
  for (const model of models) {
    const known = byId.get(model.id)
    const offers = known && [...known.offers, ...model.offers]
    byId.set(model.id, known && offers ? { ...known, offers } : model)
  }
  for (const model of own) byId.set(model.id, model)
  return [...byId.values()]
}

/** The models of the demo provider. Their invented prices are not 0, so that charges are tested. */
const listings: Listing[] = [
  {
    id: 'demo/chat',
    name: 'Demo chat: repeats your message',
    inputs: ['text', 'image'],
    contextLength: 128_000,
    maxOutput: 4_096,
    price: { prompt: '0.0000001', completion: '0.0000004', cache_read: '0.00000005' },
  },
  {
    id: 'demo/small',
    name: 'Demo chat with a small window, without tools or images',
    supportsTools: false,
    contextLength: 8_000,
    maxOutput: 1_000,
    price: { prompt: '0.00000005', completion: '0.0000002' },
  },
  {
    id: 'demo/omni',
    name: 'Demo chat for images, files, audio and video',
    inputs: ['text', 'image', 'file', 'audio', 'video'],
    contextLength: 1_000_000,
    maxOutput: 8_192,
    price: {
      prompt: '0.0000002',
      completion: '0.0000008',
      reasoning: '0.000001',
      tiers: [{ above: 200_000, prompt: '0.0000004', completion: '0.0000012' }],
    },
  },
  {
    id: 'demo/builder',
    name: 'Demo builder: fills page templates',
    supportsTools: false,
    contextLength: 256_000,
    maxOutput: 32_000,
    price: { prompt: '0.0000001', completion: '0.0000004' },
  },
  {
    id: 'demo/embedding',
    name: 'Demo embedding: a fixed vector for each text',
    type: 'embedding',
    contextLength: 8_192,
    price: { prompt: '0.00000002' },
  },
  {
    id: 'demo/moderation',
    name: 'Demo moderation: flags a few words',
    type: 'moderation',
    inputs: ['text', 'image'],
    price: { prompt: '0.00000002' },
  },
  {
    id: 'demo/rerank',
    name: 'Demo rerank: by the words that documents share with the query',
    type: 'rerank',
    price: { per_search: '0.0001' },
  },
  {
    id: 'demo/realtime',
    name: 'Demo realtime: repeats your text over a WebSocket',
    type: 'realtime',
    inputs: ['text'],
    outputs: ['text'],
    supportsTools: false,
    contextLength: 8_000,
    maxOutput: 1_000,
    price: {
      prompt: '0.0000001',
      completion: '0.0000004',
      cache_read: '0.00000005',
      audio: '0.000001',
      audio_completion: '0.000002',
    },
  },
  {
    id: 'demo/image',
    name: 'Demo image',
    type: 'image',
    inputs: ['text', 'image'],
    price: { per_image: '0.001' },
  },
  {
    id: 'demo/video',
    name: 'Demo video: moving colored squares',
    type: 'video',
    price: { per_second: '0.001' },
  },
  {
    id: 'demo/speech',
    name: 'Demo speech: one tone per character',
    type: 'audio',
    outputs: ['audio'],
    price: { per_character: '0.000001' },
  },
  {
    id: 'demo/transcription',
    name: 'Demo transcription: returns the length of the audio',
    type: 'audio',
    inputs: ['audio'],
    outputs: ['text'],
    price: { per_minute: '0.0006' },
  },
]

/** Creates the models of the upstream `demo`. */
const demoModels = (marginPercent: number): Model[] =>
  listings.map((listing) =>
    toModel(listing, [{ upstream: 'demo', model: listing.id }], marginPercent),
  )

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
function applyOwnPrices(
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
