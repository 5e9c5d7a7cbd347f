import type { modelTypes } from '../config/providers.ts'
import { sha256 } from '../core/ids.ts'

export type ModelType = (typeof modelTypes)[number]

/**
 * What a model costs: Nano per 1,000,000 units (tokens, images, seconds ...), so that no digit of a
 * price per token is lost. A part that is left out is no part of the price; 0 is a price.
 * `id` names the row by its content: an equal row has an equal id, and it never changes.
 */
export interface Price {
  id: string
  prompt?: bigint
  completion?: bigint
  cacheRead?: bigint
  cacheWrite?: bigint
  reasoning?: bigint
  /** Of the prompt's tokens, those that stand for sound. */
  audio?: bigint
  perImage?: bigint
  perSecond?: bigint
  perCharacter?: bigint
  perMinute?: bigint
  perSearch?: bigint
  /** Other token prices for the whole request when its prompt has more tokens than `above`. */
  tiers?: Tier[]
}

export interface Tier {
  above: number
  prompt: bigint
  completion: bigint
  cacheRead?: bigint
  cacheWrite?: bigint
}

/** The parts by their wire names: the words of berth.toml and of GET /v1/models. */
export const parts = {
  prompt: 'prompt',
  completion: 'completion',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  reasoning: 'reasoning',
  audio: 'audio',
  perImage: 'per_image',
  perSecond: 'per_second',
  perCharacter: 'per_character',
  perMinute: 'per_minute',
  perSearch: 'per_search',
} as const

export type Part = keyof typeof parts
const partNames = Object.keys(parts).filter((part): part is Part => part in parts)

/** A price as it is written: USD per unit, as texts, by wire name. */
export type PriceTexts = { [P in (typeof parts)[Part]]?: string } & { tiers?: TierTexts[] }

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
 * USD per unit ("0.0000000375") to Nano per 1,000,000 units, exactly. Answers undefined when the
 * text is no such number or has more than 15 decimals.
 */
export function fromUsdPerUnit(text: string): bigint | undefined {
  const match = decimal.exec(text)
  if (!match) return undefined
  const [, whole = '0', fraction = ''] = match
  return BigInt(whole + fraction.padEnd(perMillionDigits, '0'))
}

/** Nano per 1,000,000 units to the USD per unit of the wire, exactly: "0.0000000375". */
export function toUsdPerUnit(rate: bigint): string {
  const digits = rate.toString().padStart(perMillionDigits + 1, '0')
  const whole = digits.slice(0, -perMillionDigits)
  const fraction = digits.slice(-perMillionDigits).replace(/0+$/, '')
  return fraction ? `${whole}.${fraction}` : whole
}

/** Which number in a price is faulty, for the one line that tells the operator. */
export interface PriceError {
  error: string
}

/**
 * Reads a written price and adds the operator's margin (percent, rounded up per million units).
 * Texts are exact; what is no price is answered as a fault.
 */
export function readPrice(texts: PriceTexts, marginPercent = 0): Price | PriceError {
  const price: Omit<Price, 'id'> = {}
  for (const part of partNames) {
    const text = texts[parts[part]]
    if (text === undefined) continue
    const rate = fromUsdPerUnit(text)
    if (rate === undefined) return { error: `${parts[part]} = "${text}" is no price in USD` }
    price[part] = marginOn(rate, marginPercent)
  }
  if (price.perSecond !== undefined && price.perMinute !== undefined) {
    return { error: 'per_second and per_minute would both charge the same seconds' }
  }
  for (const written of texts.tiers ?? []) {
    const tier = readTier(written, marginPercent)
    if (!tier) return { error: `the tier above ${written.above} has a part that is no price` }
    price.tiers = [...(price.tiers ?? []), tier]
  }
  price.tiers?.sort((a, b) => a.above - b.above)
  return withId(price)
}

function readTier(written: TierTexts, marginPercent: number): Tier | undefined {
  const read = (text: string): bigint | undefined => {
    const rate = fromUsdPerUnit(text)
    return rate === undefined ? undefined : marginOn(rate, marginPercent)
  }
  const [prompt, completion] = [read(written.prompt), read(written.completion)]
  if (prompt === undefined || completion === undefined) return undefined
  const tier: Tier = { above: written.above, prompt, completion }
  for (const part of ['cacheRead', 'cacheWrite'] as const) {
    const text = written[parts[part]]
    if (text === undefined) continue
    const rate = read(text)
    if (rate === undefined) return undefined
    tier[part] = rate
  }
  return tier
}

const marginOn = (rate: bigint, percent: number): bigint =>
  (rate * BigInt(100 + percent) + 99n) / 100n

/** What the upstream asks, of a rate with our margin on it: exactly, since that was rounded up. */
export const withoutMargin = (rate: bigint, percent: number): bigint =>
  (rate * 100n) / BigInt(100 + percent)

function withId(price: Omit<Price, 'id'>): Price {
  const written = JSON.stringify(price, (_, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  )
  return { id: `pr_${sha256(written).slice(0, 12)}`, ...price }
}

/** A price with what a web search costs: `usd` and the margin, where it says nothing itself. */
export function withSearch(price: Price, usd: string, marginPercent: number): Price {
  const rate = fromUsdPerUnit(usd)
  if (rate === undefined || price.perSearch !== undefined) return price
  const { id: _, ...parts } = price
  return withId({ ...parts, perSearch: marginOn(rate, marginPercent) })
}

/** The copy of a price that a hold keeps: flat, its numbers as decimal text. */
export function storedPrice(price: Price): Record<string, string> {
  const kept: Record<string, string> = { id: price.id }
  for (const part of partNames) {
    const rate = price[part]
    if (rate !== undefined) kept[parts[part]] = rate.toString()
  }
  if (price.tiers) kept.tiers = JSON.stringify(presentPrice(price).tiers)
  return kept
}

/** The price of GET /v1/models: USD per unit as texts, without a digit lost. */
export function presentPrice(price: Price): PriceTexts {
  const shown: PriceTexts = {}
  for (const part of partNames) {
    const rate = price[part]
    if (rate !== undefined) shown[parts[part]] = toUsdPerUnit(rate)
  }
  if (price.tiers) shown.tiers = price.tiers.map(presentTier)
  return shown
}

function presentTier({ above, prompt, completion, cacheRead, cacheWrite }: Tier): TierTexts {
  const shown: TierTexts = {
    above,
    prompt: toUsdPerUnit(prompt),
    completion: toUsdPerUnit(completion),
  }
  if (cacheRead !== undefined) shown.cache_read = toUsdPerUnit(cacheRead)
  if (cacheWrite !== undefined) shown.cache_write = toUsdPerUnit(cacheWrite)
  return shown
}

/** Whether every part is a published 0; that of a search counts where there were any. */
export const isFree = (price: Price, searches: number): boolean =>
  partNames.every((part) => !price[part] || (part === 'perSearch' && searches === 0)) &&
  !price.tiers?.some((tier) => tier.prompt || tier.completion)

/** Whether a price counts seconds. */
export const isTimed = ({ perSecond, perMinute }: Price): boolean =>
  perSecond !== undefined || perMinute !== undefined

/** Whether the price says what a model of this type is paid by. */
export function hasRate(type: ModelType, price: Price): boolean {
  const has = (...wanted: Part[]) => wanted.some((part) => price[part] !== undefined)
  if (type === 'chat') return has('prompt') && has('completion')
  if (type === 'embedding') return has('prompt')
  if (type === 'image') return has('perImage', 'completion')
  if (type === 'video') return has('perSecond', 'perMinute', 'perImage')
  return has('perCharacter', 'perSecond', 'perMinute', 'completion')
}
