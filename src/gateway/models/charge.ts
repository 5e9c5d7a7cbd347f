import { nano, type NanoUsd, zero } from '../../kernel/money.ts'
import { isFree, type Price } from './price.ts'
import type { Usage } from './usage.ts'

/** Seconds count in milliseconds and may be priced per minute: one division covers all units. */
const perSecond = 1_000n
const perMinute = 60n
const divisor = 1_000_000n * perSecond * perMinute
/** Upper bound of a hold: above any balance, and within the integers of both databases. */
const costMax = nano(2n ** 62n)

/** Returns the token rates of a request whose prompt has `tokens` tokens. */
function ratesAt(price: Price, tokens: number) {
  const tier = price.tiers?.findLast(({ above }) => tokens > above)
  if (!tier) return ratesOf(price)
  const { prompt, completion, cacheRead = prompt, cacheWrite = prompt } = tier
  const reasoning = completion
  return ratesOf({ ...price, prompt, completion, cacheRead, cacheWrite, reasoning })
}

/** Returns the rates of a price. Missing ones are those of its prompt or completion. */
function ratesOf(price: Price) {
  const { prompt = 0n, completion = 0n } = price
  const { cacheRead = prompt, cacheWrite = prompt, audio = prompt, reasoning = completion } = price
  const { audioCacheRead = audio, audioCompletion = completion } = price
  const input = { prompt, cacheRead, cacheWrite, audio, audioCacheRead }
  return { ...input, completion, reasoning, audioCompletion }
}

const roundUp = (count: number): bigint => BigInt(Math.ceil(count))

/**
 * Returns the charge of a usage: the sum of all parts, divided and rounded up once
 * (docs/spec/money.md). A published price of 0 costs 0, any other at least 1 nano-USD. The usage is
 * as `readUsage` returns it: whole, not negative, and no part above its total.
 */
export function chargeOf(price: Price, usage: Usage): NanoUsd {
  const rates = ratesAt(price, usage.longest || usage.prompt)
  const fresh = usage.prompt - usage.cached - usage.cacheWrite
  // Without a count of their own, cached tokens are from the start of a prompt, which is text.
  const cachedAudio = Math.min(usage.audioCached, usage.cached)
  const audio = Math.min(Math.max(usage.audio - cachedAudio, 0), fresh)
  const spoken = Math.min(usage.audioCompletion, usage.completion - usage.reasoning)
  const tokens =
    roundUp(fresh - audio) * rates.prompt +
    roundUp(audio) * rates.audio +
    roundUp(usage.cached - cachedAudio) * rates.cacheRead +
    roundUp(cachedAudio) * rates.audioCacheRead +
    roundUp(usage.cacheWrite) * rates.cacheWrite +
    roundUp(usage.completion - usage.reasoning - spoken) * rates.completion +
    roundUp(spoken) * rates.audioCompletion +
    roundUp(usage.reasoning) * rates.reasoning
  return totalOf(price, tokens, usage)
}

/** Returns the charge of a usage, at most the hold. */
export function chargeWithinHold(
  { amount }: { amount: NanoUsd },
  price: Price,
  usage: Usage,
): NanoUsd {
  const charge = chargeOf(price, usage)
  return charge < amount ? charge : amount
}

/** Upper bounds of a request's usage; 0 when missing. */
export interface UsageBounds {
  inputTokensMax: number
  /** True when input tokens may represent audio. */
  hasAudio?: boolean
  /** For all choices together. */
  outputTokensMax: number
  images?: number
  searches?: number
  seconds?: number
  characters?: number
}

/**
 * Returns the maximum cost of a request, which is the amount of its hold. No usage within the
 * bounds costs more, whatever the share of cached, written and reasoning tokens, and in any tier.
 */
export function maxCost(price: Price, bounds: UsageBounds): NanoUsd {
  const { inputTokensMax, outputTokensMax, hasAudio = false } = bounds
  const tiers = price.tiers?.filter(({ above }) => inputTokensMax > above) ?? []
  const all = [ratesOf(price), ...tiers.map(({ above }) => ratesAt(price, above + 1))]
  const input = highest(
    all.flatMap((at) => {
      const texts = [at.prompt, at.cacheRead, at.cacheWrite]
      return hasAudio ? [...texts, at.audio, at.audioCacheRead] : texts
    }),
  )
  const output = highest(all.flatMap((at) => [at.completion, at.reasoning, at.audioCompletion]))
  const tokens = roundUp(inputTokensMax) * input + roundUp(outputTokensMax) * output
  const { images = 0, searches = 0, seconds = 0, characters = 0 } = bounds
  const cost = totalOf(price, tokens, { images, searches, seconds, characters })
  return cost < costMax ? cost : costMax
}

const highest = (rates: bigint[]): bigint => rates.reduce((top, at) => (at > top ? at : top), 0n)

function totalOf(
  price: Price,
  tokens: bigint,
  units: Pick<Usage, 'images' | 'searches' | 'seconds' | 'characters'>,
): NanoUsd {
  const counted =
    tokens +
    roundUp(units.images) * (price.perImage ?? 0n) +
    roundUp(units.searches) * (price.perSearch ?? 0n) +
    roundUp(units.characters) * (price.perCharacter ?? 0n)
  const timed = (price.perSecond ?? 0n) * perMinute + (price.perMinute ?? 0n)
  const sum = counted * perSecond * perMinute + roundUp(units.seconds * 1_000) * timed
  if (sum > 0n) return nano((sum + divisor - 1n) / divisor)
  return isFree(price, units.searches) ? zero : nano(1n)
}
