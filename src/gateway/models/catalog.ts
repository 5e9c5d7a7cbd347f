import type { Balance } from '../../kernel/config/tables.ts'
import type { ModelType, Price } from './price.ts'

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
