import type { ModelRow } from '../config/tables.ts'
import { Catalogue, type Model } from './catalogue.ts'
import { demoModels } from './demo-models.ts'
import { toModel } from './listing.ts'
import { type Price, type PriceTexts, withSearch } from './price.ts'
import type { ListedModel } from './public-lists.ts'
import { publishedModels } from './published-models.ts'

export interface Sources {
  /** The operator's own rows, which win over every other with the same id. */
  models: ModelRow[]
  /** Names of upstreams whose prices are published (openai, openrouter ...). */
  published: string[]
  /** What `berth models sync` kept of the public lists. */
  synced?: ListedModel[]
  /** Models that an upstream on this machine told of. */
  local: { upstream: string; model: string }[]
  demo: boolean
  marginPercent: number
  /** USD of a web search; undefined where there is none. */
  perSearch?: string | undefined
  /** Milliseconds since 1970: published prices change with time. */
  now: number
}

/**
 * What a model found on this machine costs unless a row says otherwise: it has no publisher, and at
 * no price it would be anyone's to use without end.
 */
const localPrice: PriceTexts = { prompt: '0.0000001', completion: '0.0000001' }

/** Opens the catalogue. Throws when a price of berth.toml cannot be read. */
export async function openCatalogue(sources: Sources): Promise<Catalogue> {
  const { marginPercent, now } = sources
  const own = sources.models.map(({ upstreams, upstreamModel, ...listing }) => {
    const places = upstreams.map((upstream) => ({ upstream, model: upstreamModel }))
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
  const models = merged([...published.flat(), ...local, ...demo], own)
  return new Catalogue(models.map((model) => searching(model, sources)))
}

/** A model that can search the web, with the price of a search. */
function searching(model: Model, { perSearch, marginPercent }: Sources): Model {
  const { type, supportsTools } = model
  if (perSearch === undefined || type !== 'chat' || !supportsTools) return model
  const priced = (price: Price | undefined) => price && withSearch(price, perSearch, marginPercent)
  const offers = model.offers.map((offer) => ({ ...offer, price: priced(offer.price) }))
  return { ...model, price: priced(model.price), offers }
}

/** One row for each id: several providers of a model are its offers, in the order they came. */
function merged(models: Model[], own: Model[]): Model[] {
  const byId = new Map<string, Model>()
  for (const model of models) {
    const known = byId.get(model.id)
    const offers = known && [...known.offers, ...model.offers]
    byId.set(model.id, known && offers ? { ...known, offers } : model)
  }
  for (const model of own) byId.set(model.id, model)
  return [...byId.values()]
}
