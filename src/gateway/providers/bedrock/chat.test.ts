import { expect, test } from 'bun:test'

import { createAmazonBedrock } from '@ai-sdk/amazon-bedrock'
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider'

import type { Json } from '../../../kernel/schema.ts'
import { type ChatEvent, gather } from '../../conversation/chat-event.ts'
import type { ChatRequest, Message } from '../../conversation/chat-request.ts'
import type { Target } from '../../conversation/codec.ts'
import { HttpClient } from '../http-client.ts'
import { bedrockChat, bedrockWholeChat } from './chat.ts'

const claude = 'anthropic.claude-haiku-4-5-20251001-v1:0'
const target: Target = { model: claude, isStream: false, outputMax: 9_000, stopsItself: false }
const signal = AbortSignal.timeout(10_000)
const upstream = {
  name: 'aws',
  baseUrl: 'https://bedrock.example',
  apiKey: 'sk',
  client: new HttpClient(),
}
const png = 'iVBORw0KGgoAAAA'

const text = (value: string, isCached?: boolean) => ({
  type: 'text' as const,
  text: value,
  ...(isCached && { isCached }),
})
const hello: Message = { role: 'user', content: [text('Hello.')] }
const ask = (more: Partial<ChatRequest>): ChatRequest => ({
  messages: [hello],
  tools: [],
  choices: 1,
  sampling: {},
  stop: [],
  extra: {},
  ...more,
})

const reply: Json = {
  output: { message: { role: 'assistant', content: [{ text: 'Ahoy.' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 2, totalTokens: 3 },
}

/** Completes a chat at the package, whose network gives a response. Returns what was sent, too. */
async function complete(request: ChatRequest, { response = reply, to = target } = {}) {
  let sent: Json = {}
  const respond = async (_: unknown, init?: RequestInit) => {
    sent = JSON.parse(String(init?.body))
    return Response.json(response)
  }
  const fetched = Object.assign(respond, { preconnect: fetch.preconnect })
  const provider = createAmazonBedrock({ apiKey: 'sk', region: 'us-east-1', fetch: fetched })
  const events = await bedrockWholeChat(provider.languageModel(to.model), request, to, signal)
  return { events, sent }
}

/** Streams the parts of a fake model. */
async function stream(parts: LanguageModelV4StreamPart[]) {
  const model: LanguageModelV4 = {
    specificationVersion: 'v4',
    provider: 'fake',
    modelId: claude,
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error('unused')),
    async doStream() {
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          },
        }),
      }
    },
  }
  const events: ChatEvent[] = []
  const steps = await bedrockChat(model, ask({}), target, { upstream, signal })
  const read = async () => {
    for await (const step of steps) events.push(...step)
  }
  const error = await read().catch((reason: unknown) => reason)
  return { events, error, types: events.map(({ type }) => type) }
}

const used = {
  inputTokens: { total: 16, noCache: 11, cacheRead: 4, cacheWrite: 1 },
  outputTokens: { total: 7, text: 7, reasoning: undefined },
}
const finish = (raw?: string): LanguageModelV4StreamPart => ({
  type: 'finish',
  finishReason: { unified: raw === undefined ? 'other' : 'stop', raw },
  usage: used,
})

const image = { type: 'image' as const, source: { data: png, mediaType: 'image/jpg' } }
const conversation: Message[] = [
  hello,
  { role: 'system', content: [text('One.', true), text('Two.')] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', text: 'Hm.', signature: 'sig', origin: 'messages' },
      { type: 'thinking', text: 'No.', signature: 'sig', origin: 'gemini' },
      {
        type: 'thinking',
        text: '',
        signature: 'ZGF0YQ==',
        origin: 'messages',
        isEncrypted: true,
      },
      text('I look.'),
      { type: 'call', id: 'functions.look:0', name: 'look', arguments: '{"at":1}' },
      { type: 'call', id: 'b', name: 'look', arguments: '', isCached: true },
    ],
  },
  { role: 'tool', callId: 'functions.look:0', content: [text('seen'), image] },
  { role: 'tool', callId: 'b', content: [text('Fog.')], isError: true, isCached: true },
]

test('a conversation keeps cache points, signed thoughts, and results with images and errors', async () => {
  const { sent } = await complete(
    ask({
      messages: conversation,
      tools: [{ name: 'look', parameters: {}, isCached: true }],
      toolChoice: { mode: 'required', names: ['look'] },
      reasoning: { effort: 'low' },
      isSerial: false,
      stop: ['END'],
    }),
  )
  const point = { cachePoint: { type: 'default' } }
  const { messages, system, toolConfig } = Object(sent)
  expect(system).toEqual([{ text: 'One.' }, point, { text: 'Two.' }, point])
  const [first, second] = messages[1].content.filter((part: Json) => part.toolUse)
  expect(first.toolUse).toMatchObject({ name: 'look', input: { at: 1 } })
  expect(first.toolUse.toolUseId).toMatch(/^[\w-]+$/)
  expect(messages).toEqual([
    { role: 'user', content: [{ text: 'Hello.' }] },
    {
      role: 'assistant',
      content: [
        { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
        { reasoningContent: { redactedContent: 'ZGF0YQ==' } },
        { text: 'I look.' },
        first,
        second,
        point,
      ],
    },
    {
      role: 'user',
      content: [
        {
          toolResult: {
            toolUseId: first.toolUse.toolUseId,
            content: [{ text: 'seen' }, { image: { format: 'png', source: { bytes: png } } }],
          },
        },
        { toolResult: { toolUseId: 'b', content: [{ text: 'Error: Fog.' }] } },
        point,
      ],
    },
  ])
  expect(toolConfig).toMatchObject({
    tools: [
      { toolSpec: { name: 'look', inputSchema: { json: { type: 'object', properties: {} } } } },
    ],
    toolChoice: { tool: { name: 'look' } },
  })
})

test('models without a cache get no cache points, and a system message alone is of the user', async () => {
  const to = { ...target, model: 'meta.llama3-70b' }
  const messages: Message[] = [{ role: 'system', content: [text('Be brief.', true)] }]
  const { sent } = await complete(ask({ messages, isCached: true }), { to })
  expect([sent.system, sent.messages]).toEqual([
    [],
    [{ role: 'user', content: [{ text: 'Be brief.' }] }],
  ])
  const whole = await complete(ask({ isCached: true }))
  expect(whole.sent.messages).toMatchObject([
    { content: [{}, { cachePoint: { type: 'default' } }] },
  ])
})

test('output and thoughts stay within the limit for every model', async () => {
  const sentTo = async (model: string, more: Partial<ChatRequest>, outputMax = 9_000) => {
    const { sent } = await complete(ask(more), { to: { ...target, model, outputMax } })
    return Object(sent)
  }
  const high = { reasoning: { effort: 'high' } }
  const thinking = await sentTo(claude, high)
  expect(thinking.inferenceConfig.maxTokens).toBe(9_000)
  expect(thinking.additionalModelRequestFields.thinking.budget_tokens).toBe(7_200)
  const few = await sentTo(claude, high, 500)
  expect(few.inferenceConfig.maxTokens).toBe(500)
  expect(few.additionalModelRequestFields?.thinking).toBeUndefined()
  // The package would leave the limit out for a high effort of this model.
  const nova = await sentTo('amazon.nova-2-lite-v1:0', high)
  expect(nova.inferenceConfig.maxTokens).toBe(9_000)
  expect((await sentTo(claude, { outputMax: 50 })).inferenceConfig).toEqual({ maxTokens: 50 })
})

test('a tool call without its signature continues without thoughts', async () => {
  const messages: Message[] = [
    hello,
    { role: 'assistant', content: [{ type: 'call', id: 'a', name: 'look', arguments: '{}' }] },
    { role: 'tool', callId: 'a', content: [text('seen')] },
  ]
  const tools = [{ name: 'look' }]
  const { sent } = await complete(ask({ messages, tools, reasoning: { effort: 'high' } }))
  expect(sent.additionalModelRequestFields).toBeUndefined()
})

test('a tool call whose arguments are no JSON keeps their text', async () => {
  const messages: Message[] = [
    hello,
    { role: 'assistant', content: [{ type: 'call', id: 'a', name: 'look', arguments: '{"at":' }] },
    { role: 'tool', callId: 'a', content: [text('No JSON.')], isError: true },
  ]
  const { sent } = await complete(ask({ messages, tools: [{ name: 'look' }] }))
  expect(Object(sent).messages[1].content).toEqual([
    { toolUse: { toolUseId: 'a', name: 'look', input: { arguments: '{"at":' } } },
  ])
})

test('a whole response has its thoughts, signatures, calls, stop sequence and cache counts', async () => {
  const response = {
    output: {
      message: {
        role: 'assistant',
        content: [
          { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
          { reasoningContent: { redactedContent: 'ZGF0YQ==' } },
          { text: 'I look.' },
          { toolUse: { toolUseId: 'a', name: 'look', input: { at: 1 } } },
        ],
      },
    },
    stopReason: 'tool_use',
    additionalModelResponseFields: { delta: { stop_sequence: 'END' } },
    usage: {
      inputTokens: 11,
      outputTokens: 7,
      totalTokens: 23,
      cacheReadInputTokens: 4,
      cacheWriteInputTokens: 1,
    },
  }
  const { events } = await complete(ask({ tools: [{ name: 'look' }] }), { response })
  expect(events).toEqual([
    { type: 'start' },
    { type: 'thinking', choice: 0, text: 'Hm.' },
    { type: 'signature', choice: 0, signature: 'sig', origin: 'messages' },
    { type: 'signature', choice: 0, signature: 'ZGF0YQ==', isEncrypted: true, origin: 'messages' },
    { type: 'text', choice: 0, text: 'I look.' },
    { type: 'call', choice: 0, call: 0, id: 'a', name: 'look' },
    { type: 'arguments', choice: 0, call: 0, text: '{"at":1}' },
    { type: 'end', choice: 0, reason: 'calls', stop: 'END' },
    {
      type: 'usage',
      usage: { prompt: 16, cached: 4, cacheWrite: 1, completion: 7, isCorrected: false },
    },
    { type: 'done' },
  ])
})

test('a stream has the same steps, with parallel calls and one without arguments', async () => {
  const signed = { bedrock: { signature: 'sig' } }
  const { events, types, error } = await stream([
    { type: 'stream-start', warnings: [] },
    { type: 'response-metadata', id: 'r1', timestamp: new Date(1_700_000_000_000) },
    { type: 'reasoning-start', id: '0' },
    { type: 'reasoning-delta', id: '0', delta: 'Hm.' },
    { type: 'reasoning-delta', id: '0', delta: '', providerMetadata: signed },
    { type: 'reasoning-end', id: '0' },
    { type: 'text-delta', id: '1', delta: 'I look.' },
    { type: 'tool-input-start', id: 'a', toolName: 'look' },
    { type: 'tool-input-start', id: 'b', toolName: 'look' },
    { type: 'tool-input-delta', id: 'a', delta: '{"at":1}' },
    { type: 'tool-call', toolCallId: 'a', toolName: 'look', input: '{"at":1}' },
    { type: 'tool-call', toolCallId: 'b', toolName: 'look', input: '{}' },
    finish('tool_use'),
  ])
  expect(error).toBeUndefined()
  expect(types.slice(-3)).toEqual(['end', 'usage', 'done'])
  expect(gather(events)).toEqual({
    id: 'r1',
    created: 1_700_000_000,
    choices: [
      {
        content: [
          { type: 'thinking', text: 'Hm.', signature: 'sig', origin: 'messages' },
          text('I look.'),
          { type: 'call', id: 'a', name: 'look', arguments: '{"at":1}' },
          { type: 'call', id: 'b', name: 'look', arguments: '{}' },
        ],
        citations: [],
        logprobs: [],
        reason: 'calls',
      },
    ],
  })
})

test('a cut stream throws, and an error of the provider is an event without the key', async () => {
  const delta: LanguageModelV4StreamPart = { type: 'text-delta', id: '1', delta: 'A' }
  const cut = await stream([delta, finish()])
  expect([cut.types, Object(cut.error).kind]).toEqual([['text', 'usage'], 'reset'])
  const broken = await stream([delta, { type: 'error', error: new Error('no JSON') }])
  expect([broken.types, Object(broken.error).kind]).toEqual([['text'], 'reset'])
  const failed = await stream([
    delta,
    { type: 'error', error: { statusCode: 429, message: 'Slow down, sk.' } },
    finish(),
  ])
  expect(failed.error).toBeUndefined()
  expect(failed.events).toMatchObject([
    { type: 'text' },
    { type: 'error', error: { message: 'Slow down, [key].', status: 429, code: null } },
    { type: 'usage' },
  ])
})

test.each([undefined, { inputTokens: '1' }])(
  'a whole response with the usage %p has all but that',
  async (usage) => {
    const content = [
      { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'sig' } } },
      { reasoningContent: { redactedContent: 'ZGF0YQ==' } },
      { text: 'I look.' },
      { toolUse: { toolUseId: 'a', name: 'look', input: { at: 1 } } },
      { toolUse: { toolUseId: 'b', name: 'json' } },
    ]
    const stopReason = 'max_tokens'
    const more = { additionalModelResponseFields: { delta: { stop_sequence: 'END' } } }
    const output = { message: { role: 'assistant', content } }
    const response = { ...reply, output, stopReason, ...more, usage }
    const { events } = await complete(ask({ tools: [{ name: 'look' }] }), { response })
    expect(events).toEqual([
      { type: 'start' },
      { type: 'thinking', choice: 0, text: 'Hm.' },
      { type: 'signature', choice: 0, signature: 'sig', origin: 'messages' },
      {
        type: 'signature',
        choice: 0,
        signature: 'ZGF0YQ==',
        isEncrypted: true,
        origin: 'messages',
      },
      { type: 'text', choice: 0, text: 'I look.' },
      { type: 'call', choice: 0, call: 0, id: 'a', name: 'look' },
      { type: 'arguments', choice: 0, call: 0, text: '{"at":1}' },
      { type: 'call', choice: 0, call: 1, id: 'b', name: 'json' },
      { type: 'arguments', choice: 0, call: 1, text: '{}' },
      { type: 'end', choice: 0, reason: 'length', stop: 'END' },
      { type: 'done' },
    ])
    const format = { type: 'schema', schema: { type: 'object' } } as const
    const asJson = await complete(ask({ format }), { response })
    expect(asJson.events.filter(({ type }) => type === 'text')).toEqual([
      { type: 'text', choice: 0, text: 'I look.' },
      { type: 'text', choice: 0, text: '{}' },
    ])
  },
)

test('a whole response without content is an error', async () => {
  await expect(complete(ask({}), { response: { usage: {} } })).rejects.toThrow()
})

test('several choices and custom tools are an error', async () => {
  await expect(complete(ask({ choices: 2 }))).rejects.toThrow()
  await expect(complete(ask({ tools: [{ name: 'patch', isCustom: true }] }))).rejects.toThrow()
})
