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

/**
 * The token counts that an upstream reported, not yet checked against the limits of the request.
 * Undefined for counts that it left out.
 */
export interface ReportedUsage {
  /** All input tokens, including `cached` and `cacheWrite`. */
  prompt?: number | undefined
  cached?: number | undefined
  cacheWrite?: number | undefined
  audio?: number | undefined
  audioCached?: number | undefined
  completion?: number | undefined
  /** A part of `completion`. */
  reasoning?: number | undefined
  audioCompletion?: number | undefined
  /** Some upstreams count reasoning here only. */
  total?: number | undefined
  /** Of audio or video. */
  seconds?: number | undefined
  /** True if a count was no whole number of 0 or more. */
  isCorrected?: boolean
  /** The usage itself in OpenAI's format, with fields that only its clients know. */
  own?: Json
}

/** Reads counts that may be wrong, and records whether it corrected one. */
export class CountReader {
  isCorrected = false

  /** Returns a number that is not negative; undefined for any other value. */
  number(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined
    const number = typeof value === 'string' && value.trim() ? Number(value) : value
    if (typeof number === 'number' && number === value && number >= 0) return number
    this.isCorrected = true
    return typeof number === 'number' && number >= 0 ? number : undefined
  }

  /** Returns the first whole number among the values, rounded up. */
  count(...values: unknown[]): number | undefined {
    for (const value of values) {
      const number = this.number(value)
      if (number === undefined) continue
      if (!Number.isInteger(number)) this.isCorrected = true
      return Math.ceil(number)
    }
    return undefined
  }

  /** Returns the largest count: a proxy may have 0 in one place and the count in another. */
  largest(...values: unknown[]): number | undefined {
    const counts = values.map((value) => this.count(value)).filter((count) => count !== undefined)
    return counts.length === 0 ? undefined : Math.max(...counts)
  }

  /** Adds counts; undefined without any. */
  sum(...values: unknown[]): number | undefined {
    const counts = values.map((value) => this.count(value)).filter((count) => count !== undefined)
    return counts.length === 0 ? undefined : counts.reduce((sum, count) => sum + count, 0)
  }
}

/** Names of the same details in OpenAI's chat, in its later endpoints, and in realtime sessions. */
const promptDetails = ['prompt_tokens_details', 'input_tokens_details', 'input_token_details']
const completionDetails = [
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
]

const detailsOf = (usage: Json, names: string[]): Json | undefined =>
  names.map((name) => usage[name]).find(isRecord)

/** Adds the tokens that were written to a cache for each of its lifetimes. */
export const sumCacheWrites = (created: unknown, reader: CountReader): number | undefined => {
  const { ephemeral_5m_input_tokens: short, ephemeral_1h_input_tokens: long } = recordOf(created)
  return reader.sum(short, long)
}

/**
 * Reads a usage in OpenAI's format, where prompt_tokens include cached tokens and completion_tokens
 * include reasoning, under every published name. Undefined for a usage without counts.
 */
export function reportOf(usage: unknown): ReportedUsage | undefined {
  if (!isRecord(usage)) return undefined
  const reader = new CountReader()
  const details = detailsOf(usage, promptDetails)
  const output = detailsOf(usage, completionDetails) ?? {}
  const cache = readCache(usage, details ?? {}, reader)
  const prompt = reader.count(usage.prompt_tokens, usage.input_tokens)
  const counts = {
    prompt: details === undefined ? withCache(prompt, cache, usage) : prompt,
    completion: reader.count(usage.completion_tokens, usage.output_tokens),
    total: reader.count(usage.total_tokens),
    seconds: reader.number(usage.seconds),
  }
  if (Object.values(counts).every((count) => count === undefined)) return undefined
  return {
    ...counts,
    ...cache,
    audio: reader.count(details?.audio_tokens),
    audioCached: reader.count(recordOf(details?.cached_tokens_details).audio_tokens),
    reasoning: reader.count(output.reasoning_tokens, usage.reasoning_tokens), // Perplexity
    audioCompletion: reader.count(output.audio_tokens),
    isCorrected: reader.isCorrected,
    own: usage,
  }
}

/** Adds the cache to an input of Anthropic's names, or of a proxy, that excludes it. */
function withCache(
  prompt: number | undefined,
  { cached = 0, cacheWrite = 0 }: { cached?: number | undefined; cacheWrite?: number | undefined },
  usage: Json,
): number | undefined {
  const { prompt_tokens, cache_read_input_tokens, cache_creation_input_tokens } = usage
  const isOfAnthropic = cache_read_input_tokens != null || cache_creation_input_tokens != null
  if (!isOfAnthropic || prompt === undefined) return prompt
  const isApart = prompt_tokens == null || cached + cacheWrite > prompt
  return isApart ? prompt + cached + cacheWrite : prompt
}

/** Reads the tokens of a cache from all of their published places. */
const readCache = (usage: Json, details: Json, reader: CountReader) => ({
  cached: reader.largest(
    details.cached_tokens,
    usage.prompt_cache_hit_tokens, // DeepSeek
    usage.cache_read_input_tokens, // LiteLLM
    usage.cached_tokens, // Moonshot, Together
    usage.num_cached_tokens, // Mistral
  ),
  cacheWrite: reader.largest(
    details.cache_write_tokens, // OpenRouter
    details.cache_creation_tokens, // LiteLLM
    details.cache_creation_input_tokens, // DashScope
    sumCacheWrites(details.cache_creation, reader), // DashScope
    usage.cache_creation_input_tokens, // LiteLLM
  ),
})

/**
 * Returns a reported usage within the limits of its request. Tokens that only the total has are
 * reasoning. Impossible counts (above the limits, parts above their total) are corrected and mark
 * the usage as estimated. Differences are those of the counts as reported, so that a correction of
 * one count changes no other. Undefined for a usage without counts, so that the caller estimates
 * it.
 */
export function usageWithin(report: ReportedUsage, limits: UsageLimits): Usage | undefined {
  let isCorrected = report.isCorrected === true
  const atMost = (count: number, max: number): number => {
    if (count > max) isCorrected = true
    return Math.min(count, max)
  }
  const { total = 0, seconds, cached = 0, cacheWrite = 0, audio = 0, audioCached = 0 } = report
  const written = report.completion ?? 0
  // Embeddings have no completion; some send the prompt as the total only.
  const isTotalPrompt = report.completion !== undefined || limits.completion === 0
  const isInTotal = report.prompt === undefined && isTotalPrompt && total > written
  const input = isInTotal ? total - written : report.prompt
  if (input === undefined && report.completion === undefined) {
    if (seconds === undefined || limits.seconds === undefined) return undefined
    const within = atMost(seconds, limits.seconds)
    return createUsage({ seconds: within, estimated: isCorrected })
  }
  const difference = Math.max(total - (input ?? 0) - written, 0)
  const isPlausible = written + difference <= limits.completion
  const uncounted = isPlausible ? difference : 0
  if (!isPlausible) isCorrected = true
  const prompt = atMost(input ?? 0, limits.prompt)
  const completion = atMost(written + uncounted, limits.completion)
  const uncountedReasoning = report.completion === undefined ? 0 : uncounted
  const cachedIn = atMost(cached, prompt)
  const audioIn = atMost(audio, prompt)
  const reasoning = atMost(Math.max(report.reasoning ?? 0, uncountedReasoning), completion)
  return createUsage({
    prompt,
    cached: cachedIn,
    cacheWrite: atMost(cacheWrite, prompt - cachedIn),
    audio: audioIn,
    audioCached: atMost(audioCached, Math.min(cachedIn, audioIn)),
    completion,
    reasoning,
    audioCompletion: atMost(report.audioCompletion ?? 0, completion - reasoning),
    estimated: isCorrected,
  })
}

/**
 * Returns the usage of an upstream as its client gets it: with the charge in USD where that is
 * known, without OpenRouter's fields for what the operator pays.
 */
export function chargedUsage(own: unknown, cost?: number): Json {
  const { cost: _cost, cost_details: _details, ...usage } = recordOf(own)
  return { ...usage, ...(cost !== undefined && { cost }) }
}

/** Reads the `usage` of a response in OpenAI's format, within the limits of its request. */
export function readUsage(usage: unknown, limits: UsageLimits): Usage | undefined {
  const report = reportOf(usage)
  return report && usageWithin(report, limits)
}
