import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { createChatReader, readWholeChat } from '../openai-chat/read.ts'
import { ChatMeter } from './meter.ts'

const called = { name: 'find', arguments: '{"a": 1}' }
/** The steps of a completion. */
const whole = (completion: Json) => readWholeChat(completion)
/** The steps of a chunk, and those that wait for the end of the stream. */
function streamed(chunk: Json) {
  const reader = createChatReader()
  return [chunk, '[DONE]'].flatMap(
    (data) => reader.read(typeof data === 'string' ? data : JSON.stringify(data)) ?? [],
  )
}
/** Outputs other than text, each of 11 to 12 characters. */
const written = {
  content: 'Hello there',
  refusal: 'I will not.',
  reasoning_content: 'Let me see.',
  tool_calls: [{ index: 0, type: 'function', function: called }],
  function_call: called,
  audio: { data: 'AAAAAAAAAAAA' },
}
const custom = { type: 'custom', custom: { name: 'find', input: 'the tide' } }

test.each([...Object.entries(written), ['tool_calls', [custom]]] as const)(
  'counts %s as content of the model, whole and streamed',
  (name, held) => {
    for (const [place, readOf] of [
      ['message', whole],
      ['delta', streamed],
    ] as const) {
      const limits = { prompt: 100, completion: 100 }
      const meter = new ChatMeter({ limits, choices: 1, countPrompt: () => 2 })
      meter.read(readOf({ choices: [{ index: 0, [place]: { role: 'assistant', [name]: held } }] }))
      expect(meter.hasContent).toBe(true)
      expect(meter.usage(false)).toMatchObject({ prompt: 2, completion: 3, estimated: true })
    }
  },
)

test('a usage without the prompt or the completion is completed by our count', () => {
  const limits = { prompt: 100, completion: 100 }
  const usageOf = (usage: object) => {
    const meter = new ChatMeter({ limits, choices: 1, countPrompt: () => 2 })
    meter.read(whole({ choices: [{ index: 0, message: { content: 'Hello there' } }] }))
    meter.read(streamed({ usage }))
    return meter.usage(true)
  }
  for (const none of [undefined, null, 0, -7]) {
    expect(usageOf({ prompt_tokens: 11, completion_tokens: none })).toMatchObject({
      prompt: 11,
      completion: 3,
      estimated: true,
    })
    expect(usageOf({ prompt_tokens: none, completion_tokens: 1 })).toMatchObject({
      prompt: 2,
      completion: 1,
      estimated: true,
    })
  }
  const zero = { prompt: 0, completion: 0, estimated: false }
  expect(usageOf({ prompt_tokens: 0, completion_tokens: 0 })).toMatchObject(zero)
})

test('of two reported usages, the larger prompt and the larger completion count', () => {
  const limits = { prompt: 100, completion: 100 }
  const usageOf = (...usages: [prompt: number, completion: number, cached?: number][]) => {
    const meter = new ChatMeter({ limits, choices: 1, countPrompt: () => 2 })
    meter.read(whole({ choices: [{ index: 0, message: { content: 'Hello there' } }] }))
    for (const [prompt_tokens, completion_tokens, cached_tokens = 0] of usages) {
      const prompt_tokens_details = { cached_tokens }
      meter.read(streamed({ usage: { prompt_tokens, completion_tokens, prompt_tokens_details } }))
    }
    return meter.usage(true)
  }
  const larger = { prompt: 11, cached: 4, completion: 7, estimated: true }
  expect(usageOf([11, 7, 4], [11, 1, 4])).toMatchObject(larger)
  expect(usageOf([11, 7, 4], [0, 0])).toMatchObject(larger)
  expect(usageOf([11, 0, 4], [0, 7])).toMatchObject(larger)
  expect(usageOf([11, 1], [11, 7, 4])).toMatchObject({ ...larger, estimated: false })
})
