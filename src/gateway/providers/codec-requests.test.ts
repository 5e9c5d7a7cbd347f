import { afterAll, describe, expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { fakeImage } from '../../testing/fakes/media-scripts.ts'
import { providerKey, startWithProviders } from '../../testing/fixtures/with-providers.ts'

/** A fake provider of every kind that records its requests, and rejects them. */
const seen: { path: string; headers: Headers; body: Json }[] = []
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const { pathname, search } = new URL(request.url)
    const body = Object(await request.json())
    seen.push({ path: pathname + search, headers: request.headers, body })
    return Response.json({ error: { type: 'none', message: 'None.' } }, { status: 400 })
  },
})

const models = {
  claude: ['anthropic', 'claude-haiku-4-5'],
  gemini: ['google', 'gemini-3-pro-preview'],
  cohere: ['cohere', 'command-a-03-2025'],
  bedrock: ['bedrock', 'anthropic.claude-haiku-4-5-20251001-v1:0'],
  openai: ['openai', 'gpt-4.1-mini'],
} as const
type Name = keyof typeof models
const names = ['claude', 'gemini', 'cohere', 'bedrock', 'openai'] as const

const ctx = await startWithProviders(
  names.map((name) => ({
    id: `${name}/small`,
    kind: models[name][0],
    model: models[name][1],
    baseUrl: `http://127.0.0.1:${provider.port}`,
    inputs: ['text', 'image', 'file', 'audio', 'video'],
    maxOutput: 64_000,
  })),
)
const gus = await ctx.gus('5')
afterAll(async () => {
  await ctx.close()
  await provider.stop(true)
})

/** Returns what a provider receives for the request of a client of OpenAI's API. */
async function sentTo(name: Name, body: Json): Promise<Json> {
  const before = seen.length
  const response = await gus.call('POST', '/v1/chat/completions', {
    model: `${name}/small`,
    ...body,
  })
  expect([response.status, seen.length]).toEqual([400, before + 1])
  expect(await ctx.lastUse(gus)).toMatchObject({ charged: 0n, error: 'upstream_rejected' })
  return seen.at(-1)?.body ?? {}
}

const claude = (body: Json) => sentTo('claude', { max_tokens: 100, ...body })
const gemini = (body: Json) => sentTo('gemini', body)

const hello = [{ role: 'user', content: 'hello' }]
const call = (more: Json = {}) => ({
  id: 'call_1',
  type: 'function',
  function: { name: 'look', arguments: '{"at":1}' },
  ...more,
})
const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]

test('every kind has its address, its key, and a header for identity encoding', async () => {
  const found = []
  for (const name of names) {
    for (const stream of [false, true]) {
      await sentTo(name, { messages: hello, stream })
      const { path = '', headers = new Headers() } = seen.at(-1) ?? {}
      const key = ['authorization', 'x-api-key', 'x-goog-api-key'].filter((one) =>
        headers.get(one)?.endsWith(providerKey),
      )
      expect(headers.get('accept-encoding')).toBe('identity')
      expect(headers.get('content-type')).toStartWith('application/json')
      found.push([name, path, ...key])
    }
  }
  const aws = `/model/${encodeURIComponent(models.bedrock[1])}`
  const google = '/models/gemini-3-pro-preview'
  expect(found).toEqual([
    ['claude', '/messages', 'x-api-key'],
    ['claude', '/messages', 'x-api-key'],
    ['gemini', `${google}:generateContent`, 'x-goog-api-key'],
    ['gemini', `${google}:streamGenerateContent?alt=sse`, 'x-goog-api-key'],
    ['cohere', '/chat', 'authorization'],
    ['cohere', '/chat', 'authorization'],
    ['bedrock', `${aws}/converse`, 'authorization'],
    ['bedrock', `${aws}/converse-stream`, 'authorization'],
    ['openai', '/chat/completions', 'authorization'],
    ['openai', '/chat/completions', 'authorization'],
  ])
})

describe('messages', () => {
  test('moves system messages to the front', async () => {
    const conversation = [
      { role: 'system', content: 'One.' },
      ...hello,
      { role: 'assistant', content: 'Yes?' },
      { role: 'system', content: [{ type: 'text', text: 'Two.' }] },
      { role: 'user', content: 'go on' },
    ]
    const turns = [{ role: 'user' }, { role: 'assistant' }, { role: 'user' }]
    for (const name of ['claude', 'bedrock'] as const) {
      const { system, messages } = await sentTo(name, { messages: conversation })
      expect(JSON.stringify(system)).toMatch(/One\..*Two\./)
      expect(messages).toMatchObject(turns)
    }
    const { systemInstruction, contents } = await gemini({ messages: conversation })
    expect(JSON.stringify(systemInstruction)).toMatch(/One\..*Two\./)
    expect(contents).toMatchObject([{ role: 'user' }, { role: 'model' }, { role: 'user' }])
    const { messages } = await sentTo('cohere', { messages: conversation })
    expect(messages).toMatchObject([
      { role: 'system', content: 'One.' },
      { role: 'system', content: 'Two.' },
      ...turns,
    ])
  })

  test('converts images, files, audio and video, inline and by URL', async () => {
    const url = `data:image/png;base64,${fakeImage}`
    const pdf = 'data:application/pdf;base64,JVBERi0='
    const content = [
      { type: 'text', text: 'Look.', cache_control: { type: 'ephemeral' } },
      { type: 'image_url', image_url: { url } },
      { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
      { type: 'file', file: { filename: 'a.pdf', file_data: pdf } },
    ]
    const { messages } = await claude({ messages: [{ role: 'user', content }] })
    expect(messages).toMatchObject([
      {
        content: [
          { type: 'text', text: 'Look.', cache_control: { type: 'ephemeral' } },
          { type: 'image', source: { media_type: 'image/png', data: fakeImage } },
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          { type: 'document', source: { media_type: 'application/pdf', data: 'JVBERi0=' } },
        ],
      },
    ])
    const more = [
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'video_url', video_url: { url: 'https://youtu.be/abc' } },
    ]
    const { contents } = await gemini({ messages: [{ role: 'user', content: more }] })
    expect(contents).toMatchObject([
      {
        parts: [
          { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } },
          { fileData: { fileUri: 'https://youtu.be/abc' } },
        ],
      },
    ])
  })

  test('detects an image type by URL and by bytes', async () => {
    const urls = [
      'https://example.com/a.PNG?size=2',
      'https://example.com/a',
      `DATA:image/png;BASE64,${fakeImage}`,
      `data:image/*;base64,${fakeImage}`,
    ]
    const content = urls.map((url) => ({ type: 'image_url', image_url: { url } }))
    const { contents } = await gemini({ messages: [{ role: 'user', content }] })
    const bytes = { inlineData: { mimeType: 'image/png', data: fakeImage } }
    expect(contents).toMatchObject([
      {
        parts: [
          { fileData: { mimeType: 'image/png', fileUri: urls[0] } },
          { fileData: { mimeType: 'image/jpeg', fileUri: urls[1] } },
          bytes,
          bytes,
        ],
      },
    ])
  })

  test('keeps ids, names and signatures of tool calls and results', async () => {
    const calls = [call(), call({ id: 'call_2' })]
    const responses = calls.map(({ id }) => ({
      role: 'tool',
      tool_call_id: id,
      content: `of ${id}`,
    }))
    const requests = { role: 'assistant', content: null, tool_calls: calls }
    const conversation = { tools, messages: [...hello, requests, ...responses] }
    const { messages } = await claude(conversation)
    expect(messages).toMatchObject([
      { role: 'user' },
      { content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: { at: 1 } }, {}] },
      { content: [{ tool_use_id: 'call_1' }, { tool_use_id: 'call_2' }] },
    ])
    const aws = await sentTo('bedrock', conversation)
    expect(aws.messages).toMatchObject([
      { role: 'user' },
      { content: [{ toolUse: { toolUseId: 'call_1', name: 'look', input: { at: 1 } } }, {}] },
      {
        content: [{ toolResult: { toolUseId: 'call_1' } }, { toolResult: { toolUseId: 'call_2' } }],
      },
    ])
    const cohere = await sentTo('cohere', conversation)
    expect(cohere.messages).toMatchObject([
      { role: 'user' },
      { tool_calls: [call(), call({ id: 'call_2' })] },
      { role: 'tool', tool_call_id: 'call_1', content: 'of call_1' },
      { role: 'tool', tool_call_id: 'call_2', content: 'of call_2' },
    ])
    const signed = call({ extra_content: { google: { thought_signature: 'c2ln' } } })
    const turn = { role: 'assistant', content: null, tool_calls: [signed] }
    const { contents } = await gemini({ tools, messages: [...hello, turn, responses[0]] })
    expect(contents).toMatchObject([
      {},
      { parts: [{ functionCall: { name: 'look', args: { at: 1 } }, thoughtSignature: 'c2ln' }] },
      { parts: [{ functionResponse: { name: 'look' } }] },
    ])
  })
})

describe('thinking', () => {
  const response = { role: 'tool', tool_call_id: 'call_1', content: 'seen' }
  const turn = { role: 'assistant', content: null, tool_calls: [call()] }
  const asks = { tools, reasoning_effort: 'low', max_tokens: 9_000 }

  test('counts reasoning tokens within the requested limit', async () => {
    const sent = await claude({ messages: hello, reasoning_effort: 'high', max_tokens: 9_000 })
    expect(sent).toMatchObject({ max_tokens: 9_000, thinking: { budget_tokens: 7_200 } })
    const few = await claude({ messages: hello, reasoning_effort: 'high', max_tokens: 500 })
    expect([few.max_tokens, few.thinking]).toEqual([500, undefined])
    const aws = { messages: hello, reasoning_effort: 'high', max_tokens: 9_000 }
    expect(await sentTo('bedrock', aws)).toMatchObject({
      inferenceConfig: { maxTokens: 9_000 },
      additionalModelRequestFields: { thinking: { budget_tokens: 7_200 } },
    })
  })

  test('sends signed reasoning back, and disables reasoning without it', async () => {
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 'c2ln' }]
    const messages = [...hello, { ...turn, reasoning_details: details }, response]
    const signed = await claude({ ...asks, messages })
    expect(signed.thinking).toBeDefined()
    expect(signed.messages).toMatchObject([
      {},
      { content: [{ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, { type: 'tool_use' }] },
      {},
    ])
    const unsigned = await claude({ ...asks, messages: [...hello, turn, response] })
    expect(unsigned.thinking).toBeUndefined()
  })
})

describe('settings', () => {
  test('converts numbers, stop sequences and the tool choice', async () => {
    const { body } = { body: { messages: hello, tools, temperature: 0.5, stop: ['END'] } }
    const choice = { type: 'function', function: { name: 'look' } }
    const named = { ...body, tool_choice: choice, parallel_tool_calls: false }
    expect(await claude(named)).toMatchObject({
      model: 'claude-haiku-4-5',
      max_tokens: 100,
      temperature: 0.5,
      stop_sequences: ['END'],
      tools: [{ name: 'look', input_schema: { type: 'object' } }],
      tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
    })
    expect(await sentTo('bedrock', { ...named, max_tokens: 100 })).toMatchObject({
      inferenceConfig: { maxTokens: 100, temperature: 0.5, stopSequences: ['END'] },
      toolConfig: {
        tools: [{ toolSpec: { name: 'look', inputSchema: { json: { type: 'object' } } } }],
      },
      // The field of Anthropic, because Bedrock's own choice has none for parallel calls.
      additionalModelRequestFields: {
        tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      },
    })
    expect(await sentTo('cohere', { ...named, max_tokens: 100 })).toMatchObject({
      model: 'command-a-03-2025',
      max_tokens: 100,
      temperature: 0.5,
      stop_sequences: ['END'],
      tools,
      tool_choice: 'REQUIRED',
    })
    const required = await gemini({ ...body, tool_choice: 'required', max_completion_tokens: 50 })
    expect(required).toMatchObject({
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      generationConfig: { maxOutputTokens: 50, stopSequences: ['END'] },
    })
    const numbers = { top_p: 0.1, top_k: 2, presence_penalty: 0.3, frequency_penalty: 0.4, seed: 5 }
    expect(await gemini({ messages: hello, ...numbers })).toMatchObject({
      generationConfig: {
        topP: 0.1,
        topK: 2,
        presencePenalty: 0.3,
        frequencyPenalty: 0.4,
        seed: 5,
      },
    })
  })

  test('requests structured output by its schema', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'place', schema } }
    const { generationConfig } = await gemini({ messages: hello, response_format })
    expect(generationConfig).toMatchObject({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
    const { output_config } = await claude({ messages: hello, response_format })
    expect(output_config).toMatchObject({ format: { type: 'json_schema', schema } })
    const cohere = await sentTo('cohere', { messages: hello, response_format })
    expect(cohere.response_format).toEqual({ type: 'json_object', json_schema: schema })
  })
})

test('nothing is held after these rejections', async () => {
  const { body } = await gus.call('POST', '/credits/balance')
  expect([Reflect.get(Object(body), 'held'), await ctx.findProblems()]).toEqual([0, []])
})
