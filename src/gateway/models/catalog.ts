import type { Balance } from '../../kernel/config/tables.ts'
import type { AppContext } from '../../kernel/context.ts'
import { hasRate, type ModelType, type Price, type PriceTexts, readPrice } from './price.ts'

/** A way to get a model: an upstream, the model's name there, and its price there. */
export interface Offer {
  upstream: string
  model: string
  price: Price | undefined
  /** The price of the list, where MODEL_PRICES has another. */
  listPrice?: Price | undefined
  /** Share of the calls, where the model balances by weights; 1 by default. */
  weight?: number
  /** The upstream of which this is a further API key. */
  replicaOf?: string
}

/** A model of the catalog. `price` is that of its first offer; undefined without a rate. */
export interface Model {
  /** `<maker>/<model>` */
  id: string
  name: string
  type: ModelType
  ownedBy: string
  inputs: string[]
  outputs: string[]
  supportsTools: boolean
  /** Tokens of the context window; 0 when unknown. */
  contextLength: number
  /** Output tokens at most; 0 when unknown. */
  maxOutput: number
  /** Input tokens per image at most. */
  imageTokens: number
  price: Price | undefined
  offers: Offer[]
  /** The order in which its upstreams are called; `order` by default. */
  balance?: Balance
  /** Rounds of further attempts while nothing has reached the client; 0 by default. */
  retries?: number
}

/** `:floor` cheapest first, `:nitro` fastest first, `:online` with web search. */
const suffixNames = ['floor', 'nitro', 'online'] as const
export type Suffix = (typeof suffixNames)[number]

/** A requested model with the suffixes of its id. */
export interface ResolvedModel {
  model: Model
  suffixes: Suffix[]
}

declare module '../../kernel/context.ts' {
  interface AppContext {
    /** The models that the gateway serves. */
    readonly catalog: Catalog
  }
}

/** The available models, sorted by id. */
export class Catalog {
  private byId = new Map<string, Model>()
  private off: Model[] = []
  /** True when all models are demo models. */
  isDemo = true

  /** `off`: ids of models that are not available (MODELS_OFF). */
  constructor(models: Model[], off: readonly string[] = []) {
    this.replace(models, off)
  }

  /** Replaces all models, after a change of the settings. */
  replace(models: Model[], off: readonly string[]): void {
    const sorted = models.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    const available = sorted.filter(({ id }) => !off.includes(id))
    this.byId = new Map(available.map((model) => [model.id, model]))
    this.off = sorted.filter(({ id }) => off.includes(id))
    const isDemo = ({ offers }: Model) => offers.every(({ upstream }) => upstream === 'demo')
    this.isDemo = available.every(isDemo)
  }

  /** Lists the models that MODELS_OFF names. */
  listOff(): Model[] {
    return this.off
  }

  list(types?: ModelType[]): Model[] {
    const all = [...this.byId.values()]
    return types ? all.filter((model) => types.includes(model.type)) : all
  }

  /** Finds a model by its exact id, else by the id without the suffixes at its end. */
  find(id: string): ResolvedModel | undefined {
    const suffixes: Suffix[] = []
    for (let rest = id; suffixes.length <= suffixNames.length;) {
      const model = this.byId.get(rest)
      if (model) return { model, suffixes }
      const suffix = suffixNames.find((name) => rest.endsWith(`:${name}`))
      if (!suffix || suffixes.includes(suffix)) return undefined
      suffixes.unshift(suffix)
      rest = rest.slice(0, -suffix.length - 1)
    }
    return undefined
  }
}

/**
 * Checks whether free credits pay at the gateway. They cost the operator money, so by default they
 * pay only for demo models.
 */
export function acceptsStartCredits({ config, catalog }: AppContext): boolean {
  const { startCreditsOnGateway: setting } = config
  return setting === 'on' || (setting === 'auto' && catalog.isDemo)
}

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
