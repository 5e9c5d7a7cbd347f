import { describe, expect, test } from 'bun:test'

import type OpenAI from 'openai'

import type { Json } from '../../kernel/schema.ts'
import type { ChatRequest } from '../conversation/chat-request.ts'
import { type ChatDialect, createChatCodec, encodeChat } from './encode.ts'
import { familyOf } from './families.ts'

/** The chat of a client of OpenAI's API, with this body. */
const requestOf = (body: Json): ChatRequest => ({
  messages: [],
  tools: [],
  choices: 1,
  sampling: {},
  stop: [],
  extra: {},
  raw: { api: 'chat', body },
})

/** Returns the body that an upstream gets. `max`: the output tokens that the hold covers. */
function sent(body: Json, dialect: ChatDialect = {}, max?: number): Json {
  const { body: written } = encodeChat(requestOf(body), targetOf(body, max), dialect)
  return JSON.parse(JSON.stringify(written))
}

const targetOf = ({ stream }: Json, max?: number) => ({
  model: 'm',
  isStream: stream === true,
  outputMax: max ?? Number.MAX_SAFE_INTEGER,
  stopsItself: max === undefined,
})

/** Returns the fields that an upstream at this address gets. */
const sentTo = (body: Json, baseUrl = '', more: string[] = []): Json =>
  sent(body, { family: familyOf(baseUrl, more) })

test('passes a body through with the upstream’s model name', () => {
  expect(sent({ model: 'x/y', user: null, max_tokens: 'all' })).toEqual({
    model: 'm',
    user: null,
    max_tokens: 'all',
  })
})

test('sends the lowest output limit under the known name', () => {
  const rows: [Json, ChatDialect, number | undefined, Json][] = [
    [{}, {}, undefined, {}],
    [{}, {}, 9, { max_tokens: 9 }],
    [{ max_tokens: null }, {}, 9, { max_tokens: 9 }],
    [{ max_tokens: 5 }, {}, 9, { max_tokens: 5 }],
    [{ max_completion_tokens: 50 }, {}, 9, { max_completion_tokens: 9 }],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      {},
      undefined,
      { max_tokens: 5, max_completion_tokens: 5 },
    ],
    [{ max_tokens: 5 }, { outputName: 'max_completion_tokens' }, 9, { max_completion_tokens: 5 }],
    [{ max_completion_tokens: 5 }, { outputName: 'max_tokens' }, undefined, { max_tokens: 5 }],
    [
      { max_tokens: 5, max_completion_tokens: 6 },
      { outputName: 'max_tokens' },
      9,
      { max_tokens: 5 },
    ],
  ]
  for (const [body, dialect, max, limits] of rows) {
    expect(sent(body, dialect, max)).toEqual({ model: 'm', ...limits })
  }
})

test('a request of another API has the lowest output limit, too', () => {
  const { raw: _, ...written } = { ...requestOf({}), outputMax: 50 }
  const at = (max: number, dialect: ChatDialect = {}) =>
    encodeChat(written, targetOf({}, max), dialect).body
  expect(at(9)).toMatchObject({ max_tokens: 9 })
  expect(at(90)).toMatchObject({ max_tokens: 50 })
  expect(at(9, { outputName: 'max_completion_tokens' })).toMatchObject({
    max_completion_tokens: 9,
    max_tokens: undefined,
  })
})

test('omits stream_options for an upstream that rejects it', () => {
  const body = { stream: true, stream_options: { include_usage: true } }
  expect(sent(body, { rejectsStreamOptions: true })).toEqual({ model: 'm', stream: true })
  expect(sent(body)).toEqual({ model: 'm', ...body })
  expect(sent({ stream: true, stream_options: null })).toEqual({ model: 'm', ...body })
  const { raw: _, ...written } = requestOf({})
  expect(encodeChat(written, targetOf(body), {}).body).toMatchObject(body)
})

test('removes cache lifetimes that the price does not cover', () => {
  const part = (cache_control: object) => ({ type: 'text', text: 'A "ttl": 1.', cache_control })
  const properties = { cache_control: { type: 'object', ttl: 'in seconds' } }
  const called = { name: 'f', parameters: { type: 'object', properties } }
  const requests = (cache_control: object) => ({
    cache_control,
    ttl: 5,
    tools: [{ type: 'function', function: { ...called, cache_control }, cache_control }],
    messages: [{ role: 'user', content: [part(cache_control)] }],
  })
  const minutes = { model: 'm', ...requests({ type: 'ephemeral' }) }
  expect(sent(requests({ type: 'ephemeral', ttl: '1h' }))).toEqual(minutes)
  expect(sent(requests({ type: 'ephemeral' }))).toEqual(minutes)
})

type Method<T> = T extends (body: infer Body, ...more: never[]) => unknown ? Body : never
type Fields<T> = T extends unknown ? keyof Method<T> : never

describe('the fields of a family', () => {
  test('every chat field of the openai package is sent or left out on purpose', () => {
    const fields: Record<Fields<OpenAI['chat']['completions']['create']>, boolean> = {
      // The gateway rejects them, except for values without an effect.
      audio: false,
      // The gateway sends them as tools.
      function_call: false,
      functions: false,
      // Only OpenAI has it.
      moderation: false,
      // The gateway searches itself.
      web_search_options: false,
      frequency_penalty: true,
      logit_bias: true,
      logprobs: true,
      max_completion_tokens: true,
      max_tokens: true,
      messages: true,
      metadata: true,
      modalities: true,
      model: true,
      n: true,
      parallel_tool_calls: true,
      prediction: true,
      presence_penalty: true,
      prompt_cache_key: true,
      prompt_cache_options: true,
      prompt_cache_retention: true,
      reasoning_effort: true,
      response_format: true,
      safety_identifier: true,
      seed: true,
      service_tier: true,
      stop: true,
      store: true,
      stream: true,
      stream_options: true,
      temperature: true,
      tool_choice: true,
      tools: true,
      top_logprobs: true,
      top_p: true,
      user: true,
      verbosity: true,
    }
    const body = Object.fromEntries(Object.keys(fields).map((name) => [name, {}]))
    const isSent = Object.entries(fields).flatMap(([name, isSent]) => (isSent ? [name] : []))
    expect(Object.keys(sentTo(body)).toSorted()).toEqual(isSent.toSorted())
    expect(sentTo(body, 'https://api.openai.com/v1')).toHaveProperty('moderation')
  })

  test('a field of one kind of upstream is sent to that kind only', () => {
    const body = {
      reasoning: { exclude: true },
      transforms: [],
      safe_prompt: true,
      guided_json: {},
      top_k: 5,
    }
    const namesAt = (baseUrl: string) => Object.keys(sentTo(body, baseUrl)).toSorted()
    expect(namesAt('http://127.0.0.1:8080/v1')).toEqual(['guided_json', 'model', 'top_k'])
    expect(namesAt('https://openrouter.ai/api/v1')).toEqual([
      'model',
      'reasoning',
      'top_k',
      'transforms',
    ])
    expect(namesAt('https://api.mistral.ai/v1')).toEqual(['model', 'safe_prompt', 'top_k'])
    expect(namesAt('https://api.openai.com/v1')).toEqual(['model', 'top_k'])
    expect(namesAt('https://openrouter.ai.example/v1')).toEqual(['guided_json', 'model', 'top_k'])
  })

  test('fields that cost more, or act beyond the request, are sent to no upstream', () => {
    const names = [
      'audio',
      'best_of',
      'chat_template',
      'compound_custom',
      'data_sources',
      'deferred',
      'enable_search',
      'extra_body',
      'id_slot',
      'image_config',
      'logits_processors',
      'lora',
      'max_new_tokens',
      'max_output_tokens',
      'n_cmpl',
      'n_predict',
      'num_predict',
      'options',
      'plugins',
      'preset',
      'priority',
      'search_parameters',
      'speed',
      'web_search',
      'zebra',
    ]
    const body = Object.fromEntries(names.map((name) => [name, 1]))
    for (const host of [
      'localhost',
      'api.openai.com',
      'openrouter.ai',
      'api.groq.com',
      'api.x.ai',
    ]) {
      const baseUrl = `https://${host}/v1`
      expect(sentTo(body, baseUrl)).toEqual({ model: 'm' })
      const codec = createChatCodec({ family: familyOf(baseUrl) })
      expect(codec.ignoredFields(requestOf(body))).toEqual(names)
      const { raw: _, ...written } = { ...requestOf({}), extra: body }
      expect(
        Object.keys(encodeChat(written, targetOf({}), { family: familyOf(baseUrl) }).body),
      ).toEqual(['messages', 'model'])
    }
  })

  test('the operator adds the fields of an upstream', () => {
    const { fields } = familyOf('http://127.0.0.1:8080/v1', ['zebra'])
    expect([fields.has('zebra'), fields.has('guided_json')]).toEqual([true, true])
    expect(familyOf('http://127.0.0.1:8080/v1').fields.has('zebra')).toBe(false)
    expect(sentTo({ zebra: 1 }, 'https://api.openai.com/v1', ['zebra'])).toEqual({
      model: 'm',
      zebra: 1,
    })
  })

  test('the ignored fields are those with a value that the family does not know', () => {
    const ignored = (body: Json, baseUrl = '', more: string[] = []) =>
      createChatCodec({ family: familyOf(baseUrl, more) }).ignoredFields(requestOf(body))
    const own = { model: 'x/y', messages: [], stream: true, stream_options: {} }
    const body = { ...own, guided_json: {}, zebra: 0, plugins: null, top_k: 5, other: undefined }
    expect(ignored(body)).toEqual(['zebra'])
    expect(ignored(body, 'https://api.openai.com/v1')).toEqual(['guided_json', 'zebra'])
    expect(ignored(body, 'https://api.openai.com/v1', ['zebra'])).toEqual(['guided_json'])
    const { raw: _, ...written } = { ...requestOf({}), extra: body, sampling: { topK: 5 } }
    const codec = createChatCodec({ family: familyOf('https://api.openai.com/v1') })
    expect(codec.ignoredFields(written)).toEqual(['guided_json', 'zebra'])
  })

  test('the effort is in one field', () => {
    const baseUrl = 'https://openrouter.ai/api/v1'
    const both = { reasoning_effort: 'low', reasoning: { exclude: true } }
    expect(sentTo(both, baseUrl)).toEqual({
      model: 'm',
      reasoning: { effort: 'low', exclude: true },
    })
    expect(sentTo(both)).toEqual({ model: 'm', reasoning_effort: 'low' })
    const none = { reasoning_effort: 'low', reasoning: null }
    expect(sentTo(none, baseUrl)).toMatchObject({ reasoning_effort: 'low' })
  })
})
