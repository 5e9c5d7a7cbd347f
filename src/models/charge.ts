import { nano, type NanoUsd, zero } from '../core/money.ts'
import { isFree, type Price, type Tier } from './price.ts'
import type { Usage } from './usage.ts'

/** Seconds are counted in milliseconds and priced also by the minute: both divide once, here. */
const perSecond = 1_000n
const perMinute = 60n
const divisor = 1_000_000n * perSecond * perMinute
/** More than anybody has, and within what both databases count: all that is dearer is held so. */
const unpayable = nano(2n ** 62n)

interface Rates {
  prompt: bigint
  cacheRead: bigint
  cacheWrite: bigint
  audio: bigint
  completion: bigint
  reasoning: bigint
}

/** The token prices of a request whose prompt has `tokens` tokens. */
function ratesAt(price: Price, tokens: number): Rates {
  const tier = price.tiers?.findLast(({ above }) => tokens > above)
  return tier ? ratesOf({ ...price, ...partsOf(tier) }) : ratesOf(price)
}

/** A tier has prices of its own; what it leaves out is paid like its prompt or its completion. */
const partsOf = ({ prompt, completion, cacheRead = prompt, cacheWrite = prompt }: Tier) => ({
  prompt,
  completion,
  cacheRead,
  cacheWrite,
  reasoning: completion,
})

const ratesOf = (price: Omit<Price, 'id'>): Rates => {
  const { prompt = 0n, completion = 0n } = price
  const { cacheRead = prompt, cacheWrite = prompt, reasoning = completion } = price
  const { audio = prompt } = price
  return { prompt, cacheRead, cacheWrite, audio, completion, reasoning }
}

/** A fine count in thousandths, rounded up. */
const thousandths = (count: number): bigint => BigInt(Math.ceil(count * 1_000))
const whole = (count: number): bigint => BigInt(Math.ceil(count))

/**
 * What a usage costs: all parts multiplied and added, divided once, rounded up once (docs/spec/money.md). A
 * published price of 0 costs 0, anything else at least 1 Nano. Usage is as readUsage answers it:
 * whole, not negative, parts not above their wholes.
 */
export function chargeOf(price: Price, usage: Usage): NanoUsd {
  const rates = ratesAt(price, usage.longest || usage.prompt)
  const fresh = usage.prompt - usage.cached - usage.cacheWrite
  // Words begin a prompt, and are what of it was cached.
  const sound = Math.min(usage.audio, fresh)
  const tokens =
    whole(fresh - sound) * rates.prompt +
    whole(sound) * rates.audio +
    whole(usage.cached) * rates.cacheRead +
    whole(usage.cacheWrite) * rates.cacheWrite +
    whole(usage.completion - usage.reasoning) * rates.completion +
    whole(usage.reasoning) * rates.reasoning
  return rounded(price, tokens, usage)
}

/** What a usage costs within its hold, whatever the upstream says that was used. */
export function chargeWithinHold(
  { amount }: { amount: NanoUsd },
  price: Price,
  usage: Usage,
): NanoUsd {
  const charge = chargeOf(price, usage)
  return charge < amount ? charge : amount
}

/** The most a request may use; what is left out is 0. */
export interface UsageBounds {
  inputTokensMax: number
  /** Whether some of them may stand for sound. */
  hasAudio?: boolean
  /** Of all choices together. */
  outputTokensMax: number
  images?: number
  searches?: number
  seconds?: number
  characters?: number
}

/**
 * The most a request can cost: what a hold keeps back. No usage within the bounds has a charge
 * above it, whatever is cached, written to a cache or reasoned, and whichever tier it falls in.
 */
export function maxCost(price: Price, bounds: UsageBounds): NanoUsd {
  const { inputTokensMax, outputTokensMax, hasAudio: sound = false } = bounds
  const reached = price.tiers?.filter(({ above }) => inputTokensMax > above) ?? []
  const all = [ratesOf(price), ...reached.map(({ above }) => ratesAt(price, above + 1))]
  const input = highest(
    all.flatMap((at) => [at.prompt, at.cacheRead, at.cacheWrite, ...(sound ? [at.audio] : [])]),
  )
  const output = highest(all.flatMap((at) => [at.completion, at.reasoning]))
  const tokens = whole(inputTokensMax) * input + whole(outputTokensMax) * output
  const { images = 0, searches = 0, seconds = 0, characters = 0 } = bounds
  const most = rounded(price, tokens, { images, searches, seconds, characters })
  return most < unpayable ? most : unpayable
}

const highest = (rates: bigint[]): bigint => rates.reduce((top, at) => (at > top ? at : top), 0n)

function rounded(
  price: Price,
  tokens: bigint,
  units: Pick<Usage, 'images' | 'searches' | 'seconds' | 'characters'>,
): NanoUsd {
  if (isFree(price, units.searches)) return zero
  const counted =
    tokens +
    whole(units.images) * (price.perImage ?? 0n) +
    whole(units.searches) * (price.perSearch ?? 0n) +
    whole(units.characters) * (price.perCharacter ?? 0n)
  const timed = (price.perSecond ?? 0n) * perMinute + (price.perMinute ?? 0n)
  const sum = counted * perSecond * perMinute + thousandths(units.seconds) * timed
  const charge = (sum + divisor - 1n) / divisor
  return charge > 0n ? nano(charge) : nano(1n)
}
