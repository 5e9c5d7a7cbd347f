import { isRecord } from '../core/schema.ts'

/** What one request used, in whole units (seconds may be parts of one). */
export interface Usage {
  /** All input tokens: `cached` (read from a cache) and `cacheWrite` are parts of it. */
  prompt: number
  cached: number
  cacheWrite: number
  /** Input tokens that stand for sound: a part of `prompt`. */
  audio: number
  /** All output tokens: `reasoning` is a part of it. */
  completion: number
  reasoning: number
  images: number
  seconds: number
  characters: number
  searches: number
  /** Of a request that was several at the upstream: the most input tokens of one. Else 0. */
  longest: number
  /** Whether any of it is our own count, or was mended. */
  estimated: boolean
}

/** The most that a request can have used: what is above was not used. */
export interface UsageLimits {
  prompt: number
  completion: number
  /** Of sound or film; left out where neither is made or heard, and none is read. */
  seconds?: number
}

const nothing: Usage = {
  prompt: 0,
  cached: 0,
  cacheWrite: 0,
  audio: 0,
  completion: 0,
  reasoning: 0,
  images: 0,
  seconds: 0,
  characters: 0,
  searches: 0,
  longest: 0,
  estimated: false,
}

/** A usage in which only the given parts are not 0. */
export const createUsage = (parts: Partial<Usage>): Usage => ({ ...nothing, ...parts })

/** Names of one number in the answers of OpenAI's chat and its later endpoints, and of others. */
const promptNames = ['prompt_tokens', 'input_tokens']
const completionNames = ['completion_tokens', 'output_tokens']
const promptDetails = ['prompt_tokens_details', 'input_tokens_details']
const completionDetails = ['completion_tokens_details', 'output_tokens_details']

/**
 * Reads the `usage` of an OpenAI-shaped answer, in which prompt_tokens include the cached ones and
 * completion_tokens the reasoning. Some upstreams leave reasoning out of completion_tokens and in
 * total_tokens: the difference is reasoning. Numbers that cannot be (negative, fractions, texts,
 * above the limits, parts above their wholes) are mended and mark the usage as estimated. Answers
 * undefined when it says nothing of use: then our own count stands.
 */
export function readUsage(usage: unknown, limits: UsageLimits): Usage | undefined {
  if (!isRecord(usage)) return undefined
  const read = new Reading()
  let prompt = read.tokens(usage, promptNames, limits.prompt)
  let completion = read.tokens(usage, completionNames, limits.completion)
  const total = read.tokens(usage, ['total_tokens'], Infinity) ?? 0
  // What has no completion, as an embedding, may tell its prompt as the total.
  const isPrompt = completion !== undefined || limits.completion === 0
  if (prompt === undefined && isPrompt && total > (completion ?? 0)) {
    prompt = read.within(total - (completion ?? 0), limits.prompt)
  }
  if (prompt === undefined && completion === undefined) {
    const seconds = read.number(usage.seconds)
    if (seconds === undefined || limits.seconds === undefined) return undefined
    return createUsage({ seconds: read.within(seconds, limits.seconds), estimated: read.mended })
  }
  const unsaid = read.believed(
    total - (prompt ?? 0) - (completion ?? 0),
    limits.completion - (completion ?? 0),
  )
  const thought = read.tokens(detailsOf(usage, completionDetails), ['reasoning_tokens'], Infinity)
  const isReasoning = completion !== undefined
  completion = (completion ?? 0) + unsaid
  const details = detailsOf(usage, promptDetails)
  const cached =
    read.tokens(details, ['cached_tokens'], Infinity) ??
    read.tokens(usage, ['prompt_cache_hit_tokens'], Infinity) ??
    0
  const written = read.tokens(details, ['cache_write_tokens'], Infinity) ?? 0
  const sound = read.tokens(details, ['audio_tokens'], Infinity) ?? 0
  const cachedIn = read.within(cached, prompt ?? 0)
  return createUsage({
    prompt: prompt ?? 0,
    cached: cachedIn,
    cacheWrite: read.within(written, (prompt ?? 0) - cachedIn),
    audio: read.within(sound, prompt ?? 0),
    completion,
    reasoning: read.within(Math.max(thought ?? 0, isReasoning ? unsaid : 0), completion),
    estimated: read.mended,
  })
}

/** Reads numbers that may be wrong, and remembers whether one had to be mended. */
class Reading {
  mended = false

  /** A number that is there and not negative; undefined when it is not there, or is no number. */
  number(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined
    const number = typeof value === 'string' && value.trim() ? Number(value) : value
    if (typeof number === 'number' && number === value && number >= 0) return number
    this.mended = true
    return typeof number === 'number' && number >= 0 ? number : undefined
  }

  /** The first of the names that has a number, whole and at most `max`. */
  tokens(from: Record<string, unknown>, names: string[], max: number): number | undefined {
    for (const name of names) {
      const number = this.number(from[name])
      if (number === undefined) continue
      if (!Number.isInteger(number)) this.mended = true
      return this.within(Math.ceil(number), max)
    }
    return undefined
  }

  /** A difference of two of its numbers: 0 unless it is one that can be. */
  believed(difference: number, max: number): number {
    if (difference > max) this.mended = true
    return difference > 0 && difference <= max ? difference : 0
  }

  within(number: number, max: number): number {
    if (number <= max) return number
    this.mended = true
    return max
  }
}

const detailsOf = (usage: Record<string, unknown>, names: string[]): Record<string, unknown> =>
  names.map((name) => usage[name]).find(isRecord) ?? {}
