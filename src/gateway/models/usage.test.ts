import { expect, test } from 'bun:test'

import fc from 'fast-check'

import { createUsage, readUsage, type Usage } from './usage.ts'

const limits = { prompt: 1_000, completion: 100, seconds: 86_400 }

/** The usage formats of upstreams, with the expected result. */
test.each<[string, unknown, Partial<Usage> | undefined]>([
  [
    'OpenAI counts cached tokens in the prompt and reasoning in the completion',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
      prompt_tokens_details: { cached_tokens: 4, audio_tokens: 3 },
      completion_tokens_details: { reasoning_tokens: 2 },
    },
    { prompt: 11, cached: 4, audio: 3, completion: 7, reasoning: 2 },
  ],
  [
    'OpenAI reports images and audio as input and output tokens',
    { input_tokens: 11, output_tokens: 7, input_tokens_details: { cached_tokens: 4 } },
    { prompt: 11, cached: 4, completion: 7 },
  ],
  [
    'OpenAI reports no completion for embeddings',
    { prompt_tokens: 11, total_tokens: 11 },
    { prompt: 11 },
  ],
  ['OpenAI reports audio by its length', { type: 'duration', seconds: 2.5 }, { seconds: 2.5 }],
  [
    'OpenRouter reports tokens written to a cache',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
      cost: 0.1,
      prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 5 },
    },
    { prompt: 11, cached: 4, cacheWrite: 5, completion: 7 },
  ],
  [
    'DeepSeek reports the hits of its cache',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 18,
      prompt_cache_hit_tokens: 4,
      prompt_cache_miss_tokens: 7,
    },
    { prompt: 11, cached: 4, completion: 7 },
  ],
  [
    'DashScope reports the tokens written to its cache for each lifetime',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      prompt_tokens_details: {
        cached_tokens: 4,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_1h_input_tokens: 2 },
      },
    },
    { prompt: 11, cached: 4, cacheWrite: 5, completion: 7 },
  ],
  [
    'LiteLLM may have a 0 in the place of OpenAI and the count in that of Anthropic',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 0, cache_creation_tokens: 0 },
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 5,
    },
    { prompt: 11, cached: 4, cacheWrite: 5, completion: 7 },
  ],
  [
    'DashScope and LiteLLM have names of their own for the tokens written to a cache',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 4, cache_creation_input_tokens: 5 },
    },
    { prompt: 11, cached: 4, cacheWrite: 5, completion: 7 },
  ],
  [
    'Mistral reports the tokens of its cache beside the others',
    { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, num_cached_tokens: 4 },
    { prompt: 11, cached: 4, completion: 7 },
  ],
  [
    'Moonshot and Together have a shorter name for them',
    { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, cached_tokens: 4 },
    { prompt: 11, cached: 4, completion: 7 },
  ],
  [
    'Perplexity reports its reasoning beside the completion',
    { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18, reasoning_tokens: 3 },
    { prompt: 11, completion: 7, reasoning: 3 },
  ],
  [
    'a prompt above the limit of the hold is clamped, and its rest is no reasoning',
    { prompt_tokens: 1_200, completion_tokens: 7, total_tokens: 1_207 },
    { prompt: 1_000, completion: 7, estimated: true },
  ],
  [
    'the input of Anthropic’s usage excludes the cache',
    {
      input_tokens: 2,
      output_tokens: 7,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 5,
    },
    { prompt: 11, cached: 4, cacheWrite: 5, completion: 7 },
  ],
  [
    'a proxy may give the input of Anthropic its own name',
    { prompt_tokens: 2, completion_tokens: 7, total_tokens: 9, cache_read_input_tokens: 4 },
    { prompt: 6, cached: 4, completion: 7 },
  ],
  [
    'xAI counts reasoning outside of the completion',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      total_tokens: 48,
      completion_tokens_details: { reasoning_tokens: 30 },
    },
    { prompt: 11, completion: 37, reasoning: 30 },
  ],
  [
    'Gemini counts thoughts only in the total',
    { prompt_tokens: 11, completion_tokens: 7, total_tokens: 48 },
    { prompt: 11, completion: 37, reasoning: 30 },
  ],
  [
    'a total and a prompt give the completion',
    { prompt_tokens: 11, total_tokens: 18 },
    { prompt: 11, completion: 7 },
  ],
  [
    'a total and a completion give the prompt',
    { completion_tokens: 7, total_tokens: 18 },
    { prompt: 11, completion: 7 },
  ],
  [
    'a usage of zero counts as reported',
    { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    {},
  ],
  [
    'a total below its parts is ignored',
    { prompt_tokens: 11, completion_tokens: 7, total_tokens: 3 },
    { prompt: 11, completion: 7 },
  ],
  [
    'parts that are null are ignored',
    { prompt_tokens: 11, completion_tokens: 7, prompt_tokens_details: null },
    { prompt: 11, completion: 7 },
  ],
])('%s', (_, raw, usage) => {
  expect(readUsage(raw, limits)).toEqual(usage && createUsage(usage))
})

test.each<[string, unknown, Partial<Usage>]>([
  ['a negative number', { prompt_tokens: -11, completion_tokens: 7 }, { completion: 7 }],
  ['a fraction', { prompt_tokens: 10.5, completion_tokens: 6.2 }, { prompt: 11, completion: 7 }],
  [
    'a number in a string',
    { prompt_tokens: '11', completion_tokens: 7 },
    { prompt: 11, completion: 7 },
  ],
  ['a word', { prompt_tokens: 11, completion_tokens: 'seven' }, { prompt: 11 }],
  ['a list', { prompt_tokens: [11], completion_tokens: 7 }, { completion: 7 }],
  [
    'a number above the maximum',
    { prompt_tokens: 1e300, completion_tokens: 2 ** 60 },
    { prompt: 1_000, completion: 100 },
  ],
  [
    'an infinite number',
    { prompt_tokens: Infinity, completion_tokens: 7 },
    { prompt: 1_000, completion: 7 },
  ],
  [
    'a total above the limits',
    { prompt_tokens: 11, completion_tokens: 7, total_tokens: 1e9 },
    { prompt: 11, completion: 7 },
  ],
  [
    'more cached tokens than the prompt has',
    { prompt_tokens: 11, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 12 } },
    { prompt: 11, cached: 11, completion: 7 },
  ],
  [
    'more cached and written tokens than the prompt has',
    {
      prompt_tokens: 11,
      completion_tokens: 7,
      prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 8 },
    },
    { prompt: 11, cached: 8, cacheWrite: 3, completion: 7 },
  ],
  [
    'more reasoning than completion',
    { prompt_tokens: 11, completion_tokens: 7, completion_tokens_details: { reasoning_tokens: 9 } },
    { prompt: 11, completion: 7, reasoning: 7 },
  ],
  ['audio of several years', { seconds: 1e9 }, { seconds: 86_400 }],
])('%s is corrected and marked as estimated', (_, raw, usage) => {
  expect(readUsage(raw, limits)).toEqual(createUsage({ ...usage, estimated: true }))
})

test.each<[string, unknown]>([
  ['a missing usage', undefined],
  ['a usage of null', null],
  ['a usage that is a string', 'many'],
  ['a list', [1]],
  ['an empty usage', {}],
  ['a usage of words', { prompt_tokens: 'a', completion_tokens: 'b' }],
  ['a usage of negative numbers', { prompt_tokens: -1, completion_tokens: -1 }],
  ['a usage of nulls', { prompt_tokens: null, completion_tokens: null }],
  ['a usage of a cache alone', { cache_read_input_tokens: 4 }],
])('%s counts as no usage', (_, raw) => {
  expect(readUsage(raw, limits)).toBeUndefined()
})

test('reads a total without completion as the prompt, as Voyage sends it', () => {
  const { seconds: _, ...embedded } = { ...limits, completion: 0 }
  expect(readUsage({ total_tokens: 11 }, embedded)).toEqual(createUsage({ prompt: 11 }))
  expect(readUsage({ total_tokens: 11 }, limits)).toBeUndefined()
  expect(readUsage({ seconds: 3 }, embedded)).toBeUndefined()
})

test('keeps parts within totals and totals within limits for any input', () => {
  const number = fc.oneof(fc.double(), fc.integer(), fc.string(), fc.constant(null), fc.nat(2_000))
  const details = fc.oneof(
    number,
    fc.record({ cached_tokens: number, cache_write_tokens: number, reasoning_tokens: number }),
  )
  const raw = fc.record(
    {
      prompt_tokens: number,
      completion_tokens: number,
      total_tokens: number,
      prompt_tokens_details: details,
      completion_tokens_details: details,
      seconds: number,
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(raw, (sent) => {
      const usage = readUsage(sent, limits)
      if (!usage) return
      const { estimated: _, ...numbers } = usage
      expect(Object.values(numbers).every((part) => part >= 0 && part <= 86_400)).toBe(true)
      expect(usage.prompt).toBeLessThanOrEqual(limits.prompt)
      expect(usage.completion).toBeLessThanOrEqual(limits.completion)
      expect(usage.cached + usage.cacheWrite).toBeLessThanOrEqual(usage.prompt)
      expect(usage.reasoning).toBeLessThanOrEqual(usage.completion)
    }),
    { numRuns: 2_000 },
  )
})
