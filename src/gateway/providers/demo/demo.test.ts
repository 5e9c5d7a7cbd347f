import { expect, test } from 'bun:test'

import { Ajv } from 'ajv'

import { createDemoUpstream } from './demo.ts'
import { sampleOfSchema } from './json-schema.ts'

const demo = createDemoUpstream({ now: () => 1_700_000_000_000 })
const signal = AbortSignal.timeout(10_000)

const ask = (body: Record<string, unknown>, model = 'demo/chat') =>
  demo.send({ path: '/chat/completions', model, body, signal })

const user = (content: unknown) => ({ role: 'user', content })

async function chat(body: Record<string, unknown>, model?: string) {
  return JSON.parse(await (await ask(body, model)).text())
}

async function chunks(body: Record<string, unknown>) {
  const text = await (await ask({ ...body, stream: true })).text()
  const events = text.trimEnd().split('\n\n')
  expect(events.pop()).toBe('data: [DONE]')
  return events.map((event) => JSON.parse(event.slice('data: '.length)))
}

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' }, unit: { enum: ['celsius', 'fahrenheit'] } },
      required: ['city', 'unit'],
    },
  },
}

test('repeats the last user text and counts a token per word', async () => {
  const messages = [{ role: 'system', content: 'Be kind.' }, user('one'), user('Hello,  wörld 👋')]
  const response = await chat({ messages })
  expect(response).toMatchObject({
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'demo/chat',
    usage: { prompt_tokens: 6, completion_tokens: 3, total_tokens: 9 },
  })
  expect(response.choices).toEqual([
    {
      index: 0,
      message: { role: 'assistant', content: 'Hello,  wörld 👋', refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ])
  expect(await chat({ messages })).toEqual(response)
})

test('replies without a user message and without text', async () => {
  const image = [{ type: 'image_url', image_url: { url: 'https://example.com/boat.png' } }]
  const result = async (role: string, content: unknown) =>
    (await chat({ messages: [{ role, content }] })).choices[0].message.content
  expect(await result('system', 'Be kind.')).toBe('Be kind.')
  expect(await result('user', image)).toBe('I was told no words.')
  expect(await result('tool', '')).toBe('I was told no words.')
})

test('streams the same text by token with the same usage', async () => {
  const body = {
    messages: [user(`Hello wörld ${'x'.repeat(40)}\n`)],
    n: 2,
    logprobs: true,
    top_logprobs: 1,
  }
  const [whole, parts] = [await chat(body), await chunks(body)]
  expect(parts.at(-1)).toMatchObject({ choices: [], usage: whole.usage })
  expect(parts.filter((part) => 'usage' in part)).toHaveLength(1)
  for (const index of [0, 1]) {
    const own = parts.flatMap(({ choices }) => choices).filter((one) => one.index === index)
    expect(own[0].delta).toEqual({ role: 'assistant', content: '' })
    const result = own.map((one) => one.delta.content ?? '').join('')
    expect(result).toBe(whole.choices[index].message.content)
    expect(own.at(-1)).toMatchObject({ delta: {}, finish_reason: 'stop' })
    const sure = own.flatMap((one) => one.logprobs?.content ?? [])
    expect(sure).toEqual(whole.choices[index].logprobs.content)
    for (const { top_logprobs, ...one } of sure) expect(top_logprobs).toEqual([one])
  }
  expect(whole.usage.completion_tokens).toBe(2 * 6)
})

test('stops at max_tokens and stop with the matching finish reason', async () => {
  const messages = [user('one two three four')]
  const short = await chat({ messages, max_tokens: 2 })
  expect(short.choices[0]).toMatchObject({
    message: { content: 'one two' },
    finish_reason: 'length',
  })
  expect(short.usage.completion_tokens).toBe(2)
  const stopped = await chat({ messages, stop: [' three'] })
  expect(stopped.choices[0]).toMatchObject({
    message: { content: 'one two' },
    finish_reason: 'stop',
  })
  const long = await chat({ messages: [user('word '.repeat(2_000))] }, 'demo/small')
  expect(long.usage.completion_tokens).toBe(1_000)
})

test('calls a requested tool, whole and streamed', async () => {
  const body = { messages: [user('please call get_weather')], tools: [weather] }
  const { choices } = await chat(body)
  const [call] = choices[0].message.tool_calls
  expect(choices[0]).toMatchObject({ message: { content: null }, finish_reason: 'tool_calls' })
  expect(call.function).toEqual({
    name: 'get_weather',
    arguments: '{"city":"city","unit":"celsius"}',
  })
  const deltas = (await chunks(body)).flatMap((one) => one.choices[0]?.delta.tool_calls ?? [])
  expect(deltas[0]).toEqual({ index: 0, ...call, function: { name: 'get_weather', arguments: '' } })
  expect(deltas.map((one) => one.function.arguments).join('')).toBe(call.function.arguments)
})

test('calls a tool with given arguments', async () => {
  const call = async (text: string) => {
    const { choices } = await chat({ messages: [user(text)], tools: [weather] })
    return choices[0].message.tool_calls[0].function.arguments
  }
  expect(await call('call get_weather {"city": "Turku"}')).toBe('{"city":"Turku"}')
  expect(await call('call get_weather {"city": ')).toBe('{"city":"city","unit":"celsius"}')
})

test('respects tool_choice and ignores unknown tools', async () => {
  const finish = async (text: string, more: Record<string, unknown>) =>
    (await chat({ messages: [user(text)], tools: [weather], ...more })).choices[0].finish_reason
  expect(await finish('hi', { tool_choice: 'required' })).toBe('tool_calls')
  const named = { type: 'function', function: { name: 'get_weather' } }
  expect(await finish('hi', { tool_choice: named })).toBe('tool_calls')
  expect(await finish('call get_weather', { tool_choice: 'none' })).toBe('stop')
  expect(await finish('call get_time', {})).toBe('stop')
})

test('repeats a tool result', async () => {
  const messages = [
    user('call get_weather'),
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', function: { name: 'get_weather', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: '21 degrees' },
  ]
  const { choices, usage } = await chat({ messages, tools: [weather] })
  expect(choices[0].message.content).toBe('21 degrees')
  expect(usage.prompt_tokens).toBe(2 + 2 + 2)
})

test('returns a value for a json_schema', async () => {
  const schema = {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 12 },
      age: { type: 'integer', minimum: 18 },
      ratio: { type: 'number', exclusiveMinimum: 0, maximum: 0.5 },
      kind: { enum: ['a', 'b'] },
      when: { type: 'string', format: 'date-time' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
      next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] },
      both: { allOf: [{ type: 'object', properties: { x: { const: 1 } }, required: ['x'] }] },
    },
    required: ['name', 'age', 'ratio', 'kind', 'when', 'tags', 'next', 'both'],
    additionalProperties: false,
    $defs: {
      node: {
        type: 'object',
        properties: { next: { anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] } },
        required: ['next'],
      },
    },
  }
  const format = { type: 'json_schema', json_schema: { name: 'it', strict: true, schema } }
  const { choices } = await chat({ messages: [user('hi')], response_format: format })
  const value: unknown = JSON.parse(choices[0].message.content)
  expect(new Ajv({ strict: false, validateFormats: false }).validate(schema, value)).toBe(true)
  const plain = await chat({ messages: [user('hi')], response_format: { type: 'json_object' } })
  expect(plain.choices[0].message.content).toBe('{"text":"hi"}')
})

test('returns a value for a recursive schema', () => {
  expect(JSON.stringify(sampleOfSchema({ $ref: '#' })).length).toBeLessThan(100)
  const wide = {
    type: 'object',
    properties: { a: { $ref: '#' }, b: { $ref: '#' } },
    required: ['a'],
  }
  expect(JSON.stringify(sampleOfSchema(wide)).length).toBeLessThan(20_000)
  expect(sampleOfSchema({ type: 'string', minLength: 1e9 })).toHaveLength(1_000)
  const lists = { type: 'array', items: { $ref: '#' }, minItems: 1e9 }
  const twice = { type: 'object', properties: { a: { $ref: '#' }, b: { $ref: '#' } } }
  const long = { ...lists, items: { anyOf: [{ $ref: '#' }] } }
  for (const endless of [lists, long, { ...twice, required: ['a', 'b'] }]) {
    expect(JSON.stringify(sampleOfSchema(endless)).length).toBeLessThan(600_000)
  }
  const copies = { type: 'array', minItems: 10, items: { $ref: '#/$defs/row' } }
  const row = { type: 'array', minItems: 10, items: { const: 'x'.repeat(10_000) } }
  expect(JSON.stringify(sampleOfSchema({ ...copies, $defs: { row } })).length).toBeLessThan(600_000)
})

test('returns n choices and applies the first four stop sequences', async () => {
  const stop = ['a', 'b', 'c', 'd', 'hi']
  const { choices } = await chat({ messages: [user('hi')], n: 20, stop })
  expect(choices).toHaveLength(20)
  expect(choices[19].message.content).toBe('hi')
})

test('adds reasoning on request and counts cached system text', async () => {
  const messages = [{ role: 'system', content: 'Be very kind.' }, user('hi')]
  const body = { messages, reasoning_effort: 'low', prompt_cache_key: 'k' }
  const { choices, usage } = await chat(body)
  expect(choices[0].message.reasoning_content).toBe('I repeat what I was told.')
  expect(usage).toMatchObject({
    prompt_tokens: 4,
    completion_tokens: 7,
    prompt_tokens_details: { cached_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 6 },
  })
  expect((await chunks(body))[1]?.choices[0].delta).toEqual({ reasoning_content: 'I' })
})

test('counts an image as 100 tokens', async () => {
  const content = [
    { type: 'text', text: 'What is this?' },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
  ]
  const { choices, usage } = await chat({ messages: [user(content)] })
  expect([choices[0].message.content, usage.prompt_tokens]).toEqual(['What is this?', 103])
})

test('stops an unread stream and returns nothing when aborted', async () => {
  const response = await ask({ messages: [user('word '.repeat(3_000))], stream: true })
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  expect(await reader?.read()).toMatchObject({ done: true })
})

test('responds 404 to an unknown model or operation', async () => {
  expect((await ask({ messages: [user('hi')] }, 'demo/nothing')).status).toBe(404)
  expect((await ask({ messages: [user('hi')] }, 'demo/image')).status).toBe(404)
  expect((await ask({ messages: [] })).status).toBe(400)
})

test('rejects custom tools by name', async () => {
  const tools = [weather, { type: 'custom', custom: { name: 'patch' } }]
  const response = await ask({ messages: [user('call patch')], tools })
  expect([response.status, await response.text()]).toEqual([
    400,
    expect.stringContaining('not of the type custom'),
  ])
})
