import { ApiError } from '../../errors.ts'
import { candidatesMax } from '../../limits.ts'
import type { Catalogue, Found, Model, Offer } from '../../models/catalogue.ts'
import type { Price } from '../../models/price.ts'
import type { Speeds } from '../../providers/speeds.ts'
import { misfit } from '../fields.ts'
import type { Preferences } from './preferences.ts'

/** One way to serve a request: a model at an upstream, at a price. */
export interface Candidate {
  model: Model
  offer: Offer
  price: Price
}

/** The ways to serve a request, in the order they are tried. */
export type Candidates = [Candidate, ...Candidate[]]

/** The operation for each type of model. */
const operations: Record<Model['type'], string> = {
  chat: 'POST /v1/chat/completions',
  image: 'POST /v1/images/generations',
  video: 'POST /v1/videos',
  audio: 'POST /v1/audio/speech or /v1/audio/transcriptions',
  embedding: 'POST /v1/embeddings',
}

/** The models of a request, by their ids. Refuses no_model; bad_request: one of another type. */
export function findModels(catalogue: Catalogue, ids: string[], type: Model['type']): Found[] {
  return ids.map((id) => {
    const found = catalogue.find(id)
    if (!found) throw new ApiError('no_model', { model: id })
    if (found.model.type === type) return found
    const other = found.model.type
    throw misfit('model', `${id} is of the type ${other}, not ${type}: use ${operations[other]}.`)
  })
}

/**
 * The ways to serve a request, in the order they are tried: the models in theirs, within each its
 * offers, sorted as asked and then by the caller's own order. Refuses no_rate, and bad_request
 * when the preferences leave none.
 */
export function candidatesOf(wanted: Found[], asked: Preferences, speeds: Speeds): Candidates {
  const all = wanted.flatMap(({ model, suffixes }) => {
    const priced = model.offers.flatMap((offer) =>
      offer.price ? [{ model, offer, price: offer.price }] : [],
    )
    if (priced.length === 0) throw new ApiError('no_rate', { model: model.id })
    const sort = suffixes.includes('floor')
      ? 'price'
      : suffixes.includes('nitro')
        ? 'throughput'
        : asked.sort
    return inOrder(sorted(priced, sort, speeds).filter(allowedBy(asked)), asked)
  })
  const isFew = !asked.allowFallbacks && asked.order.length === 0
  const [first, ...rest] = all.slice(0, isFew ? 1 : candidatesMax)
  if (first) return [first, ...rest]
  throw misfit('provider', 'No upstream of this model is left by your provider preferences.')
}

const allowedBy =
  ({ only, ignore, maxPrompt, maxCompletion, order, allowFallbacks }: Preferences) =>
  ({ offer: { upstream }, price }: Candidate): boolean =>
    (only?.includes(upstream) ?? true) &&
    !ignore.includes(upstream) &&
    (allowFallbacks || order.length === 0 || order.includes(upstream)) &&
    (maxPrompt === undefined || (price.prompt ?? 0n) <= maxPrompt) &&
    (maxCompletion === undefined || (price.completion ?? 0n) <= maxCompletion)

const sumOf = ({ price }: Candidate): bigint => (price.prompt ?? 0n) + (price.completion ?? 0n)

/** Sorted by price, or by measured speed. */
function sorted(from: Candidate[], sort: Preferences['sort'], speeds: Speeds): Candidate[] {
  if (sort === 'price') return from.toSorted((a, b) => Number(sumOf(a) - sumOf(b)))
  if (sort === undefined) return from
  const speed = ({ offer: { upstream, model } }: Candidate): number => speeds.of(upstream, model)
  return from.toSorted((a, b) => speed(b) - speed(a))
}

/** Those that the caller names first, in the caller's order. */
function inOrder(from: Candidate[], { order }: Preferences): Candidate[] {
  const place = ({ offer }: Candidate): number => {
    const at = order.indexOf(offer.upstream)
    return at < 0 ? order.length : at
  }
  return order.length === 0 ? from : from.toSorted((a, b) => place(a) - place(b))
}
