import { recordOf } from '../../core/schema.ts'

type Json = Record<string, unknown>

/** A chat's usage in the words of Responses; a cost is told where it stands. */
export function usageOf(usage: Json): Json {
  const { prompt_tokens_details: prompt, completion_tokens_details: completion } = usage
  const [input, output] = [countOf(usage.prompt_tokens), countOf(usage.completion_tokens)]
  const { cached_tokens, cache_write_tokens } = recordOf(prompt)
  const { reasoning_tokens } = recordOf(completion)
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: countOf(cached_tokens),
      cache_write_tokens: countOf(cache_write_tokens),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: countOf(reasoning_tokens) },
    total_tokens: input + output,
    ...(typeof usage.cost === 'number' && { cost: usage.cost }),
  }
}

const countOf = (value: unknown): number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
