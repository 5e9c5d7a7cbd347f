import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { toGenerateResponse } from './response.ts'
import { GenerateWriter } from './stream.ts'

const options = { responseId: 'r', showsThoughts: true }

const usage = {
  prompt_tokens: 11,
  completion_tokens: 9,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
  cost: 0.5,
}
const usageMetadata = {
  promptTokenCount: 11,
  candidatesTokenCount: 7,
  totalTokenCount: 20,
  thoughtsTokenCount: 2,
  cachedContentTokenCount: 4,
  cost: 0.5,
}

test('the usage counts thoughts with the candidates, and the cache with the prompt', () => {
  const choices = [{ message: { content: 'Hi' }, finish_reason: 'stop' }]
  expect(toGenerateResponse({ choices, usage }, options)).toMatchObject({ usageMetadata })
})

test('interleaved calls of a stream are sent whole with its last response', () => {
  const writer = new GenerateWriter(options)
  const call = (index: number, text: string, more: Json = {}) => {
    const tool_calls = [{ index, function: { arguments: text, ...more } }]
    return writer.read({ choices: [{ delta: { tool_calls } }] })
  }
  const sent = [
    call(0, '{"at"', { name: 'depth' }),
    call(1, '{', { name: 'wind' }),
    call(0, ':1}'),
    call(1, '}'),
  ]
  expect(sent.map(({ length }) => length)).toEqual([0, 0, 0, 0])
  writer.read({ choices: [], usage })
  const [, json = ''] = /^data: (.*)$/m.exec(new TextDecoder().decode(writer.end())) ?? []
  expect(JSON.parse(json)).toMatchObject({
    candidates: [
      {
        content: {
          parts: [
            { functionCall: { name: 'depth', args: { at: 1 } } },
            { functionCall: { name: 'wind', args: {} } },
          ],
        },
      },
    ],
    usageMetadata,
  })
})
