/**
 * Tests the codec in both directions. The requests that one direction writes are those that the
 * other reads, so they are in one file.
 */
import { describe, expect, test } from 'bun:test'

import { ApiError } from '../../kernel/errors.ts'
import type { Json } from '../../kernel/schema.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import type { ChatRequest, Message, OutputFormat } from '../conversation/chat-request.ts'
import { encodeNamedEvents, EventReader } from '../events.ts'
import { createUsage } from '../models/usage.ts'
import { decodeMessages } from './decode.ts'
import { messagesCodec } from './encode.ts'
import { createMessagesClient } from './write.ts'

const mark = { cache_control: { type: 'ephemeral' } }
const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const png = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
const hello: Message = { role: 'user', content: [{ type: 'text', text: 'Hello' }] }
const target = { model: 'claude-haiku-4-5', isStream: false, outputMax: 8_192, stopsItself: false }

const chat = (more: Partial<ChatRequest> = {}): ChatRequest => ({
  messages: [hello],
  tools: [],
  choices: 1,
  sampling: {},
  stop: [],
  extra: {},
  ...more,
})
const encoded = (more: Partial<ChatRequest> = {}, to: Partial<typeof target> = {}): Json =>
  messagesCodec.encode(chat(more), { ...target, ...to }).body
const decoded = (body: Json): ChatRequest =>
  decodeMessages({ model: 'a/b', max_tokens: 100, ...body }).request

function problemOf(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    if (error instanceof ApiError) return Object(error.details[0])
    throw error
  }
  return undefined
}

const agentMessages = [
  { role: 'user', content: [{ type: 'text', text: 'Read it.', ...mark }] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
      { type: 'redacted_thinking', data: 'secret' },
      { type: 'text', text: 'Reading.', ...mark },
      { type: 'tool_use', id: 'call_1', name: 'Read', input: { path: 'a.png' }, ...mark },
      { type: 'tool_use', id: 'call_2', name: 'Read', input: {} },
    ],
  },
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'call_1',
        ...mark,
        content: [
          { type: 'text', text: 'An image.' },
          { type: 'image', source: png },
        ],
      },
      { type: 'tool_result', tool_use_id: 'call_2', content: 'No such file.', is_error: true },
      { type: 'text', text: 'Go on.' },
    ],
  },
]

describe('a request of a client', () => {
  const request = decoded({
    system: [{ type: 'text', text: 'Be brief.', ...hour }],
    messages: [...agentMessages, { role: 'system', content: 'Agents: none.' }],
    tools: [{ name: 'Read', description: 'Reads.', input_schema: {}, strict: true, ...mark }],
    tool_choice: { type: 'any', disable_parallel_tool_use: true },
    stop_sequences: ['END'],
    temperature: 1,
    top_k: 5,
    ...mark,
  })

  test('keeps its thinking, the order of its blocks, and its cache marks', () => {
    expect(request).toMatchObject({
      tools: [{ name: 'Read', isStrict: true, isCached: true }],
      toolChoice: 'required',
      isSerial: true,
      outputMax: 100,
      sampling: { temperature: 1, topK: 5 },
      stop: ['END'],
      isCached: true,
    })
    expect(request.messages).toEqual([
      {
        role: 'system',
        content: [
          { type: 'text', text: 'Be brief.', isCached: true },
          { type: 'text', text: 'Agents: none.' },
        ],
      },
      { role: 'user', content: [{ type: 'text', text: 'Read it.', isCached: true }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'Hm.', signature: 'signed', origin: 'messages' },
          {
            type: 'thinking',
            text: '',
            signature: 'secret',
            origin: 'messages',
            isEncrypted: true,
          },
          { type: 'text', text: 'Reading.', isCached: true },
          {
            type: 'call',
            id: 'call_1',
            name: 'Read',
            arguments: '{"path":"a.png"}',
            isCached: true,
          },
          { type: 'call', id: 'call_2', name: 'Read', arguments: '{}' },
        ],
      },
      {
        role: 'tool',
        callId: 'call_1',
        content: [
          { type: 'text', text: 'An image.' },
          { type: 'image', source: { data: png.data, mediaType: 'image/png' } },
        ],
        isCached: true,
      },
      {
        role: 'tool',
        callId: 'call_2',
        content: [{ type: 'text', text: 'No such file.' }],
        isError: true,
      },
      { role: 'user', content: [{ type: 'text', text: 'Go on.' }] },
    ])
  })

  test('comes back from a conversation as it was', () => {
    const { messages } = decoded({ messages: agentMessages })
    expect(encoded({ messages }).messages).toEqual(agentMessages)
  })

  test.each(['', 'berth.chat.'])('keeps thinking with the signature %p as text', (signature) => {
    const content = [{ type: 'thinking', thinking: 'Hm.', signature }]
    const { messages } = decoded({ messages: [{ role: 'assistant', content }] })
    expect(messages).toEqual([{ role: 'assistant', content: [{ type: 'thinking', text: 'Hm.' }] }])
  })

  test('has documents and images from every source', () => {
    const url = 'https://files.test/a'
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi' }
    const content = [
      { type: 'image', source: { type: 'url', url } },
      { type: 'image', source: { type: 'file', file_id: 'file-1' } },
      { type: 'image', source: { ...png, media_type: 'image/jpg' } },
      { type: 'document', source: pdf, ...mark },
      { type: 'document', title: 'a.pdf', source: { type: 'url', url } },
      { type: 'document', source: { type: 'file', file_id: 'file-2' } },
      { type: 'document', title: 'a.txt', context: 'Old.', source: { type: 'text', data: 'W.' } },
      { type: 'document', source: { type: 'content', content: 'Blocks.' } },
      { type: 'search_result', title: 'T', source: url, content: [{ type: 'text', text: 'F.' }] },
      { type: 'text', text: '' },
    ]
    const request = decoded({ messages: [{ role: 'user', content }] })
    expect(request.raw).toBeUndefined()
    expect(request.messages[0]?.content).toEqual([
      { type: 'image', source: { url } },
      { type: 'image', source: { fileId: 'file-1' } },
      { type: 'image', source: { data: png.data, mediaType: 'image/png' } },
      {
        type: 'file',
        source: { data: 'JVBERi', mediaType: 'application/pdf' },
        filename: 'document.pdf',
        isCached: true,
      },
      { type: 'file', source: { url }, filename: 'a.pdf' },
      { type: 'file', source: { fileId: 'file-2' } },
      { type: 'text', text: 'Old.' },
      { type: 'text', text: 'File "a.txt":\nW.' },
      { type: 'text', text: 'Blocks.' },
      { type: 'text', text: `T\n${url}\nF.` },
    ])
  })

  test('has a choice, a reasoning, a format and a search', () => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const tools = [{ name: 'Read', input_schema: {}, input_examples: [{ a: 1 }] }]
    const one = { type: 'tool', name: 'Read' }
    expect(decoded({ messages, tools, tool_choice: one })).toMatchObject({
      tools: [{ description: '\nExample: {"a":1}' }],
      toolChoice: { mode: 'required', names: ['Read'] },
    })
    const reasoning = (more: Json) => decoded({ messages, ...more }).reasoning
    const budget = (budget_tokens: number) => ({ thinking: { type: 'enabled', budget_tokens } })
    const shown = { summary: 'auto' }
    expect(reasoning(budget(10_000))).toEqual({ effort: 'medium', budget: 10_000, ...shown })
    expect(reasoning({ thinking: { type: 'adaptive' } })).toEqual(shown)
    expect(reasoning({ thinking: { type: 'adaptive', display: 'omitted' } })).toBeUndefined()
    expect(reasoning({ thinking: { type: 'disabled' } })).toBeUndefined()
    expect(reasoning({ output_config: { effort: 'high' } })).toBeUndefined()
    expect(reasoning({ output_config: { effort: 'low' } })).toEqual({ effort: 'low' })
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    const format = { type: 'json_schema', schema }
    const strict: OutputFormat = { type: 'schema', name: 'output', schema, isStrict: true }
    expect(decoded({ messages, output_config: { format } }).format).toEqual(strict)
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 8 }
    const found = decodeMessages({ messages, tools: [search], tool_choice: one, stream: true })
    expect(found).toMatchObject({ search: true, isStream: true, showsThinking: true })
    expect(found.request.raw).toBeUndefined()
  })

  test.each<[string, Json, string]>([
    ['container', { container: 'c' }, 'container'],
    ['thread', { thread: { type: 'create' } }, 'thread'],
    ['stream', { stream: 'yes' }, 'stream'],
    ['max_tokens', { max_tokens: 0 }, 'max_tokens'],
    ['temperature', { temperature: 'hot' }, 'temperature'],
    ['thinking', { thinking: { type: 'enabled' } }, 'thinking'],
    ['task_budget', { output_config: { task_budget: {} } }, 'output_config'],
    ['edits', { context_management: { edits: [{ type: 'compact_1' }] } }, 'context_management'],
    ['system', { system: 7 }, 'system'],
    ['an image in system', { system: [{ type: 'image', source: png }] }, 'system'],
    ['a tool of Anthropic', { tools: [{ type: 'bash_20250124', name: 'bash' }] }, 'tools'],
    ['few searches', { tools: [{ type: 'web_search_1', max_uses: 1 }] }, 'tools'],
    ['a choice without tools', { tool_choice: { type: 'any' } }, 'tool_choice'],
    ['a role', { messages: [{ role: 'tool', content: 'x' }] }, 'messages'],
    [
      'a block',
      { messages: [{ role: 'user', content: [{ type: 'server_tool_use' }] }] },
      'messages',
    ],
    [
      'an unknown call',
      { messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'x' }] }] },
      'messages',
    ],
  ])('that has no equivalent names the field: %s', (_, body, param) => {
    const messages = [{ role: 'user', content: 'Hello' }]
    const problem = problemOf(() => decoded({ messages, ...body }))
    expect(problem).toMatchObject({ param, problem: expect.any(String) })
  })
})

test('signatures of calls return to them where a client moves all thoughts to the start', () => {
  const seal = (text: string) => ({
    type: 'thinking',
    thinking: '',
    signature: `berth.gemini.${text}`,
  })
  const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
  const text = { type: 'text', text: 'I look.' }
  const contents = [
    [seal('a'), text, use('c1'), seal('b'), use('c2')],
    [seal('a'), seal('b'), text, use('c1'), use('c2')],
  ]
  for (const content of contents) {
    const { messages } = decodeMessages({ messages: [{ role: 'assistant', content }] }).request
    expect(messages).toMatchObject([
      { content: [{ type: 'text' }, { id: 'c1', signature: 'a' }, { id: 'c2', signature: 'b' }] },
    ])
  }
})

describe('an upstream with the API of the client', () => {
  test('gets the request itself, without what would cost more', () => {
    const headers = new Headers({
      'anthropic-beta': 'effort-2025-11-24,fast-mode-2026-02-01,context-1m-2025-08-07',
    })
    const unsigned = { type: 'thinking', thinking: 'Unsigned.', signature: '' }
    const foreign = { type: 'thinking', thinking: '', signature: 'berth.gemini.c2ln' }
    const signed = { type: 'thinking', thinking: 'Hm.', signature: 'signed' }
    const text = { type: 'text', text: 'Again.' }
    const { request } = decodeMessages(
      {
        model: 'a/b',
        max_tokens: 50_000,
        system: [{ ...text, ...hour }],
        messages: [
          {
            role: 'assistant',
            content: [unsigned, foreign, signed, { type: 'text', text: '' }, text],
          },
          {
            role: 'user',
            content: [
              { type: 'document', source: { type: 'content', content: [{ ...text, ...hour }] } },
            ],
          },
        ],
        tools: [{ name: 'Read', input_schema: { type: 'object' }, ...hour }],
        metadata: { user_id: 'one' },
        service_tier: 'auto',
        provider: {},
        thinking: { type: 'enabled', budget_tokens: 40_000 },
      },
      headers,
    )
    const { path, body, headers: sent } = messagesCodec.encode(request, target)
    expect(path).toBe('/messages')
    expect(sent).toEqual({
      'anthropic-version': '2023-06-01',
      'anthropic-beta': 'effort-2025-11-24',
    })
    expect(body).toEqual({
      model: 'claude-haiku-4-5',
      max_tokens: 8_192,
      system: [{ ...text, ...mark }],
      messages: [
        { role: 'assistant', content: [signed, text] },
        {
          role: 'user',
          content: [
            { type: 'document', source: { type: 'content', content: [{ ...text, ...mark }] } },
          ],
        },
      ],
      tools: [{ name: 'Read', input_schema: { type: 'object' }, ...mark }],
      metadata: { user_id: 'one' },
      thinking: { type: 'enabled', budget_tokens: 6_553 },
    })
  })

  test('gets no text without a visible character, and only ids that Anthropic takes', () => {
    const blank = { type: 'text', text: ' \n' }
    const text = { type: 'text', text: 'Read.' }
    const call = { type: 'tool_use', id: 'functions.Read:0', name: 'Read', input: {} }
    const result = { type: 'tool_result', tool_use_id: call.id, content: [blank, text] }
    const { system, messages } = messagesCodec.encode(
      decoded({
        system: [blank, text],
        messages: [
          { role: 'user', content: '' },
          { role: 'user', content: ' \n' },
          { role: 'user', content: [blank, text] },
          { role: 'assistant', content: [call] },
          { role: 'user', content: [result] },
        ],
      }),
      target,
    ).body
    const id = expect.stringMatching(/^call64_[\w-]+$/)
    expect([system, messages]).toEqual([
      [text],
      [
        { role: 'user', content: [text] },
        { role: 'assistant', content: [{ ...call, id }] },
        { role: 'user', content: [{ ...result, tool_use_id: id, content: [text] }] },
      ],
    ])
  })

  test('gets system messages alone as the turn of a user', () => {
    const { messages } = messagesCodec.encode(
      decoded({ messages: [{ role: 'system', content: 'Say hello.' }] }),
      target,
    ).body
    expect(messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'Say hello.' }] }])
  })

  test('gets an output limit also for a request without one', () => {
    const { request } = decodeMessages({ model: 'a/b', messages: [{ role: 'user', content: 'x' }] })
    expect(messagesCodec.encode(request, { ...target, isStream: true }).body).toMatchObject({
      max_tokens: 8_192,
      stream: true,
    })
  })

  test('gets no budget for thinking where the thought of a call is of another model', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: '' },
      { type: 'tool_use', id: 'a', name: 'Read', input: {} },
    ]
    const messages = [
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'x' }] },
    ]
    const own = (thinking: Json) =>
      messagesCodec.encode(decoded({ messages, thinking }), target).body.thinking
    expect(own({ type: 'enabled', budget_tokens: 2_000 })).toBeUndefined()
    expect(own({ type: 'adaptive' })).toEqual({ type: 'adaptive' })
  })
})

describe('a conversation of another API', () => {
  const call = (id: string, more: Json = {}): Message => ({
    role: 'assistant',
    content: [{ type: 'call', id, name: 'look', arguments: '{"at":1}', ...more }],
  })
  const result = (callId: string): Message => ({
    role: 'tool',
    callId,
    content: [{ type: 'text', text: 'seen' }],
  })
  const tools = [{ name: 'look', parameters: {} }]

  test('never sends more output than is held, nor than the model has', () => {
    expect(encoded().max_tokens).toBe(8_192)
    expect(encoded({ outputMax: 100 }).max_tokens).toBe(100)
    expect(encoded({ outputMax: 100_000 }).max_tokens).toBe(8_192)
    expect(encoded({}, { model: 'claude-3-haiku-20240307' }).max_tokens).toBe(4_096)
  })

  test('alternates its roles, with results first', () => {
    const messages = [hello, hello, call('a'), call('b'), result('a'), result('b'), hello]
    const text = { type: 'text', text: 'Hello' }
    const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: { at: 1 } })
    const seen = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'seen' })
    expect(encoded({ messages }).messages).toEqual([
      { role: 'user', content: [text, text] },
      { role: 'assistant', content: [use('a'), use('b')] },
      { role: 'user', content: [seen('a'), seen('b'), text] },
    ])
  })

  test('of only a system message becomes the turn of a user', () => {
    const messages: Message[] = [{ role: 'system', content: [{ type: 'text', text: 'Be brief.' }] }]
    expect(encoded({ messages })).toMatchObject({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Be brief.' }] }],
    })
    expect(encoded({ messages })).not.toHaveProperty('system')
    expect(encoded({ messages: [...messages, hello] }).system).toEqual([
      { type: 'text', text: 'Be brief.' },
    ])
  })

  test('has ids that Anthropic takes, and arguments that are objects', () => {
    const messages = [hello, call('functions.f:0', { arguments: 'oops' }), result('functions.f:0')]
    const sent = Object(encoded({ messages }).messages)
    const { id, input } = sent[1].content[0]
    expect(id).toMatch(/^[\w-]+$/)
    expect(input).toEqual({ arguments: 'oops' })
    expect(sent[2].content[0].tool_use_id).toBe(id)
  })

  test('sends only thoughts that Anthropic signed, and no empty text', () => {
    const messages: Message[] = [
      hello,
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'Unsigned.' },
          { type: 'thinking', text: 'Google.', signature: 'g', origin: 'gemini' },
          { type: 'thinking', text: 'Hm.', signature: 's', origin: 'messages' },
          { type: 'text', text: '\n' },
          { type: 'text', text: 'Yes. \n' },
        ],
      },
    ]
    expect(encoded({ messages }).messages).toMatchObject([
      { role: 'user' },
      {
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 's' },
          { type: 'text', text: 'Yes.' },
        ],
      },
    ])
  })

  test('thinks within its output, but not with a forced call or an unsigned one', () => {
    const thinking = (effort: string, more: Partial<ChatRequest> = {}) =>
      encoded({ reasoning: { effort }, outputMax: 9_000, ...more }, { outputMax: 9_000 }).thinking
    expect(thinking('high')).toEqual({ type: 'enabled', budget_tokens: 7_200 })
    expect(thinking('minimal')).toEqual({ type: 'enabled', budget_tokens: 1_280 })
    expect(thinking('high', { outputMax: 500 })).toBeUndefined()
    expect(thinking('none')).toEqual({ type: 'disabled' })
    expect(thinking('low', { reasoning: { budget: 2_000 } })).toMatchObject({
      budget_tokens: 2_000,
    })
    expect(thinking('low', { tools, toolChoice: 'required' })).toBeUndefined()
    expect(thinking('low', { tools, messages: [hello, call('a'), result('a')] })).toBeUndefined()
    const thought = { type: 'thinking' as const, text: 'Hm.', signature: 's' }
    const signed: Message = { role: 'assistant', content: [{ ...thought, origin: 'messages' }] }
    const messages = [hello, signed, call('a'), result('a')]
    expect(thinking('low', { tools, messages })).toMatchObject({ type: 'enabled' })
  })

  test('gives newer models an effort, and no sampling', () => {
    const sent = (model: string, effort: string) =>
      encoded(
        { reasoning: { effort }, sampling: { temperature: 1.5, topP: 0.9, topK: 4 } },
        { model },
      )
    expect(sent('claude-opus-4-7', 'xhigh')).toMatchObject({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'xhigh' },
    })
    expect(sent('claude-opus-4-6', 'xhigh').output_config).toEqual({ effort: 'high' })
    expect(sent('claude-sonnet-5-5', 'none').thinking).toEqual({ type: 'between_tools' })
    expect(sent('claude-opus-5-5', 'none')).toMatchObject({ output_config: { effort: 'low' } })
    const shown = encoded({ reasoning: { summary: 'auto' } }, { model: 'claude-opus-4-7' })
    expect(shown.thinking).toEqual({ type: 'adaptive', display: 'summarized' })
    expect(shown).not.toHaveProperty('output_config')
    expect(sent('claude-opus-4-7', 'none')).not.toHaveProperty('temperature')
    const older = sent('claude-haiku-4-5', 'none')
    expect(older).toMatchObject({ temperature: 1, top_k: 4 })
    expect(older).not.toHaveProperty('top_p')
    expect(sent('claude-haiku-4-5', 'low')).not.toHaveProperty('temperature')
    expect(sent('MiniMax-M2', 'none')).toMatchObject({ temperature: 1, top_p: 0.9 })
  })

  test('has its tools, the choice among them, and stop texts', () => {
    const two = [{ name: 'look', parameters: {}, isStrict: true, isCached: true }, { name: 'go' }]
    expect(encoded({ tools: two, isSerial: true, stop: ['END', ' '] })).toMatchObject({
      tools: [
        { name: 'look', input_schema: { type: 'object', properties: {} }, strict: true, ...mark },
        { name: 'go' },
      ],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
    })
    const one = encoded({ tools: two, toolChoice: { mode: 'required', names: ['go'] } })
    expect(one).toMatchObject({
      tools: [{ name: 'look', ...mark }, { name: 'go' }],
      tool_choice: { type: 'tool', name: 'go' },
    })
    expect(encoded({ tools: two, toolChoice: 'required' }).tool_choice).toEqual({ type: 'any' })
    const newer = encoded({ tools: two, toolChoice: 'required' }, { model: 'claude-opus-5-5' })
    expect(newer.tool_choice).toEqual({ type: 'auto' })
  })

  test('writes JSON by its schema, or as the input of a tool', () => {
    const schema = { type: 'object', properties: { city: { type: 'string', minLength: 2 } } }
    const sent = encoded({ format: { type: 'schema', schema } })
    expect(sent.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { city: { type: 'string', description: 'min length: 2.' } },
          additionalProperties: false,
        },
      },
    })
    for (const [format, model] of [
      [{ type: 'schema' as const, schema }, 'claude-3-haiku-20240307'],
      [
        { type: 'schema' as const, schema: { type: 'object', additionalProperties: true } },
        target.model,
      ],
      [{ type: 'schema' as const, schema: { $ref: '#' } }, target.model],
    ] as const) {
      const { tools: [tool] = [], ...body } = Object(encoded({ format }, { model }))
      expect(tool.input_schema).toMatchObject(format.schema)
      expect(body.tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true })
      const content = [{ type: 'tool_use', id: 'a', name: tool.name, input: { city: 'Oslo' } }]
      expect(messagesCodec.readWhole({ content, stop_reason: 'tool_use' })).toEqual([
        { type: 'start' },
        { type: 'text', choice: 0, text: '{"city":"Oslo"}' },
        { type: 'end', choice: 0, reason: 'stop' },
        { type: 'done' },
      ])
    }
  })

  test('has media of users and tools, and marks on each block', () => {
    const image = { data: png.data, mediaType: 'image/jpg' }
    const file = (mediaType: string, text: string) =>
      ({ type: 'file', source: { data: btoa(text), mediaType }, filename: 'a' }) as const
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'image', source: image, isCached: true }] },
      call('a', { isCached: true }),
      {
        role: 'tool',
        callId: 'a',
        content: [{ type: 'image', source: image, isCached: true }],
        isError: true,
      },
      { role: 'user', content: [file('application/pdf', '%PDF-'), file('text/csv', 'a,b')] },
      { role: 'user', content: [{ type: 'image', source: { url: 'https://a.test/b' } }] },
    ]
    expect(encoded({ messages, isCached: true })).toMatchObject({
      ...mark,
      messages: [
        { content: [{ type: 'image', source: png, ...mark }] },
        { content: [{ type: 'tool_use', ...mark }] },
        {
          content: [
            { type: 'tool_result', is_error: true, content: [{ type: 'image' }], ...mark },
            { type: 'document', title: 'a', source: { media_type: 'application/pdf' } },
            { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
            { type: 'image', source: { type: 'url', url: 'https://a.test/b' } },
          ],
        },
      ],
    })
    const marked = Array.from({ length: 6 }, (_, index) => ({
      type: 'text' as const,
      text: String(index),
      isCached: true,
    }))
    const many = JSON.stringify(encoded({ messages: [{ role: 'user', content: marked }] }))
    // The API itself says how many it takes.
    expect(many.match(/cache_control/g)).toHaveLength(6)
  })

  test('that Anthropic cannot answer is rejected by name', () => {
    const param = (more: Partial<ChatRequest>) => Object(problemOf(() => encoded(more))).param
    expect(param({ choices: 2 })).toBe('n')
    expect(param({ tools: [{ name: 'patch', isCustom: true }] })).toBe('tools')
    const audio = { type: 'audio' as const, source: { data: 'UklGRg==', mediaType: 'audio/wav' } }
    expect(param({ messages: [{ role: 'user', content: [audio] }] })).toBe('messages')
    const more = { sampling: { seed: 1 }, logprobs: 0, extra: { user: 'one', store: null } }
    expect(messagesCodec.ignoredFields(chat(more))).toEqual(['user', 'seed', 'logprobs'])
  })
})

const startEvent = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    model: 'claude-haiku-4-5-20251001',
    usage: {
      input_tokens: 5,
      cache_read_input_tokens: 4,
      cache_creation_input_tokens: 2,
      output_tokens: 1,
    },
  },
}

function readStream(...events: Json[]): ChatEvent[] {
  const reader = messagesCodec.createReader()
  return events.flatMap((event) => reader.read(JSON.stringify(event)) ?? [])
}

const begin = (index: number, content_block: Json): Json => ({
  type: 'content_block_start',
  index,
  content_block,
})
const delta = (index: number, of: Json): Json => ({
  type: 'content_block_delta',
  index,
  delta: of,
})
const stop = (index: number): Json => ({ type: 'content_block_stop', index })
const ended = (stop_reason: string, usage: Json = { output_tokens: 7 }): Json[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]

describe('a response of an upstream', () => {
  const page = { type: 'web_search_result_location', url: 'https://a.test', title: 'A' }
  const steps: ChatEvent[] = [
    { type: 'thinking', choice: 0, text: 'Hm.' },
    { type: 'signature', choice: 0, signature: 'signed', origin: 'messages' },
    { type: 'signature', choice: 0, signature: 'secret', isEncrypted: true, origin: 'messages' },
    { type: 'text', choice: 0, text: 'Yes.' },
    { type: 'citation', choice: 0, citation: { url: 'https://a.test', title: 'A' } },
    { type: 'call', choice: 0, call: 0, id: 'a', name: 'look' },
    { type: 'arguments', choice: 0, call: 0, text: '{"at":1}' },
    { type: 'call', choice: 0, call: 1, id: 'b', name: 'go' },
    { type: 'arguments', choice: 0, call: 1, text: '{}' },
    { type: 'end', choice: 0, reason: 'calls' },
  ]
  const usage = { prompt: 11, cached: 4, cacheWrite: 2, completion: 7 }

  test('is the same whole and as a stream', () => {
    const content = [
      { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
      { type: 'redacted_thinking', data: 'secret' },
      { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'x' } },
      { type: 'text', text: 'Yes.', citations: [page] },
      { type: 'tool_use', id: 'a', name: 'look', input: { at: 1 } },
      { type: 'tool_use', id: 'b', name: 'go', input: {} },
    ]
    const own = { ...startEvent.message.usage, output_tokens: 7 }
    const whole = messagesCodec.readWhole({
      id: 'msg_1',
      content,
      stop_reason: 'tool_use',
      usage: own,
    })
    expect(whole[0]).toEqual({ type: 'start', id: 'msg_1' })
    expect(whole.slice(1, -2)).toEqual(steps)
    expect(whole.slice(-2)).toMatchObject([{ type: 'usage', usage }, { type: 'done' }])

    const stream = readStream(
      startEvent,
      { type: 'ping' },
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      delta(0, { type: 'signature_delta', signature: 'signed' }),
      stop(0),
      begin(1, { type: 'redacted_thinking', data: 'secret' }),
      stop(1),
      begin(2, { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }),
      delta(2, { type: 'input_json_delta', partial_json: '{"query":"x"}' }),
      stop(2),
      begin(3, { type: 'text', text: '' }),
      delta(3, { type: 'text_delta', text: 'Yes.' }),
      delta(3, { type: 'citations_delta', citation: page }),
      stop(3),
      begin(4, { type: 'tool_use', id: 'a', name: 'look', input: {} }),
      delta(4, { type: 'input_json_delta', partial_json: '{"at":1}' }),
      stop(4),
      begin(5, { type: 'tool_use', id: 'b', name: 'go', input: {} }),
      stop(5),
      { type: 'new_thing' },
      ...ended('tool_use'),
    )
    const early = { prompt: 11, cached: 4, cacheWrite: 2, completion: undefined }
    expect(stream.slice(0, 2)).toMatchObject([{ id: 'msg_1' }, { type: 'usage', usage: early }])
    expect(stream.slice(2, -2)).toEqual(steps)
    expect(stream.slice(-2)).toMatchObject([{ type: 'usage', usage }, { type: 'done' }])
  })

  test('reports every class of tokens, and none that it did not count', () => {
    const usageOf = (own: unknown) =>
      messagesCodec.readWhole({ content: [], usage: own }).find(({ type }) => type === 'usage')
    expect(usageOf(null)).toBeUndefined()
    expect(usageOf({ input_tokens: 'five' })).toBeUndefined()
    const created = { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 1 }
    const details = { thinking_tokens: 3 }
    expect(
      usageOf({
        input_tokens: 5,
        output_tokens: 7,
        cache_creation: created,
        output_tokens_details: details,
      }),
    ).toMatchObject({ usage: { prompt: 8, cacheWrite: 3, completion: 7, reasoning: 3 } })
    const iterations = [
      { type: 'compaction', input_tokens: 100, output_tokens: 20 },
      { type: 'message', input_tokens: 5, output_tokens: 7 },
    ]
    expect(usageOf({ input_tokens: 5, output_tokens: 7, iterations })).toMatchObject({
      usage: { prompt: 105, completion: 27 },
    })
    const zeros = { input_tokens: 0, cache_read_input_tokens: null, output_tokens: 7 }
    const late = readStream(startEvent, ...ended('end_turn', zeros))
    expect(late).toContainEqual(expect.objectContaining({ usage: expect.objectContaining(usage) }))
  })

  test.each([
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'filtered'],
    ['pause_turn', 'stop'],
    ['end_turn', 'stop'],
  ])('ends by %s', (reason, expected) => {
    const end = { type: 'end', choice: 0, reason: expected }
    expect(readStream(startEvent, ...ended(reason))).toContainEqual(Object(end))
  })

  test('names the stop sequence that ended it', () => {
    expect(
      messagesCodec.readWhole({ stop_reason: 'stop_sequence', stop_sequence: 'END' }),
    ).toContainEqual({
      type: 'end',
      choice: 0,
      reason: 'stop',
      stop: 'END',
    })
  })

  test('that fails or is cut has no proper end', () => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const failed = readStream(startEvent, { type: 'error', error }, ...ended('end_turn'))
    expect(failed.at(-1)).toMatchObject({ type: 'error', error: { ...error, status: 529 } })
    const filtered = {
      type: 'invalid_request_error',
      message: 'blocked by content filtering policy',
    }
    expect(messagesCodec.readWhole({ type: 'error', error: filtered })).toMatchObject([
      { type: 'error', error: { code: 'content_policy_violation' } },
    ])
    const reader = messagesCodec.createReader()
    expect(reader.read('{"type": ')).toBeUndefined()
    expect(reader.end()).toEqual([])
  })
})

describe('a response for a client', () => {
  const options = {
    name: 'n',
    model: 'a/b',
    requestId: 'r',
    showsThinking: true,
    stopSequences: ['END'],
    inputTokens: 9,
  }
  const final = {
    usage: createUsage({ prompt: 100, cached: 60, cacheWrite: 30, completion: 7, reasoning: 3 }),
    cost: 0.5,
  }
  const client = (more: Partial<typeof options> = {}) =>
    createMessagesClient({ ...options, ...more })
  const parse = (bytes: Uint8Array): Json[] =>
    new TextDecoder()
      .decode(bytes)
      .split('\n\n')
      .flatMap((event) => (event ? [JSON.parse(event.split('\ndata: ')[1] ?? '')] : []))
  const streamed = (events: ChatEvent[], more: Partial<typeof options> = {}): Json[] => {
    const writer = client(more).createWriter()
    return [...parse(writer.write(events)), ...parse(writer.end(final))]
  }
  const whole = (events: ChatEvent[], more: Partial<typeof options> = {}): Json =>
    client(more).encode(gather(events), final)

  const choice = 0
  const thought: ChatEvent[] = [
    { type: 'thinking', choice, text: 'Hm.' },
    { type: 'signature', choice, signature: 'signed', origin: 'messages' },
    { type: 'signature', choice, signature: 'secret', origin: 'responses', isEncrypted: true },
    { type: 'text', choice, text: 'Yes.' },
  ]
  const end = (reason: 'stop' | 'calls' | 'length' | 'filtered', more: Json = {}): ChatEvent => ({
    type: 'end',
    choice,
    reason,
    ...more,
  })

  test('starts with the model that was asked for, and ends with usage and cost', () => {
    const events = streamed([{ type: 'text', choice, text: 'Yes.' }, end('stop')])
    const usage = {
      input_tokens: 10,
      cache_creation_input_tokens: 30,
      cache_read_input_tokens: 60,
      output_tokens: 7,
      output_tokens_details: { thinking_tokens: 3 },
      server_tool_use: null,
      cost: 0.5,
    }
    expect(events).toMatchObject([
      { type: 'message_start', message: { id: 'msg_n', model: 'a/b', usage: { input_tokens: 9 } } },
      { type: 'ping' },
      { index: 0, content_block: { type: 'text', text: '', citations: null } },
      { index: 0, delta: { type: 'text_delta', text: 'Yes.' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn', container: null }, usage },
      { type: 'message_stop' },
    ])
    expect(whole([end('stop')])).toMatchObject({ model: 'a/b', content: [], usage })
    expect(parse(client().createWriter().beat())).toEqual([{ type: 'ping' }])
  })

  test('has signed, encrypted and hidden thinking, which comes back as it was', () => {
    const sealed = { type: 'redacted_thinking', data: 'berth.responses.encrypted.secret' }
    const message = whole([...thought, end('stop')])
    expect(message.content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
      sealed,
      { type: 'text', text: 'Yes.', citations: null },
    ])
    const types = streamed(thought).map(({ type, delta: of, content_block: block }) => {
      const inner = Object(of ?? block).type
      return inner ? `${String(type)} ${String(inner)}` : type
    })
    expect(types.slice(2, 9)).toEqual([
      'content_block_start thinking',
      'content_block_delta thinking_delta',
      'content_block_delta signature_delta',
      'content_block_stop',
      'content_block_start redacted_thinking',
      'content_block_stop',
      'content_block_start text',
    ])
    const hidden = { showsThinking: false }
    expect(whole(thought, hidden).content).toMatchObject([
      { thinking: '', signature: 'signed' },
      {},
      {},
    ])
    expect(JSON.stringify(streamed(thought, hidden))).not.toContain('Hm.')
    expect(decoded({ messages: [message] }).messages[0]?.content).toEqual([
      { type: 'thinking', text: 'Hm.', signature: 'signed', origin: 'messages' },
      { type: 'thinking', text: '', signature: 'secret', origin: 'responses', isEncrypted: true },
      { type: 'text', text: 'Yes.' },
    ])
  })

  test("brings Google's signature of a call back, and any id", () => {
    const events: ChatEvent[] = [
      { type: 'call', choice, call: 0, id: 'functions.f:0', name: 'look', signature: 'c2ln' },
      { type: 'arguments', choice, call: 0, text: '{"at":1}' },
      { type: 'call', choice, call: 1, id: 'b', name: 'go' },
      end('calls'),
    ]
    const message = whole(events)
    expect(Object(message.content)[1].id).toMatch(/^[\w-]+$/)
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: '', signature: 'berth.gemini.c2ln' },
      { type: 'tool_use', name: 'look', input: { at: 1 } },
      { type: 'tool_use', id: 'b', input: {} },
    ])
    expect(decoded({ messages: [message] }).messages[0]?.content).toEqual([
      {
        type: 'call',
        id: 'functions.f:0',
        name: 'look',
        arguments: '{"at":1}',
        signature: 'c2ln',
      },
      { type: 'call', id: 'b', name: 'go', arguments: '{}' },
    ])
    expect(streamed(events).slice(2, 6)).toMatchObject([
      { content_block: { type: 'thinking' } },
      { delta: { type: 'signature_delta', signature: 'berth.gemini.c2ln' } },
      { type: 'content_block_stop', index: 0 },
      { index: 1, content_block: { type: 'tool_use', name: 'look' } },
    ])
  })

  test('has calls whose parts alternate', () => {
    const events = streamed([
      { type: 'call', choice, call: 0, id: 'a', name: 'one' },
      { type: 'arguments', choice, call: 0, text: '{"x"' },
      { type: 'call', choice, call: 1, id: 'b', name: 'two' },
      { type: 'arguments', choice, call: 1, text: '{}' },
      { type: 'arguments', choice, call: 0, text: ':1}' },
    ])
    const json = (index: number, partial_json: string): Json =>
      delta(index, { type: 'input_json_delta', partial_json })
    const tool = (index: number, id: string, name: string): Json =>
      begin(index, { type: 'tool_use', id, name, input: {} })
    expect(events.slice(2)).toEqual([
      tool(0, 'a', 'one'),
      json(0, '{"x"'),
      tool(1, 'b', 'two'),
      json(1, '{}'),
      json(0, ':1}'),
      stop(0),
      stop(1),
      expect.objectContaining({ delta: expect.objectContaining({ stop_reason: 'tool_use' }) }),
      { type: 'message_stop' },
    ])
  })

  test('has the same stop reason, plain and streamed', () => {
    const text: ChatEvent = { type: 'text', choice, text: 'x' }
    const cases: [ChatEvent[], string][] = [
      [[text, end('stop')], 'end_turn'],
      [[text, end('stop', { stop: 'END' })], 'stop_sequence'],
      [[text, end('stop', { stop: '<eot>' })], 'end_turn'],
      [[text, end('stop', { stop: '' })], 'stop_sequence'],
      [[text, end('length')], 'max_tokens'],
      [[text, end('filtered')], 'refusal'],
      [[{ type: 'refusal', choice, text: 'No.' }, end('stop')], 'refusal'],
    ]
    for (const [events, stop_reason] of cases) {
      expect(whole(events)).toMatchObject({ stop_reason, content: [{ type: 'text' }] })
      const last = streamed(events).find(({ type }) => type === 'message_delta')
      expect(last).toMatchObject({ delta: { stop_reason } })
    }
  })

  test('has citations with its text, and arguments that are not JSON', () => {
    const citation = { url: 'https://a.test', title: 'A', content: 'w' }
    const shown = { type: 'web_search_result_location', url: citation.url, cited_text: 'w' }
    const events: ChatEvent[] = [
      { type: 'text', choice, text: 'x' },
      { type: 'citation', choice, citation },
      { type: 'call', choice, call: 0, id: 'a', name: 'one' },
      { type: 'arguments', choice, call: 0, text: 'oops' },
    ]
    expect(whole(events).content).toMatchObject([
      { type: 'text', text: 'x', citations: [shown] },
      { type: 'tool_use', input: { arguments: 'oops' } },
    ])
    const [, , , , cited] = streamed(events)
    expect(cited).toMatchObject({ index: 0, delta: { type: 'citations_delta', citation: shown } })
  })

  test('that fails ends with an error of Anthropic', () => {
    const writer = client().createWriter()
    const error = { message: 'Late.', type: 'api_error', code: 'upstream_stream_error' }
    expect(parse(writer.fail(error))).toEqual([
      {
        type: 'error',
        error: {
          type: 'api_error',
          message: 'Late.',
          details: { error_code: 'upstream_stream_error' },
        },
        request_id: 'r',
      },
    ])
  })

  test('of its own API passes, under the name that was asked for', () => {
    const writer = client().createWriter()
    const own = (event: Json) => {
      const data = JSON.stringify(event)
      const bytes = new TextEncoder().encode(`event: ${String(event.type)}\ndata: ${data}\n\n`)
      return { bytes, start: 0, end: bytes.byteLength, data }
    }
    const first = own(startEvent)
    const passed = writer.pass(first, readStream(startEvent))
    expect(parse(passed?.bytes ?? new Uint8Array())).toEqual([
      { ...startEvent, message: { ...startEvent.message, model: 'a/b' } },
    ])
    const text = delta(0, { type: 'text_delta', text: 'x' })
    const second = own(text)
    expect(writer.pass(second, readStream(text))).toBe(second)
    const usage = { input_tokens: 5, cost: 3, cost_details: {} }
    const message = { id: 'msg_1', model: 'fake', usage }
    expect(client().pass(message, final)).toEqual({
      id: 'msg_1',
      model: 'a/b',
      usage: { input_tokens: 5, cost: 0.5 },
    })
    expect(client().pass(message, { usage: final.usage })).toHaveProperty('usage', {
      input_tokens: 5,
    })
  })

  test('of its own API has an id for each call', () => {
    const call = { type: 'tool_use', id: '', name: 'Read', input: {} }
    const id = expect.stringMatching(/^call_\w+$/)
    const passed = client().pass({ content: [call, { ...call, id: 'toolu_1' }] }, final)
    expect(passed).toMatchObject({ content: [{ ...call, id }, { id: 'toolu_1' }] })
    const event = { type: 'content_block_start', index: 0, content_block: call }
    const [own] = new EventReader(1e6).push(encodeNamedEvents([event]))
    const sent = own && client().createWriter().pass(own, readStream(event))
    expect(parse(sent?.bytes ?? new Uint8Array())).toEqual([
      { ...event, content_block: { ...call, id } },
    ])
  })

  test('of its own API passes without what it cost the operator', () => {
    const writer = client().createWriter()
    const usage = { input_tokens: 5, output_tokens: 2 }
    const paid = { ...usage, cost: 3, cost_details: { upstream_inference_cost: 3 } }
    const sent = [
      { type: 'message_start', message: { id: 'msg_1', model: 'fake', usage: paid } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: paid },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
    ]
    const reader = messagesCodec.createReader()
    const [start, end, last] = sent.map((event) => {
      const [own] = new EventReader(1e6).push(encodeNamedEvents([event]))
      const passed = own && writer.pass(own, reader.read(own.data ?? '') ?? [])
      return { own, passed, json: parse(passed?.bytes ?? new Uint8Array())[0] }
    })
    expect(start?.json).toEqual({
      type: 'message_start',
      message: { id: 'msg_1', model: 'a/b', usage },
    })
    expect(end?.json).toEqual({ ...sent[1], usage })
    expect(last?.passed).toBe(last?.own)
  })
})
