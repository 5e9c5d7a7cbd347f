import type { LanguageModelV4Usage } from '@ai-sdk/provider'

import { isRecord, itemsOf, recordOf } from '../../core/schema.ts'

type Json = Record<string, unknown>

/** A usage in OpenAI's shape, as models/usage.ts reads it: cached and written are in the prompt. */
export interface OpenAiUsage {
  prompt_tokens: number
  completion_tokens: number
  total_tokens: number
  prompt_tokens_details: { cached_tokens: number; cache_write_tokens: number; audio_tokens: number }
  completion_tokens_details: { reasoning_tokens: number }
}

interface Counts {
  prompt: number
  cached: number
  written: number
  sound: number
  completion: number
  reasoning: number
}

const toldOf = ({
  prompt,
  cached,
  written,
  sound,
  completion,
  reasoning,
}: Counts): OpenAiUsage => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: {
    cached_tokens: cached,
    cache_write_tokens: written,
    audio_tokens: sound,
  },
  completion_tokens_details: { reasoning_tokens: reasoning },
})

/** The mark of a usage that no provider told. */
const untold = 'untold'

/** An answer with a usage that its package reads: where it has none, `none`, marked as untold. */
export function withRequiredUsage(answer: Json, none: Json): Json {
  return isLike(answer.usage, none) ? answer : { ...answer, usage: { ...none, [untold]: true } }
}

/** Whether all that stands in a sample stands in a value too, of the same type. */
const isLike = (value: unknown, sample: unknown): boolean =>
  isRecord(sample)
    ? isRecord(value) && Object.entries(sample).every(([name, one]) => isLike(value[name], one))
    : typeof value === typeof sample

/** Undefined when the provider did not say: then the gateway's own count stands. */
export function toOpenAiUsage({
  inputTokens,
  outputTokens,
  raw,
}: LanguageModelV4Usage): OpenAiUsage | undefined {
  if (raw?.[untold]) return undefined
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined
  return toldOf({
    prompt: inputTokens.total ?? 0,
    cached: inputTokens.cacheRead ?? 0,
    written: inputTokens.cacheWrite ?? 0,
    sound: soundIn(raw),
    completion: outputTokens.total ?? 0,
    reasoning: outputTokens.reasoning ?? 0,
  })
}

/** Gemini tells the tokens of a prompt by what they stand for; the package does not. */
function soundIn(raw: LanguageModelV4Usage['raw']): number {
  const details = raw?.promptTokensDetails
  const counts = itemsOf(details).map((one) =>
    isRecord(one) && one.modality === 'AUDIO' ? Number(one.tokenCount ?? 0) : 0,
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

/** What Anthropic says of the prompt as its stream begins; its input_tokens leave the cache out. */
export function toPromptUsage(metadata: unknown): OpenAiUsage | undefined {
  const usage = recordOf(recordOf(recordOf(metadata).anthropic).usage)
  if (typeof usage.input_tokens !== 'number') return undefined
  const cached = Number(usage.cache_read_input_tokens ?? 0)
  const written = Number(usage.cache_creation_input_tokens ?? 0)
  const prompt = usage.input_tokens + cached + written
  return toldOf({ prompt, cached, written, sound: 0, completion: 0, reasoning: 0 })
}
