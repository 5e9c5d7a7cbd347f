import { fromUsd } from '../../core/money.ts'
import { isRecord, itemsOf } from '../../core/schema.ts'
import { misfit } from '../fields.ts'

/** What a request says of the upstreams that may serve it: its field `provider`. */
export interface Preferences {
  /** Names of upstreams to try first, in this order. */
  order: string[]
  only: string[] | undefined
  ignore: string[]
  /** False: only the first upstream is tried, or those of `order`. */
  allowFallbacks: boolean
  sort: 'price' | 'throughput' | undefined
  /** Most Nano per 1,000,000 tokens. */
  maxPrompt: bigint | undefined
  maxCompletion: bigint | undefined
}

const namesMax = 50
const sorts = ['price', 'throughput'] as const

/** Reads `provider`; `max_price` is in USD per 1,000,000 tokens. Refuses bad_request. */
export function readPreferences(raw: unknown): Preferences {
  const asked = raw ?? {}
  if (!isRecord(asked)) throw misfit('provider', 'provider is an object.')
  const { order, only, ignore, allow_fallbacks = true, sort, max_price } = asked
  const prices = max_price ?? {}
  if (typeof allow_fallbacks !== 'boolean') {
    throw misfit('provider', 'provider.allow_fallbacks is true or false.')
  }
  if (!isRecord(prices)) throw misfit('provider', 'provider.max_price is an object.')
  const sorted = sorts.find((known) => known === sort)
  if (sort !== undefined && sort !== null && !sorted) {
    throw misfit('provider', `provider.sort is one of ${sorts.join(', ')}.`)
  }
  return {
    order: readNames(order) ?? [],
    only: readNames(only),
    ignore: readNames(ignore) ?? [],
    allowFallbacks: allow_fallbacks,
    sort: sorted,
    maxPrompt: readPrice(prices.prompt),
    maxCompletion: readPrice(prices.completion),
  }
}

function readNames(raw: unknown): string[] | undefined {
  if (raw === undefined || raw === null) return undefined
  const texts = itemsOf(raw).filter((name) => typeof name === 'string')
  if (Array.isArray(raw) && texts.length === raw.length && raw.length <= namesMax) return texts
  throw misfit('provider', `order, only and ignore are lists of at most ${namesMax} names.`)
}

function readPrice(raw: unknown): bigint | undefined {
  if (raw === undefined || raw === null) return undefined
  const text = typeof raw === 'number' ? raw.toFixed(9) : raw
  const rate = typeof text === 'string' ? fromUsd(text) : undefined
  if (rate === undefined) throw misfit('provider', 'A max_price is USD per 1,000,000 tokens.')
  return rate
}
