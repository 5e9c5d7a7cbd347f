import { fromUsd } from '../../kernel/money.ts'
import { isRecord, itemsOf } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

export interface Preferences {
  /** Upstreams to try first, in this order. */
  order: string[]
  only: string[] | undefined
  ignore: string[]
  /** False limits the attempts to `order`, or to the first upstream without one. */
  allowFallbacks: boolean
  sort: 'price' | 'throughput' | undefined
  /** The highest price in nano-USD per 1,000,000 tokens. */
  maxPrompt: bigint | undefined
  maxCompletion: bigint | undefined
}

const namesMax = 50
const sorts = ['price', 'throughput'] as const

/** Parses `provider`. `max_price` is in USD per 1,000,000 tokens. Throws `bad_request`. */
export function readPreferences(raw: unknown): Preferences {
  const fields = raw ?? {}
  if (!isRecord(fields)) throw invalidField('provider', 'provider must be an object.')
  const { order, only, ignore, allow_fallbacks = true, sort, max_price } = fields
  const prices = max_price ?? {}
  if (typeof allow_fallbacks !== 'boolean') {
    throw invalidField('provider', 'provider.allow_fallbacks must be true or false.')
  }
  if (!isRecord(prices)) throw invalidField('provider', 'provider.max_price must be an object.')
  const sorted = sorts.find((known) => known === sort)
  if (sort !== undefined && sort !== null && !sorted) {
    throw invalidField('provider', `provider.sort must be one of ${sorts.join(', ')}.`)
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
  throw invalidField(
    'provider',
    `order, only and ignore must be arrays of at most ${namesMax} names.`,
  )
}

function readPrice(raw: unknown): bigint | undefined {
  if (raw === undefined || raw === null) return undefined
  const text = typeof raw === 'number' ? raw.toFixed(9) : raw
  const rate = typeof text === 'string' ? fromUsd(text) : undefined
  if (rate === undefined)
    throw invalidField('provider', 'A max_price must be an amount of USD per 1,000,000 tokens.')
  return rate
}
