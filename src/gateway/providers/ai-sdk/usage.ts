import type { LanguageModelV4Usage } from '@ai-sdk/provider'

import { isRecord, type Json, recordOf } from '../../../kernel/schema.ts'
import { recordsIn } from '../response.ts'

/** Usage in OpenAI's format. Cached and written tokens are parts of `prompt_tokens`. */
export type OpenAiUsage = ReturnType<typeof formatUsage>

function formatUsage(
  prompt: number,
  cached: number,
  written: number,
  { audio = 0, completion = 0, reasoning = 0 } = {},
) {
  const cache = { cached_tokens: cached, cache_write_tokens: written }
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { ...cache, audio_tokens: audio },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

/** Marks a usage that the provider did not send. */
const missing = 'untold'

/** Adds the usage `none`, marked as missing, when a response lacks what its package requires. */
export function withRequiredUsage(response: Json, none: Json): Json {
  return hasFieldsOf(response.usage, none)
    ? response
    : { ...response, usage: { ...none, [missing]: true } }
}

/** Returns whether a value has all fields of a sample, with the same types. */
const hasFieldsOf = (value: unknown, sample: unknown): boolean =>
  isRecord(sample)
    ? isRecord(value) &&
      Object.entries(sample).every(([name, one]) => hasFieldsOf(value[name], one))
    : typeof value === typeof sample

/** Converts a usage; undefined when the provider sent none, so that the gateway estimates it. */
export function toOpenAiUsage({
  inputTokens,
  outputTokens,
  raw,
}: LanguageModelV4Usage): OpenAiUsage | undefined {
  if (raw?.[missing]) return undefined
  if (inputTokens.total === undefined && outputTokens.total === undefined) return undefined
  const { total = 0, cacheRead = 0, cacheWrite = 0 } = inputTokens
  const { total: completion = 0, reasoning = 0 } = outputTokens
  const billed = billedTokensIn(raw)
  return formatUsage(billed?.input ?? total, cacheRead, cacheWrite, {
    audio: audioTokensIn(raw),
    completion: billed?.output ?? completion,
    reasoning,
  })
}

/** Returns the tokens that Cohere bills. It bills no tokens that its template adds. */
function billedTokensIn(raw: LanguageModelV4Usage['raw']) {
  const { input_tokens: input, output_tokens: output } = recordOf(raw?.billed_units)
  return typeof input === 'number' && typeof output === 'number' ? { input, output } : undefined
}

/** Sums Gemini's audio tokens, which its package does not report. */
const audioTokensIn = (raw: LanguageModelV4Usage['raw']): number =>
  recordsIn(raw?.promptTokensDetails)
    .filter(({ modality }) => modality === 'AUDIO')
    .reduce((sum, { tokenCount }) => sum + Number(tokenCount ?? 0), 0)

/**
 * Returns the prompt usage that Anthropic sends at the start of a stream. Its input_tokens exclude
 * the cache.
 */
export function toPromptUsage(metadata: unknown): OpenAiUsage | undefined {
  const usage = recordOf(recordOf(recordOf(metadata).anthropic).usage)
  if (typeof usage.input_tokens !== 'number') return undefined
  const cached = Number(usage.cache_read_input_tokens ?? 0)
  const written = Number(usage.cache_creation_input_tokens ?? 0)
  return formatUsage(usage.input_tokens + cached + written, cached, written)
}
