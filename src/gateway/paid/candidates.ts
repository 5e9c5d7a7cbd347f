import { ApiError } from '../../kernel/errors.ts'
import { candidatesMax } from '../../kernel/limits.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import { allowsModel } from '../../money/keys/restrictions.ts'
import type { Spender } from '../authentication.ts'
import { invalidField } from '../fields.ts'
import type { Catalog, Model, Offer, ResolvedModel } from '../models/catalog.ts'
import { maxCost, type UsageBounds } from '../models/charge.ts'
import { addMargin, type Price } from '../models/price.ts'
import { upstreamNameOf } from '../providers/balancer.ts'
import type { Measurements } from '../providers/measurements.ts'
import type { Registry } from '../providers/registry.ts'
import type { Preferences } from './preferences.ts'

/** One way to serve a request: a model at an upstream, at a price. */
export interface Candidate {
  model: Model
  offer: Offer
  price: Price
}

export type Candidates = [Candidate, ...Candidate[]]

/** The largest cost of a request, and the price that it was computed with. */
export interface MaxCost {
  amount: NanoUsd
  price: Price
}

const operations: Record<Model['type'], string> = {
  chat: 'POST /v1/chat/completions',
  image: 'POST /v1/images/generations',
  video: 'POST /v1/videos',
  audio: 'POST /v1/audio/speech or /v1/audio/transcriptions',
  embedding: 'POST /v1/embeddings',
  moderation: 'POST /v1/moderations',
  rerank: 'POST /v1/rerank',
  realtime: 'GET /v1/realtime',
}

/**
 * Returns models by their ids. Throws `no_model`, `model_not_allowed` for one that the key may not
 * use, and `bad_request` for one of another type.
 */
export function findModels(
  catalog: Catalog,
  { models: allowed = null }: Pick<Spender, 'models'>,
  ids: string[],
  type: Model['type'],
): ResolvedModel[] {
  return ids.map((id) => {
    const found = catalog.find(id)
    if (!found) throw new ApiError('no_model', { model: id })
    if (allowed && !allowsModel(allowed, found.model.id)) {
      throw new ApiError('model_not_allowed', { model: id, allowed })
    }
    const { type: actual } = found.model
    if (actual === type) return found
    const problem = `${id} has the type ${actual}, not ${type}: use ${operations[actual]}.`
    throw invalidField('model', problem)
  })
}

/**
 * Returns the candidates of a request: its models in their order, and the offers of each sorted by
 * the preferences, with the margin of the spender on their prices. Throws `no_price`, and
 * `bad_request` when the preferences exclude all of them.
 */
export function listCandidates(
  models: ResolvedModel[],
  preferences: Preferences,
  { measurements, balancer }: Registry,
  { margin }: Pick<Spender, 'margin'> = {},
): Candidates {
  const all = models.flatMap(({ model, suffixes }) => {
    const priced = model.offers.flatMap((offer) =>
      offer.price ? [{ model, offer, price: offer.price }] : [],
    )
    if (priced.length === 0) throw new ApiError('no_price', { model: model.id })
    const sort = suffixes.includes('floor')
      ? 'price'
      : suffixes.includes('nitro')
        ? 'throughput'
        : preferences.sort
    const allowed = priced.filter((candidate) => isAllowed(candidate, preferences))
    const sorted =
      sort === undefined
        ? balancer.sort(model.id, model.balance ?? 'order', allowed)
        : sortBy(allowed, sort, measurements)
    return sortByOrder(sorted, preferences)
  })
  const isSingle = !preferences.allowFallbacks && preferences.order.length === 0
  const [first, ...rest] = all
    .slice(0, isSingle ? 1 : candidatesMax)
    .map((candidate) =>
      margin ? { ...candidate, price: addMargin(candidate.price, margin.percent) } : candidate,
    )
  if (first) return [first, ...rest]
  throw invalidField('provider', 'Your provider preferences exclude every upstream of this model.')
}

/** Returns the largest cost over all candidates, so that a hold covers whichever serves. */
export function maxCostOf(
  [first, ...rest]: Candidates,
  maxUsage: (model: Model, price: Price) => UsageBounds,
): MaxCost {
  const costOf = ({ model, price }: Candidate): MaxCost => ({
    amount: maxCost(price, maxUsage(model, price)),
    price,
  })
  let max = costOf(first)
  for (const candidate of rest) {
    const cost = costOf(candidate)
    if (cost.amount > max.amount) max = cost
  }
  return max
}

function isAllowed(
  { offer, price }: Candidate,
  { only, ignore, maxPrompt, maxCompletion, order, allowFallbacks }: Preferences,
): boolean {
  const upstream = upstreamNameOf(offer)
  return (
    (only?.includes(upstream) ?? true) &&
    !ignore.includes(upstream) &&
    (allowFallbacks || order.length === 0 || order.includes(upstream)) &&
    (maxPrompt === undefined || (price.prompt ?? 0n) <= maxPrompt) &&
    (maxCompletion === undefined || (price.completion ?? 0n) <= maxCompletion)
  )
}

const tokenPriceOf = ({ price }: Candidate): bigint =>
  (price.prompt ?? 0n) + (price.completion ?? 0n)

/** Sorts by price, lowest first, or by measured speed, highest first. */
function sortBy(
  candidates: Candidate[],
  sort: NonNullable<Preferences['sort']>,
  measurements: Measurements,
): Candidate[] {
  if (candidates.length < 2) return candidates
  if (sort === 'price') {
    return candidates.toSorted((a, b) => Number(tokenPriceOf(a) - tokenPriceOf(b)))
  }
  const speed = ({ offer }: Candidate): number => measurements.tokensPerSecond(offer)
  return candidates.toSorted((a, b) => speed(b) - speed(a))
}

/** Moves the upstreams that the caller names to the front, in the caller's order. */
function sortByOrder(candidates: Candidate[], { order }: Preferences): Candidate[] {
  if (order.length === 0) return candidates
  const rank = ({ offer }: Candidate): number => {
    const at = order.indexOf(upstreamNameOf(offer))
    return at < 0 ? order.length : at
  }
  return candidates.toSorted((a, b) => rank(a) - rank(b))
}
