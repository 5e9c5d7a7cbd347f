import type { modelTypes } from '../../kernel/config/providers.ts'
import { sha256 } from '../../kernel/ids.ts'
import { lazyFor } from '../../kernel/lazy.ts'

export type ModelType = (typeof modelTypes)[number]

/**
 * The price of a model in nano-USD per 1,000,000 units (tokens, images, seconds ...). This keeps
 * all digits of a price per token. The model does not offer a missing part; a part with the price 0
 * is free. `id` is a hash of the content, so equal prices have equal ids and an id never changes.
 */
export interface Price {
  id: string
  prompt?: bigint
  completion?: bigint
  cacheRead?: bigint
  cacheWrite?: bigint
  reasoning?: bigint
  /** For prompt tokens that represent audio. */
  audio?: bigint
  /** For prompt tokens that represent audio and were read from a cache. */
  audioCacheRead?: bigint
  /** For completion tokens that represent audio. */
  audioCompletion?: bigint
  perImage?: bigint
  perSecond?: bigint
  perCharacter?: bigint
  perMinute?: bigint
  perSearch?: bigint
  /** Token prices for a whole request whose prompt has more tokens than `above`, ascending. */
  tiers?: Tier[]
}

export interface Tier {
  above: number
  prompt: bigint
  completion: bigint
  cacheRead?: bigint
  cacheWrite?: bigint
}

/** The parts with their names in berth.toml and in GET /v1/models. */
export const parts = {
  prompt: 'prompt',
  completion: 'completion',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
  audio: 'audio',
  audioCacheRead: 'audio_cache_read',
  audioCompletion: 'audio_completion',
  perImage: 'per_image',
  perSecond: 'per_second',
  perCharacter: 'per_character',
  perMinute: 'per_minute',
  perSearch: 'per_search',
} as const

export type Part = keyof typeof parts
const partNames = Object.keys(parts).filter((part): part is Part => Object.hasOwn(parts, part))

type Rates = { [P in Part]?: bigint }
/** Prices of parts: USD per unit as decimal text. */
export type RateTexts = { [P in (typeof parts)[Part]]?: string }

/** A price on the wire: USD per unit as decimal text. */
export type PriceTexts = RateTexts & { tiers?: TierTexts[] }

export interface TierTexts {
  above: number
  prompt: string
  completion: string
  cache_read?: string
  cache_write?: string
}

const perMillionDigits = 15
const decimal = /^(\d{1,9})(?:\.(\d{1,15}))?$/

/**
 * Converts USD per unit ("0.0000000375") to nano-USD per 1,000,000 units, exactly. Returns
 * undefined for text that is no such number or has more than 15 decimals.
 */
export function fromUsdPerUnit(text: string): bigint | undefined {
  const match = decimal.exec(text)
  if (!match) return undefined
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole + fraction.padEnd(perMillionDigits, '0'))
}

/** Converts nano-USD per 1,000,000 units to USD per unit, exactly: "0.0000000375". */
export function toUsdPerUnit(rate: bigint): string {
  const digits = rate.toString().padStart(perMillionDigits + 1, '0')
  const whole = digits.slice(0, -perMillionDigits)
  const fraction = digits.slice(-perMillionDigits).replace(/0+$/, '')
  return fraction ? `${whole}.${fraction}` : whole
}

/**
 * Converts a number of USD for `units` units to USD per unit, rounded up to 15 decimals. Returns
 * undefined for a number that is no price.
 */
export function usdPerUnit(usd: number, units: bigint): string | undefined {
  const rate = fromUsdPerUnit(String(usd)) ?? fromUsdPerUnit(usd.toFixed(perMillionDigits))
  return rate === undefined ? undefined : toUsdPerUnit((rate + units - 1n) / units)
}

/** The invalid part of a price, for the operator's error message. */
export interface PriceError {
  error: string
}

/**
 * Parses a price and adds the operator's margin (percent, rounded up per million units). Returns a
 * PriceError for an invalid price.
 */
export function readPrice(texts: PriceTexts, marginPercent = 0): Price | PriceError {
  const rates = readRates(texts, marginPercent)
  if ('error' in rates) return rates
  if (rates.perSecond !== undefined && rates.perMinute !== undefined) {
    return { error: 'per_second and per_minute would both charge the same seconds' }
  }
  const tiers: Tier[] = []
  for (const { above, ...tierTexts } of texts.tiers ?? []) {
    const tier = readRates(tierTexts, marginPercent)
    if ('error' in tier || tier.prompt === undefined || tier.completion === undefined) {
      return { error: `the tier above ${above} has a part that is not a price` }
    }
    const { prompt, completion, cacheRead, cacheWrite } = tier
    tiers.push({
      above,
      prompt,
      completion,
      ...(cacheRead !== undefined && { cacheRead }),
      ...(cacheWrite !== undefined && { cacheWrite }),
    })
  }
  tiers.sort((a, b) => a.above - b.above)
  return withId({ ...rates, ...(tiers.length > 0 && { tiers }) })
}

function readRates(texts: RateTexts, marginPercent: number): Rates | PriceError {
  const rates: Rates = {}
  for (const part of partNames) {
    const text = texts[parts[part]]
    if (text === undefined) continue
    const rate = fromUsdPerUnit(text)
    if (rate === undefined) return { error: `${parts[part]} = "${text}" is not a price in USD` }
    rates[part] = withMargin(rate, marginPercent)
  }
  return rates
}

/** Returns a price with a margin of its own, rounded up per million units as the operator's. */
export function addMargin({ id: _, tiers, ...rates }: Price, percent: number): Price {
  const raise = <Of extends Rates>(all: Of): Of => {
    const raised = { ...all }
    for (const part of partNames) {
      const rate = all[part]
      if (rate !== undefined) raised[part] = withMargin(rate, percent)
    }
    return raised
  }
  return withId({ ...raise(rates), ...(tiers && { tiers: tiers.map(raise) }) })
}

const withMargin = (rate: bigint, percent: number): bigint =>
  (rate * BigInt(100 + percent) + 99n) / 100n

/** Returns the upstream's own rate, exactly, since the margin was rounded up. */
export const withoutMargin = (rate: bigint, percent: number): bigint =>
  (rate * 100n) / BigInt(100 + percent)

function withId(price: Omit<Price, 'id'>): Price {
  const json = JSON.stringify(price, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  return { id: `pr_${sha256(json).slice(0, 12)}`, ...price }
}

/** Adds the price of a web search, `usd` and the margin, to a price without one. */
export function withSearch(price: Price, usd: string, marginPercent: number): Price {
  const rate = fromUsdPerUnit(usd)
  if (rate === undefined || price.perSearch !== undefined) return price
  const { id: _, ...rest } = price
  return withId({ ...rest, perSearch: withMargin(rate, marginPercent) })
}

/** Returns the copy of a price that holds store: flat, with numbers as decimal text. */
export const storedPrice = lazyFor((price: Price): Readonly<Record<string, string>> => ({
  id: price.id,
  ...formatRates(price, String),
  ...(price.tiers && { tiers: JSON.stringify(presentPrice(price).tiers) }),
}))

/** Returns the price of GET /v1/models: USD per unit as text, without losing a digit. */
export const presentPrice = (price: Price): PriceTexts => ({
  ...formatRates(price, toUsdPerUnit),
  ...(price.tiers && { tiers: price.tiers.map(presentTier) }),
})

const presentTier = ({ above, prompt, completion, ...cache }: Tier): TierTexts => ({
  above,
  prompt: toUsdPerUnit(prompt),
  completion: toUsdPerUnit(completion),
  ...formatRates(cache, toUsdPerUnit),
})

const formatRates = (rates: Rates, format: (rate: bigint) => string): RateTexts =>
  Object.fromEntries(
    partNames.flatMap((part) => {
      const rate = rates[part]
      return rate === undefined ? [] : [[parts[part], format(rate)]]
    }),
  )

/**
 * Returns whether all parts are published as 0. The price of a search counts only when there were
 * any.
 */
export const isFree = (price: Price, searches: number): boolean =>
  partNames.every((part) => !price[part] || (part === 'perSearch' && searches === 0)) &&
  !price.tiers?.some((tier) => tier.prompt || tier.completion)

/** Returns whether a price charges by time. */
export const isTimed = ({ perSecond, perMinute }: Price): boolean =>
  perSecond !== undefined || perMinute !== undefined

/** Returns whether a price has the parts that models of this type are charged by. */
export function hasRate(type: ModelType, price: Price): boolean {
  const has = (...names: Part[]) => names.some((part) => price[part] !== undefined)
  if (type === 'chat') return has('prompt') && has('completion')
  if (type === 'embedding' || type === 'moderation') return has('prompt')
  if (type === 'rerank') return has('perSearch', 'prompt')
  if (type === 'realtime') {
    return has('prompt') && has('completion') && has('audio') && has('audioCompletion')
  }
  if (type === 'image') return has('perImage', 'completion')
  if (type === 'video') return has('perSecond', 'perMinute', 'perImage')
  return has('perCharacter', 'perSecond', 'perMinute', 'completion')
}
