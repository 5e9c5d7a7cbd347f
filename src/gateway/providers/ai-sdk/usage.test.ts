import { expect, test } from 'bun:test'

import { toPromptUsage } from './usage.ts'

test("the prompt of Anthropic's first event includes what its cache read and wrote", () => {
  const usage = { input_tokens: 5, cache_read_input_tokens: 4, cache_creation_input_tokens: 2 }
  expect(toPromptUsage({ anthropic: { usage } })).toMatchObject({
    prompt_tokens: 11,
    completion_tokens: 0,
    prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2 },
  })
  expect(toPromptUsage({ anthropic: { usage: { input_tokens: 5 } } })).toMatchObject({
    prompt_tokens: 5,
    prompt_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  })
  expect(toPromptUsage({ anthropic: {} })).toBeUndefined()
})
