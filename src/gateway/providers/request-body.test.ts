import { expect, test } from 'bun:test'

import type OpenAI from 'openai'

import { buildRequestBody, type Dialect, requestFieldsOf } from './request-body.ts'
import type { UpstreamPath } from './upstream.ts'

function sent(body: Record<string, unknown>, dialect: Dialect = {}, outputTokensMax?: number) {
  const call = {
    path: '/chat/completions',
    model: 'm',
    signal: AbortSignal.timeout(1_000),
  } as const
  const most = outputTokensMax === undefined ? {} : { outputTokensMax }
  const text = buildRequestBody({ ...call, ...most, body }, dialect)
  return typeof text === 'string' ? JSON.parse(text) : text
}

test('passes a body through with the upstream’s model name', () => {
  expect(sent({ model: 'x/y', user: null, max_tokens: 'all' })).toEqual({
    model: 'm',
    user: null,
    max_tokens: 'all',
  })
})

test('sends the lowest output limit under the known name', () => {
  const rows: [Record<string, unknown>, Dialect, number | undefined, Record<string, unknown>][] = [
    [{}, {}, 9, { max_tokens: 9 }],
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
  for (const [body, dialect, most, limits] of rows) {
    expect(sent(body, dialect, most)).toEqual({ model: 'm', ...limits })
  }
})

test('omits stream_options for an upstream that rejects it', () => {
  const body = { stream: true, stream_options: { include_usage: true } }
  expect(sent(body, { rejectsStreamOptions: true })).toEqual({ model: 'm', stream: true })
  expect(sent(body)).toEqual({ model: 'm', ...body })
  expect(sent({ stream: true, stream_options: null })).toEqual({ model: 'm', ...body })
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

/** Returns the fields of a body that an upstream receives. */
function sentFields(
  body: Record<string, unknown> | FormData,
  { path = '/chat/completions', baseUrl = '' }: { path?: UpstreamPath; baseUrl?: string } = {},
) {
  const requestFields = requestFieldsOf(baseUrl)
  const signal = AbortSignal.timeout(1_000)
  const built = buildRequestBody({ path, model: 'm', body, signal }, { requestFields })
  if (typeof built === 'string') return JSON.parse(built)
  const form: Record<string, unknown> = {}
  built.forEach((value, name) => void (form[name] = value))
  return form
}

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
  const sent = Object.entries(fields).flatMap(([name, isSent]) => (isSent ? [name] : []))
  expect(Object.keys(sentFields(body)).toSorted()).toEqual(sent.toSorted())
  expect(sentFields(body, { baseUrl: 'https://api.openai.com/v1' })).toHaveProperty('moderation')
})

test('a field of one kind of upstream is sent to that kind only', () => {
  const body = {
    reasoning: { exclude: true },
    transforms: [],
    safe_prompt: true,
    guided_json: {},
    top_k: 5,
  }
  const namesAt = (baseUrl: string) => Object.keys(sentFields(body, { baseUrl })).toSorted()
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
  for (const host of ['localhost', 'api.openai.com', 'openrouter.ai', 'api.groq.com', 'api.x.ai']) {
    expect(sentFields(body, { baseUrl: `https://${host}/v1` })).toEqual({ model: 'm' })
  }
})

test('the operator adds the fields of an upstream', () => {
  const fields = requestFieldsOf('http://127.0.0.1:8080/v1', ['zebra'])
  expect(fields['/chat/completions'].has('zebra')).toBe(true)
  expect(fields['/images/generations'].has('zebra')).toBe(true)
})

test('forms have lists under name[]', () => {
  const form = new FormData()
  for (const name of ['language', 'timestamp_granularities[]', 'zebra', 'zebra[]'])
    form.set(name, 'x')
  const sent = sentFields(form, { path: '/audio/transcriptions' })
  expect(sent).toEqual({ language: 'x', 'timestamp_granularities[]': 'x', model: 'm' })
})

test('the effort is in one field', () => {
  const baseUrl = 'https://openrouter.ai/api/v1'
  const both = { reasoning_effort: 'low', reasoning: { exclude: true } }
  expect(sentFields(both, { baseUrl })).toEqual({
    model: 'm',
    reasoning: { effort: 'low', exclude: true },
  })
  expect(sentFields(both)).toEqual({ model: 'm', reasoning_effort: 'low' })
  const none = { reasoning_effort: 'low', reasoning: null }
  expect(sentFields(none, { baseUrl })).toMatchObject({ reasoning_effort: 'low' })
})
