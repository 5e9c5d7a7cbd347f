import { afterAll, describe, expect, test } from 'bun:test'

import { LLMock } from '@copilotkit/aimock'

import { providerKey, startWithProviders } from '../../../testing/fixtures/with-providers.ts'
import { chargeOf } from '../../models/charge.ts'
import { createUsage, type Usage } from '../../models/usage.ts'

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
const ctx = await startWithProviders(
  kinds.map(({ base, ...model }) => ({ ...model, baseUrl: mock.url + base })),
)
afterAll(async () => {
  await ctx.close()
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
    if (kind !== 'google') expect(sent).toContain(call.id)
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

test.each(kinds.filter(({ kind }) => /anthropic|google/.test(kind)))(
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

test('rejects more than one choice', async () => {
  const { gus, response } = await ask('claude/small', 'hello', { n: 2 })
  expect(response.status).toBe(400)
  expect(await ctx.lastUse(gus)).toMatchObject({ charged: 0n })
})

test('rejects custom tools by name', async () => {
  const tools = [{ type: 'custom', custom: { name: 'patch' } }]
  const { gus, response } = await ask('claude/small', 'hello', { tools })
  const reason = expect.stringContaining('not of the type custom')
  expect([response.status, response.text('error.message')]).toEqual([400, reason])
  expect(await ctx.lastUse(gus)).toMatchObject({ charged: 0n })
})
