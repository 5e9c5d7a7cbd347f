import { afterAll, describe, expect, test } from 'bun:test'

import { LLMock } from '@copilotkit/aimock'

import type { GatewayUser } from '../../testing/fixtures/gateway.ts'
import { providerKey, startWithProviders } from '../../testing/fixtures/with-providers.ts'
import { chargeOf } from '../models/charge.ts'
import { createUsage, type Usage } from '../models/usage.ts'

const mock = new LLMock({ port: 0 })
const result = { content: 'Ahoy, wörld 👋.', usage: { input_tokens: 11, output_tokens: 7 } }
const gemini = { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 }
const openai = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const weather = '{"city":"Köln"}'

const kinds = [
  { id: 'claude/small', kind: 'anthropic', base: '/v1', model: 'claude-haiku-4-5' },
  { id: 'gemini/small', kind: 'google', base: '/v1beta', model: 'gemini-2.5-flash' },
  { id: 'cohere/small', kind: 'cohere', base: '/v2', model: 'command-r-08-2024' },
  { id: 'nova/small', kind: 'bedrock', base: '', model: 'amazon.nova-lite' },
  { id: 'gpt/small', kind: 'openai', base: '/v1', model: 'gpt-4.1-mini' },
]

mock.on(
  { userMessage: 'weather', hasToolResult: false },
  { toolCalls: [{ name: 'get_weather', arguments: weather }] },
)
const usage = { ...result.usage, ...gemini, ...openai }
mock.on({ userMessage: 'weather', hasToolResult: true }, { content: 'It rains.', usage })
mock.on({ userMessage: 'hello' }, { ...result, usage })
mock.on({ userMessage: 'think' }, { ...result, usage, reasoning: 'Let me see.' })
mock.on({ userMessage: 'too much' }, { error: { message: 'Slow down.' }, status: 429 })
mock.on({ userMessage: 'cut' }, { ...result, usage }, { truncateAfterChunks: 4, chunkSize: 2 })
await mock.start()

const { content: text } = result
const thought = { text: 'Let me see.', signature: 'c2ln' }
const openaiMessage = { role: 'assistant', content: text, reasoning_content: thought.text }
const googleParts = [{ text: thought.text, thought: true }, { text }]
const billed = { input_tokens: 11, output_tokens: 7 }
const details = {
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
}

/** A response of each kind with thoughts, and with a cache of the prompt. */
const cachedResponses: Record<string, object> = {
  anthropic: {
    id: 'msg_1',
    content: [
      { type: 'thinking', thinking: thought.text, signature: thought.signature },
      { type: 'text', text },
    ],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 5,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 2,
      output_tokens: 7,
    },
  },
  google: {
    candidates: [
      { index: 0, content: { role: 'model', parts: googleParts }, finishReason: 'STOP' },
    ],
    usageMetadata: {
      ...gemini,
      cachedContentTokenCount: 4,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
    },
  },
  cohere: {
    id: 'c1',
    message: {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: thought.text },
        { type: 'text', text },
      ],
    },
    finish_reason: 'COMPLETE',
    usage: { billed_units: billed, tokens: billed, cached_tokens: 4 },
  },
  bedrock: {
    output: {
      message: {
        role: 'assistant',
        content: [{ reasoningContent: { reasoningText: thought } }, { text }],
      },
    },
    stopReason: 'end_turn',
    usage: {
      inputTokens: 5,
      outputTokens: 7,
      totalTokens: 18,
      cacheReadInputTokens: 4,
      cacheWriteInputTokens: 2,
    },
  },
  openai: {
    id: 'o1',
    object: 'chat.completion',
    choices: [{ index: 0, message: openaiMessage, finish_reason: 'stop' }],
    usage: { ...openai, ...details },
  },
}
const own = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => Response.json(cachedResponses[new URL(url).pathname.split('/')[1] ?? '']),
})
const ctx = await startWithProviders([
  ...kinds.map(({ base, ...model }) => ({ ...model, baseUrl: mock.url + base })),
  ...kinds.map(({ kind, model }) => ({
    id: `own/${kind}`,
    kind,
    model,
    baseUrl: `http://127.0.0.1:${own.port}/${kind}`,
  })),
])
afterAll(async () => {
  await ctx.close()
  await own.stop(true)
  await mock.stop()
})

const tools = [
  {
    type: 'function',
    function: {
      name: 'get_weather',
      parameters: { type: 'object', properties: { city: { type: 'string' } } },
    },
  },
]

const ask = async (id: string, content: string, more: Record<string, unknown> = {}) => {
  const gus = await ctx.gus()
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content },
  ]
  const body = { model: id, messages, max_tokens: 100, ...more }
  return { gus, response: await gus.call('POST', '/v1/chat/completions', body) }
}

const heldBy = async (gus: GatewayUser): Promise<unknown> =>
  Reflect.get(Object((await gus.call('POST', '/credits/balance')).body), 'held')

/** Returns the charge at the price of the fake models. */
const costOf = (id: string, used: Partial<Usage>) => {
  const price = ctx.ctx.catalog.find(id)?.model.price
  if (!price) throw new Error('no price')
  return chargeOf(price, createUsage(used))
}

interface Chunk {
  choices: { delta: Delta; finish_reason: string | null }[]
  error?: unknown
}

interface Delta {
  content?: string
  reasoning_content?: string
  tool_calls?: { id?: string; function?: { arguments?: string } }[]
}

const chunksOf = (text: unknown): Chunk[] =>
  String(text)
    .split('\n\n')
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)))

describe.each(kinds)('$kind', ({ id, kind, model }) => {
  test('returns the text and charges it exactly', async () => {
    const { gus, response } = await ask(id, 'hello')
    expect(response.status).toBe(200)
    expect(response.body).toMatchObject({
      object: 'chat.completion',
      system_fingerprint: null,
      choices: [{ index: 0, message: { role: 'assistant', content: result.content } }],
      usage: { ...openai, cost: 0.000039 },
    })
    const use = await ctx.lastUse(gus)
    expect(use).toMatchObject({ status: 'completed', input: 11, output: 7, estimated: false })
    expect(use.charged).toBe(costOf(id, { prompt: 11, completion: 7 }))
    expect(await ctx.findProblems()).toEqual([])
    const seen = mock.getLastRequest()
    expect(JSON.stringify(seen?.body)).toContain('Be brief.')
    expect(JSON.stringify(seen)).toContain(kind === 'google' ? 'gemini-2.5-flash' : model)
  })

  test('streams the same text, the requested usage, and [DONE]', async () => {
    const options = { include_usage: true }
    const { gus, response } = await ask(id, 'hello', {
      stream: true,
      stream_options: options,
    })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const chunks = chunksOf(response.body)
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')
    expect(text).toBe(result.content)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: openai })
    expect(chunks.filter((chunk) => 'usage' in chunk)).toHaveLength(1)
    expect(chunks.map(({ choices }) => choices[0]?.finish_reason).filter(Boolean)).toEqual(['stop'])
    expect(String(response.body)).toEndWith('data: [DONE]\n\n')
    const { charged } = await ctx.lastUse(gus)
    expect(charged).toBe(costOf(id, { prompt: 11, completion: 7 }))
  })

  test('calls a tool, plain and streamed, and sends its result', async () => {
    const { response } = await ask(id, 'weather', { tools })
    const [choice] = Object(response.body).choices
    expect(choice.finish_reason).toBe('tool_calls')
    const [call] = choice.message.tool_calls
    expect(call).toMatchObject({ type: 'function', function: { name: 'get_weather' } })
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Köln' })

    const streamed = await ask(id, 'weather', { tools, stream: true })
    const deltas = chunksOf(streamed.response.body).flatMap(
      ({ choices }) => choices[0]?.delta.tool_calls ?? [],
    )
    expect(deltas[0]).toMatchObject({ index: 0, function: { name: 'get_weather' } })
    expect(deltas[0]?.id).toBeString()
    const written = deltas.map((delta) => delta.function?.arguments ?? '').join('')
    expect(JSON.parse(written)).toEqual({ city: 'Köln' })

    const messages = [
      { role: 'user', content: 'weather' },
      choice.message,
      { role: 'tool', tool_call_id: call.id, content: 'rain' },
    ]
    const after = await ask(id, '', { tools, messages })
    expect(Object(after.response.body).choices[0].message.content).toBe('It rains.')
    const sent = JSON.stringify(mock.getLastRequest()?.body)
    expect(sent).toContain('rain')
    expect(sent).toContain(call.id)
  })

  test('reports a busy provider without a charge', async () => {
    const { gus, response } = await ask(id, 'too much')
    expect(response.status).toBe(429)
    expect(await ctx.lastUse(gus)).toMatchObject({ charged: 0n, status: 'failed' })
  })

  test('ends a cut stream with an error and charges the delivered part', async () => {
    const { gus, response } = await ask(id, 'cut', { stream: true })
    expect(response.status).toBe(200)
    expect(String(response.body)).not.toContain('[DONE]')
    expect(chunksOf(response.body).at(-1)?.error).toMatchObject({ code: 'upstream_stream_error' })
    const { charged, held } = await ctx.lastUse(gus)
    expect(charged > 0n && charged < held).toBe(true)
    expect(JSON.stringify([response.body, ctx.warnings])).not.toContain(providerKey)
  })
})

// The mock's Cohere has its thoughts in a text.
test.each(kinds.filter(({ kind }) => kind !== 'cohere'))(
  '$kind: thoughts are separate from the reply, plain and streamed',
  async ({ id }) => {
    const { response } = await ask(id, 'think', {
      reasoning_effort: 'low',
      max_tokens: 900,
    })
    expect(Object(response.body).choices[0].message).toMatchObject({
      content: result.content,
      reasoning_content: 'Let me see.',
    })
    const streamed = await ask(id, 'think', { stream: true })
    const thoughts = chunksOf(streamed.response.body).map(
      ({ choices }) => choices[0]?.delta.reasoning_content ?? '',
    )
    expect(thoughts.join('')).toBe('Let me see.')
  },
)

test.each(kinds)('$kind: charges thoughts and cached tokens exactly', async ({ kind }) => {
  const { gus, response } = await ask(`own/${kind}`, 'hello')
  const written = /anthropic|bedrock/.test(kind) ? 2 : 0
  const reasoning = /google|openai/.test(kind) ? 2 : 0
  const used = { prompt: 11, cached: 4, cacheWrite: written, completion: 7, reasoning }
  expect(Object(response.body).choices).toMatchObject([
    { message: { content: result.content, reasoning_content: 'Let me see.' } },
  ])
  expect(Object(response.body).usage).toMatchObject({
    ...openai,
    prompt_tokens_details: { cached_tokens: 4 },
    completion_tokens_details: { reasoning_tokens: reasoning },
  })
  const use = await ctx.lastUse(gus)
  expect(use).toMatchObject({ input: 11, cached: 4, output: 7, estimated: false })
  expect(use.charged).toBe(costOf(`own/${kind}`, used))
  expect(await heldBy(gus)).toBe(0)
})

const withoutChoices = kinds.filter(({ kind }) => kind !== 'openai')

test.each(withoutChoices)(
  '$kind: rejects what it cannot express, free of charge',
  async ({ id, kind }) => {
    const custom = { tools: [{ type: 'custom', custom: { name: 'patch' } }] }
    const choices = [
      [{ n: 2 }, 'n', 'one choice'],
      [{ n: 2, stream: true }, 'n', 'one choice'],
    ] as const
    const rows = [
      [custom, 'tools', 'not of the type custom'] as const,
      ...(kind === 'google' ? [] : choices),
    ]
    const count = mock.getRequests().length
    for (const [more, param, reason] of rows) {
      const { gus, response } = await ask(id, 'hello', more)
      expect([response.status, response.text('error.param')]).toEqual([400, param])
      expect(response.text('error.message')).toContain(reason)
      const use = await ctx.lastUse(gus)
      expect(use).toMatchObject({ charged: 0n, status: 'failed', error: 'bad_request' })
      expect(await heldBy(gus)).toBe(0)
    }
    expect(mock.getRequests()).toHaveLength(count)
    // Five requests that were never sent are no failures of the upstream.
    for (let times = 0; times < 5; times += 1) await ask(id, 'hello', custom)
    expect((await ask(id, 'hello')).response.status).toBe(200)
    expect(await ctx.findProblems()).toEqual([])
  },
)
