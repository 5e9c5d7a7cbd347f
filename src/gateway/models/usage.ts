import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'

/** The usage of one request, in whole units, except for seconds. */
const noUsage = {
  /** All input tokens, including `cached` (read from a cache) and `cacheWrite`. */
  prompt: 0,
  cached: 0,
  cacheWrite: 0,
  /** Input tokens for audio, a part of `prompt`. */
  audio: 0,
  /** Input tokens for audio that were read from a cache, a part of `cached` and of `audio`. */
  audioCached: 0,
  /** All output tokens, including `reasoning` and `audioCompletion`. */
  completion: 0,
  reasoning: 0,
  /** Output tokens for audio. */
  audioCompletion: 0,
  images: 0,
  seconds: 0,
  characters: 0,
  searches: 0,
  /** Input tokens of the longest upstream request, when there were several; else 0. */
  longest: 0,
  /** True when any number is an estimate or was corrected. */
  estimated: false,
}
export type Usage = typeof noUsage

/**
 * Upper bounds of a request's usage. Higher numbers that an upstream reports are clamped to these.
 */
export interface UsageLimits {
  prompt: number
  completion: number
  /** Of audio or video; undefined for models that are not charged by time. */
  seconds?: number
}

/** Creates a usage in which all other parts are 0. */
export const createUsage = (parts: Partial<Usage>): Usage => ({ ...noUsage, ...parts })

/**
 * Returns the larger of two reports on the same response, each side for itself. The result is
 * estimated when the later report takes something back.
 */
export function largerUsage(earlier: Usage | undefined, later: Usage): Usage {
  const isShorter = earlier !== undefined && earlier.prompt > later.prompt
  const isLess = earlier !== undefined && earlier.completion > later.completion
  if (!isShorter && !isLess) return later
  const { prompt, cached, cacheWrite, audio, audioCached } = isShorter ? earlier : later
  const { completion, reasoning, audioCompletion } = isLess ? earlier : later
  const input = { prompt, cached, cacheWrite, audio, audioCached }
  return { ...later, ...input, completion, reasoning, audioCompletion, estimated: true }
}

/** Names of the same number in OpenAI's chat, in its later endpoints, and in realtime sessions. */
const promptNames = ['prompt_tokens', 'input_tokens']
const completionNames = ['completion_tokens', 'output_tokens']
const promptDetails = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details']
const completionDetails = [
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
]

/**
 * Reads the `usage` of a response in OpenAI's format, where prompt_tokens include cached tokens and
 * completion_tokens include reasoning. Some upstreams count reasoning in total_tokens only; the
 * difference is reasoning. Impossible numbers (negative, fractions, texts, above the limits, parts
 * above their total) are corrected and mark the usage as estimated. Returns undefined for a usage
 * without counts, so that the caller estimates it.
 */
export function readUsage(usage: unknown, limits: UsageLimits): Usage | undefined {
  if (!isRecord(usage)) return undefined
  const reader = new UsageReader()
  let prompt = reader.tokens(usage, promptNames, limits.prompt)
  let completion = reader.tokens(usage, completionNames, limits.completion)
  const total = reader.tokens(usage, ['total_tokens'], Infinity) ?? 0
  // Embeddings have no completion; some send the prompt as the total only.
  const isTotalPrompt = completion !== undefined || limits.completion === 0
  if (prompt === undefined && isTotalPrompt && total > (completion ?? 0)) {
    prompt = reader.atMost(total - (completion ?? 0), limits.prompt)
  }
  if (prompt === undefined && completion === undefined) {
    const seconds = reader.number(usage.seconds)
    if (seconds === undefined || limits.seconds === undefined) return undefined
    return createUsage({
      seconds: reader.atMost(seconds, limits.seconds),
      estimated: reader.isCorrected,
    })
  }
  const uncounted = reader.plausible(
    total - (prompt ?? 0) - (completion ?? 0),
    limits.completion - (completion ?? 0),
  )
  const written = detailsOf(usage, completionDetails)
  const reasoning = reader.tokens(written, ['reasoning_tokens'], Infinity)
  const spoken = reader.tokens(written, ['audio_tokens'], Infinity) ?? 0
  const isReasoning = completion !== undefined
  completion = (completion ?? 0) + uncounted
  const details = detailsOf(usage, promptDetails)
  const cached =
    reader.tokens(details, ['cached_tokens'], Infinity) ??
    reader.tokens(usage, ['prompt_cache_hit_tokens'], Infinity) ??
    0
  const cacheWrite = reader.tokens(details, ['cache_write_tokens'], Infinity) ?? 0
  const audio = reader.tokens(details, ['audio_tokens'], Infinity) ?? 0
  const cachedIn = reader.atMost(cached, prompt ?? 0)
  const cachedAudio =
    reader.tokens(recordOf(details.cached_tokens_details), ['audio_tokens'], Infinity) ?? 0
  const thought = reader.atMost(Math.max(reasoning ?? 0, isReasoning ? uncounted : 0), completion)
  return createUsage({
    prompt: prompt ?? 0,
    cached: cachedIn,
    cacheWrite: reader.atMost(cacheWrite, (prompt ?? 0) - cachedIn),
    audio: reader.atMost(audio, prompt ?? 0),
    audioCached: reader.atMost(cachedAudio, Math.min(cachedIn, audio)),
    completion,
    reasoning: thought,
    audioCompletion: reader.atMost(spoken, completion - thought),
    estimated: reader.isCorrected,
  })
}

/** Reads numbers that may be wrong, and records whether it corrected one. */
class UsageReader {
  isCorrected = false

  /** Returns a number that is not negative; undefined for any other value. */
  number(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined
    const number = typeof value === 'string' && value.trim() ? Number(value) : value
    if (typeof number === 'number' && number === value && number >= 0) return number
    this.isCorrected = true
    return typeof number === 'number' && number >= 0 ? number : undefined
  }

  /** Returns the first number among the names, rounded up and at most `max`. */
  tokens(from: Json, names: string[], max: number): number | undefined {
    for (const name of names) {
      const number = this.number(from[name])
      if (number === undefined) continue
      if (!Number.isInteger(number)) this.isCorrected = true
      return this.atMost(Math.ceil(number), max)
    }
    return undefined
  }

  /** Returns a difference of two numbers; 0 when it is impossible. */
  plausible(difference: number, max: number): number {
    if (difference > max) this.isCorrected = true
    return difference > 0 && difference <= max ? difference : 0
  }

  atMost(number: number, max: number): number {
    if (number <= max) return number
    this.isCorrected = true
    return max
  }
}

const detailsOf = (usage: Json, names: string[]): Json =>
  names.map((name) => usage[name]).find(isRecord) ?? {}
