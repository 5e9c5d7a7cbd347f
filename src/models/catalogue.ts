import type { ModelType, Price } from './price.ts'

/** Where a model can be had: an upstream's name, the model's name there, and its price there. */
export interface Offer {
  upstream: string
  model: string
  price: Price | undefined
}

/** A model of the catalogue. `price` is that of its first offer; undefined is no published rate. */
export interface Model {
  /** `<maker>/<model>` */
  id: string
  name: string
  type: ModelType
  ownedBy: string
  inputs: string[]
  outputs: string[]
  supportsTools: boolean
  /** Tokens of the window; 0 when not known. */
  contextLength: number
  /** Most output tokens; 0 when not known. */
  maxOutput: number
  /** The most input tokens that a picture counts as. */
  imageTokens: number
  price: Price | undefined
  offers: Offer[]
}

/** `:floor` cheapest first, `:nitro` fastest first, `:online` with web search. */
const suffixNames = ['floor', 'nitro', 'online'] as const
export type Suffix = (typeof suffixNames)[number]

/** A model that was asked for, and the suffixes it was asked for with. */
export interface ResolvedModel {
  model: Model
  suffixes: Suffix[]
}

/** All models that can be had, in the order of their ids. */
export class Catalogue {
  private readonly byId: Map<string, Model>
  /** Whether nothing but demo models is served. */
  readonly isDemo: boolean

  constructor(models: Model[]) {
    const sorted = models.toSorted((a, b) => (a.id < b.id ? -1 : 1))
    this.byId = new Map(sorted.map((model) => [model.id, model]))
    this.isDemo = models.every(({ offers }) => offers.every(({ upstream }) => upstream === 'demo'))
  }

  list(types?: ModelType[]): Model[] {
    const all = [...this.byId.values()]
    return types ? all.filter((model) => types.includes(model.type)) : all
  }

  /** The model an id names: exact ids first, then suffixes are read from the right. */
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
