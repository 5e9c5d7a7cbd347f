/** One file, because each direction of the codec is checked against the other one. */
import { expect, test } from 'bun:test'

import type { Json } from '../../kernel/schema.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import type { ChatRequest } from '../conversation/chat-request.ts'
import type { Target } from '../conversation/codec.ts'
import { encodeNamedEvents, EventReader } from '../events.ts'
import { createUsage } from '../models/usage.ts'
import { decodeCohere } from './decode.ts'
import { cohereCodec } from './encode.ts'
import { createCohereClient } from './write.ts'

const target: Target = { model: 'command-a', isStream: false, outputMax: 1_000, stopsItself: false }
const hello = { role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello.' }] }

const ask = (more: Partial<ChatRequest>): ChatRequest => ({
  messages: [hello],
  tools: [],
  choices: 1,
  sampling: {},
  stop: [],
  extra: {},
  ...more,
})
const sent = (more: Partial<ChatRequest>, to: Partial<Target> = {}): Json =>
  cohereCodec.encode(ask(more), { ...target, ...to }).body

const final = { usage: createUsage({ prompt: 11, completion: 7, cached: 4 }), cost: 0.5 }

/** Returns the data of the events that a client of Cohere gets. */
function written(events: ChatEvent[]): Json[] {
  const writer = createCohereClient('r1').createWriter()
  const bytes = [...events.map((event) => writer.write([event])), writer.end(final)]
  const text = bytes.map((part) => Buffer.from(part instanceof Uint8Array ? part : []).toString())
  return text
    .join('')
    .split('\n\n')
    .flatMap((frame) => (frame.includes('{') ? [JSON.parse(frame.split('data: ')[1] ?? '')] : []))
}

function readStream(events: Json[], last: string[] = []): ChatEvent[] {
  const reader = cohereCodec.createReader()
  const data = [...events.map((event) => JSON.stringify(event)), ...last]
  return [...data.flatMap((one) => reader.read(one) ?? []), ...reader.end()]
}

const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
const weather = { name: 'look', parameters: { type: 'object', properties: {} } }
const usage = {
  billed_units: { input_tokens: 11, output_tokens: 7 },
  tokens: { input_tokens: 507, output_tokens: 9 },
}
const png = 'iVBORw0KGgoAAAA'

const sentImage = {
  type: 'image_url',
  image_url: { url: `data:image/jpg;base64,${png}`, detail: 'low' },
}
const clientMessages = [
  {
    role: 'system',
    content: [
      { type: 'text', text: 'Be' },
      { type: 'text', text: 'brief.' },
    ],
  },
  {
    role: 'user',
    content: [{ type: 'text', text: 'Look:' }, { type: 'text', text: '' }, sentImage],
  },
  {
    role: 'assistant',
    tool_plan: 'I look.',
    content: [{ type: 'thinking', thinking: 'Hm.' }],
    tool_calls: [call],
  },
  {
    role: 'tool',
    tool_call_id: 'c1',
    content: [{ type: 'document', document: { data: { tide: 'high' } } }],
  },
]

test('a request keeps its meaning: plan, thoughts, images, documents and strict tools', () => {
  const { request, ignored } = decodeCohere({
    model: 'm',
    messages: clientMessages,
    p: 0.5,
    k: 3,
    stop_sequences: ['END'],
    tools: [{ type: 'function', function: weather }],
    tool_choice: 'REQUIRED',
    strict_tools: true,
    max_tokens: 9,
    response_format: { type: 'json_object', json_schema: { type: 'object' } },
    thinking: { type: 'enabled', token_budget: 5_000 },
    safety_mode: 'OFF',
    priority: 1,
    logprobs: true,
    documents: ['Low at noon.', { id: 'd2', data: { tide: 'high' } }],
  })
  const { raw, ...rest } = request
  expect(raw?.api).toBe('cohere')
  expect(ignored).toEqual({ passed: ['priority'], written: ['safety_mode', 'priority'] })
  expect(rest).toEqual({
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be\nbrief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Document 1:\nLow at noon.\n\nDocument 2:\n{"tide":"high"}' },
          { type: 'text', text: 'Look:' },
          { type: 'image', source: { data: png, mediaType: 'image/png' }, detail: 'low' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', text: 'Hm.' },
          { type: 'text', text: 'I look.' },
          { type: 'call', id: 'c1', name: 'look', arguments: '{"at":1}' },
        ],
      },
      { role: 'tool', callId: 'c1', content: [{ type: 'text', text: '{"tide":"high"}' }] },
    ],
    tools: [{ ...weather, isStrict: true }],
    toolChoice: 'required',
    outputMax: 9,
    choices: 1,
    sampling: { topP: 0.5, topK: 3 },
    stop: ['END'],
    format: { type: 'schema', name: 'output', schema: { type: 'object' } },
    reasoning: { effort: 'medium', budget: 5_000, summary: 'auto' },
    logprobs: 0,
    extra: {},
  })
})

test('a schema has either of its names', () => {
  const schema = { type: 'object' }
  for (const name of ['json_schema', 'schema']) {
    const response_format = { type: 'json_object', [name]: schema }
    const { request } = decodeCohere({
      messages: [{ role: 'user', content: 'x' }],
      response_format,
    })
    expect(request.format).toEqual({ type: 'schema', name: 'output', schema })
  }
})

test('an upstream of Cohere gets the request of its client as it is, within the limit', () => {
  const imageOf = (type: string) => [
    { type: 'image_url', image_url: { url: `data:image/${type};base64,${png}`, detail: 'low' } },
  ]
  const body = {
    model: 'm',
    messages: [
      { role: 'user', content: 'Hello.' },
      { role: 'user', content: imageOf('jpg') },
    ],
    documents: [{ id: 'd1', data: { tide: 'high' } }],
    safety_mode: 'CONTEXTUAL',
    max_tokens: 5_000,
    thinking: { type: 'enabled', token_budget: 4_000 },
    stream: true,
    priority: 1,
    provider: {},
  }
  const { request } = decodeCohere(body)
  const { model: _, priority: __, provider: ___, ...own } = body
  expect(cohereCodec.encode(request, { ...target, isStream: true })).toEqual({
    path: '/chat',
    body: {
      ...own,
      messages: [
        { role: 'user', content: 'Hello.' },
        { role: 'user', content: imageOf('png') },
      ],
      model: 'command-a',
      max_tokens: 1_000,
      thinking: { type: 'enabled', token_budget: 800 },
    },
  })
  const wide = cohereCodec.encode(request, { ...target, outputMax: 9_000 }).body
  expect(wide).toMatchObject({ max_tokens: 5_000, thinking: body.thinking })
  expect(cohereCodec.ignoredFields(request)).toEqual([])
})

const image = { type: 'image' as const, source: { data: png, mediaType: 'image/jpeg' } }
const conversation: ChatRequest['messages'] = [
  { ...hello, content: [...hello.content, image, { type: 'text', text: '' }] },
  { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', text: 'Hm.', signature: 's', origin: 'messages' },
      { type: 'thinking', text: '', signature: 's', origin: 'messages', isEncrypted: true },
      { type: 'text', text: 'I look.' },
      { type: 'call', id: 'c1', name: 'look', arguments: '' },
    ],
  },
  {
    role: 'tool',
    callId: 'c1',
    isError: true,
    content: [{ type: 'text', text: 'Fog.' }, image],
  },
  { role: 'assistant', content: [{ type: 'text', text: 'Yes.' }] },
]

test('an upstream of Cohere gets no empty text or schema, and never system messages alone', () => {
  const text = { type: 'text', text: 'Hello.' }
  const content = [{ type: 'text', text: '' }]
  const call = { id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }
  const { request } = decodeCohere({
    messages: [
      { role: 'user', content: [...content, text] },
      { role: 'assistant', content },
      { role: 'assistant', content, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'a', content },
      { role: 'user', content },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: {} } }],
  })
  const { messages, tools } = cohereCodec.encode(request, target).body
  expect(tools).toMatchObject([{ function: weather }])
  expect(messages).toEqual([
    { role: 'user', content: [text] },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'a', content: '' },
  ])
  const alone = decodeCohere({ messages: [{ role: 'system', content: 'Say hello.' }] })
  expect(cohereCodec.encode(alone.request, target).body.messages).toEqual([
    { role: 'user', content: 'Say hello.' },
  ])
})

test('a chat becomes a request of Cohere that keeps plans, thoughts, results and images', () => {
  const url = `data:image/png;base64,${png}`
  const body = sent({
    messages: conversation,
    tools: [{ name: 'look', parameters: {}, isStrict: true }, { name: 'other' }],
    toolChoice: { mode: 'required', names: ['look'] },
    sampling: { temperature: 0.1, topP: 0.2, topK: 3, seed: 4 },
    stop: ['END'],
    format: { type: 'object' },
    logprobs: 2,
  })
  expect(body).toEqual({
    model: 'command-a',
    max_tokens: 1_000,
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hello.' },
          { type: 'image_url', image_url: { url } },
        ],
      },
      {
        role: 'assistant',
        content: [{ type: 'thinking', thinking: 'Hm.' }],
        tool_plan: 'I look.',
        tool_calls: [{ ...call, function: { name: 'look', arguments: '{}' } }],
      },
      {
        role: 'tool',
        tool_call_id: 'c1',
        content: 'Error: Fog.\n\nThe media of this result are in the next message.',
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Media of the result of c1:' },
          { type: 'image_url', image_url: { url } },
        ],
      },
      { role: 'assistant', content: 'Yes.' },
    ],
    tools: [{ type: 'function', function: weather }],
    tool_choice: 'REQUIRED',
    strict_tools: true,
    temperature: 0.1,
    p: 0.2,
    k: 3,
    seed: 4,
    stop_sequences: ['END'],
    response_format: { type: 'json_object' },
    logprobs: true,
  })
})

test('the output and its thoughts stay within the limit', () => {
  expect(sent({ outputMax: 5_000 }).max_tokens).toBe(1_000)
  expect(sent({ outputMax: 50 }).max_tokens).toBe(50)
  expect(sent({}, { stopsItself: true })).not.toHaveProperty('max_tokens')
  expect(sent({ reasoning: { effort: 'high' } }).thinking).toEqual({
    type: 'enabled',
    token_budget: 800,
  })
  const wide = { outputMax: 90_000 }
  const low = sent({ reasoning: { effort: 'low' } }, wide)
  expect(low.thinking).toEqual({ type: 'enabled', token_budget: 3_277 })
  expect(sent({ reasoning: { effort: 'low', budget: 9 } }, wide).thinking).toEqual({
    type: 'enabled',
    token_budget: 9,
  })
  expect(sent({ reasoning: { effort: 'none' } }).thinking).toEqual({ type: 'disabled' })
})

test('numbers and stop sequences stay within the limits of Cohere', () => {
  const penalties = { presencePenalty: -2, frequencyPenalty: 1.5 }
  const stop = ['a', 'b', 'c', 'd', 'e', 'f']
  const sampling = { temperature: 0, topP: 1, topK: 600, seed: 7, ...penalties }
  expect(sent({ sampling, stop })).toMatchObject({
    temperature: 0,
    p: 0.99,
    k: 500,
    presence_penalty: 0,
    frequency_penalty: 1,
    seed: 7,
    stop_sequences: stop.slice(0, 5),
  })
})

test('only a system message becomes a message of the user', () => {
  const messages = [{ role: 'system' as const, content: hello.content }]
  expect(sent({ messages }).messages).toEqual([{ role: 'user', content: 'Hello.' }])
})

test('a text file becomes a document, and other media are an error', () => {
  const file = (mediaType: string) => ({
    ...hello,
    content: [
      ...hello.content,
      {
        type: 'file' as const,
        filename: 'a.txt',
        source: { data: Buffer.from('Tide').toString('base64'), mediaType },
      },
    ],
  })
  expect(sent({ messages: [file('text/plain')] })).toMatchObject({
    messages: [{ role: 'user', content: 'Hello.' }],
    documents: [{ data: { text: 'Tide', title: 'a.txt' } }],
  })
  expect(() => sent({ messages: [file('audio/wav')] })).toThrow()
  expect(() => sent({ choices: 2 })).toThrow()
  expect(() => sent({ tools: [{ name: 'patch', isCustom: true }] })).toThrow()
})

test('a whole response is read with its plan, thoughts, calls, probabilities and billed usage', () => {
  const events = cohereCodec.readWhole({
    id: 'x',
    finish_reason: 'TOOL_CALL',
    message: {
      role: 'assistant',
      tool_plan: 'I look.',
      content: [{ type: 'thinking', thinking: 'Hm.' }],
      tool_calls: [call, { function: { name: 'none', arguments: 'null' } }],
      citations: [
        { start: 0, end: 1, sources: [{ type: 'document', id: 'd', document: { text: 'own' } }] },
        { start: 2, end: 6, sources: [{ document: { url: 'https://a.example/', title: 'A' } }] },
      ],
    },
    logprobs: [{ text: 'I look.', token_ids: [1, 2], logprobs: [-1, -0.5] }],
    usage: { ...usage, cached_tokens: 500 },
  })
  expect(events).toEqual([
    { type: 'start', id: 'x' },
    { type: 'thinking', choice: 0, text: 'Hm.' },
    {
      type: 'text',
      choice: 0,
      text: 'I look.',
      logprobs: [
        { token: 'I look.', logprob: -1.5, bytes: [...Buffer.from('I look.')], top_logprobs: [] },
      ],
    },
    {
      type: 'citation',
      choice: 0,
      citation: { url: 'https://a.example/', title: 'A', start: 2, end: 6 },
    },
    { type: 'call', choice: 0, call: 0, id: 'c1', name: 'look' },
    { type: 'arguments', choice: 0, call: 0, text: '{"at":1}' },
    { type: 'call', choice: 0, call: 1, id: expect.stringMatching(/^call_\w{12}$/), name: 'none' },
    { type: 'arguments', choice: 0, call: 1, text: '{}' },
    { type: 'end', choice: 0, reason: 'calls' },
    { type: 'usage', usage: { prompt: 11, completion: 7, cached: 4, isCorrected: false } },
    { type: 'done' },
  ])
})

test('a stream is read with parallel calls, and is whole with or without [DONE]', () => {
  const message = (type: string, index: number, message: Json) => ({
    type,
    index,
    delta: { message },
  })
  const start = (index: number, id: string, args = '') =>
    message('tool-call-start', index, {
      tool_calls: { id, type: 'function', function: { name: `f${id}`, arguments: args } },
    })
  const more = (index: number, args: string) =>
    message('tool-call-delta', index, { tool_calls: { function: { arguments: args } } })
  const events = [
    { type: 'message-start', id: 'x', delta: { message: { content: [], tool_calls: [] } } },
    message('tool-plan-delta', 0, { tool_plan: 'Plan.' }),
    message('content-start', 0, { content: { type: 'thinking', thinking: '' } }),
    message('content-delta', 0, { content: { thinking: 'Hm.' } }),
    start(0, 'a'),
    more(0, '{"x"'),
    // Some servers number all calls 0.
    start(0, 'b', '{"y":2}'),
    start(2, 'c'),
    more(2, ''),
    { type: 'tool-call-end', index: 2 },
    { type: 'debug', prompt: 'Hidden.' },
    { type: 'message-end', delta: { finish_reason: 'TOOL_CALL', usage } },
  ]
  const read = readStream(events)
  expect(readStream(events, ['[DONE]'])).toEqual(read)
  expect(read.at(-1)).toEqual({ type: 'done' })
  expect(gather(read).choices).toEqual([
    {
      content: [
        { type: 'text', text: 'Plan.' },
        { type: 'thinking', text: 'Hm.' },
        { type: 'call', id: 'a', name: 'fa', arguments: '{"x"' },
        { type: 'call', id: 'b', name: 'fb', arguments: '{"y":2}' },
        { type: 'call', id: 'c', name: 'fc', arguments: '{}' },
      ],
      citations: [],
      logprobs: [],
      reason: 'calls',
    },
  ])
  expect(readStream(events.slice(0, -1)).at(-1)).not.toEqual({ type: 'done' })
  expect(cohereCodec.createReader().read('<html>')).toBeUndefined()
})

test('a response that ended with ERROR or TIMEOUT is an error of the provider', () => {
  const end = (delta: Json) => readStream([{ type: 'message-end', delta }]).at(-1)
  const broken = end({ finish_reason: 'ERROR', error: 'Broken.' })
  expect(broken).toMatchObject({ type: 'error', error: { message: 'Broken.' } })
  expect(end({ finish_reason: 'TIMEOUT', usage })).toMatchObject({
    type: 'error',
    error: { message: 'The provider ended the response: TIMEOUT.' },
  })
  const whole = cohereCodec.readWhole({ finish_reason: 'TIMEOUT', message: {}, usage })
  expect(whole.at(-1)).toMatchObject({ type: 'error' })
  expect(readStream([{ id: 'x', message: 'Overloaded.' }])).toMatchObject([{ type: 'error' }])
})

test('a usage is read where one side is wrong, and estimated where it is missing', () => {
  const read = (of: unknown) =>
    cohereCodec.readWhole({ message: {}, usage: of }).filter(({ type }) => type === 'usage')
  expect(read(undefined)).toEqual([])
  expect(read({ billed_units: { input_tokens: 'eleven', output_tokens: 7 } })).toMatchObject([
    { usage: { completion: 7, isCorrected: true } },
  ])
  expect(read({ tokens: { input_tokens: 5, output_tokens: 2 } })).toMatchObject([
    { usage: { prompt: 5, completion: 2 } },
  ])
})

test('a client gets the events of Cohere: blocks, calls and a last event with usage', () => {
  const events = written([
    { type: 'start', id: 'upstream' },
    { type: 'thinking', choice: 0, text: 'Hm.' },
    { type: 'signature', choice: 0, signature: 'sig', origin: 'messages' },
    { type: 'text', choice: 0, text: 'I look.' },
    { type: 'call', choice: 0, call: 0, id: 'functions.look:0', name: 'look', signature: 'g' },
    { type: 'call', choice: 0, call: 1, id: 'b', name: 'look' },
    { type: 'arguments', choice: 0, call: 0, text: '{"a"' },
    { type: 'arguments', choice: 0, call: 1, text: '{"b"' },
    { type: 'arguments', choice: 0, call: 0, text: ':1}' },
    { type: 'arguments', choice: 0, call: 1, text: ':2}' },
    { type: 'end', choice: 0, reason: 'calls' },
    { type: 'done' },
  ])
  expect(events.map(({ type, index }) => [type, index])).toEqual([
    ['message-start', undefined],
    ['content-start', 0],
    ['content-delta', 0],
    ['content-delta', 0],
    ['content-end', 0],
    ['content-start', 1],
    ['content-delta', 1],
    ['content-end', 1],
    // The AI SDK knows one call at a time.
    ['tool-call-start', 0],
    ['tool-call-delta', 0],
    ['tool-call-delta', 0],
    ['tool-call-end', 0],
    ['tool-call-start', 1],
    ['tool-call-delta', 1],
    ['tool-call-end', 1],
    ['message-end', undefined],
  ])
  const tokens = { input_tokens: 11, output_tokens: 7 }
  expect(events.at(-1)).toEqual({
    type: 'message-end',
    id: 'r1',
    delta: {
      finish_reason: 'TOOL_CALL',
      usage: { billed_units: tokens, tokens, cached_tokens: 4, cost: 0.5 },
    },
  })
})

test('a whole response comes back as it was said, with ids and signatures of other providers', () => {
  const response = {
    choices: [
      {
        content: [
          { type: 'thinking' as const, text: 'Hm.', signature: 'sig', origin: 'messages' as const },
          { type: 'text' as const, text: 'I look.' },
          {
            type: 'call' as const,
            id: 'functions.look:0',
            name: 'look',
            arguments: '{"at":1}',
            signature: 'g',
          },
        ],
        citations: [],
        logprobs: [],
        reason: 'calls' as const,
      },
    ],
  }
  const json = createCohereClient('r1').encode(response, final)
  const { message, finish_reason } = Object(json)
  expect(finish_reason).toBe('TOOL_CALL')
  const { id } = message.tool_calls[0]
  expect(id).toMatch(/^[\w-]+$/)
  const result = { role: 'tool', tool_call_id: id, content: 'seen' }
  const { request } = decodeCohere({ messages: [{ role: 'user', content: 'a' }, message, result] })
  expect(request.messages[1]?.content).toEqual(response.choices[0]?.content)
  expect(request.messages[2]).toMatchObject({ callId: 'functions.look:0' })
})

test('passed events stay as they are, and an error follows in the form of the client', () => {
  const writer = createCohereClient('r1').createWriter()
  const bytes = Buffer.from('data: {}\n\n')
  const own = { bytes, start: 0, end: bytes.byteLength, data: '{}' }
  expect(writer.pass(own, [])).toBe(own)
  expect(writer.pass(own, [{ type: 'error', error: { message: 'Broken.' } }])).toBeUndefined()
  const failed = writer.fail({ message: 'Broken.', code: 'upstream_stream_error' }, final)
  expect(Buffer.from(failed).toString()).toBe(
    'event: message-end\ndata: {"type":"message-end","id":"r1","delta":{"finish_reason":"ERROR","error":"Broken.","code":"upstream_stream_error"}}\n\n',
  )
  expect(writer.end(final)).toHaveLength(0)
  expect(createCohereClient('r1').pass({ id: 'x', usage }, final)).toEqual({
    id: 'x',
    usage: { ...usage, cost: 0.5 },
  })
})

test('calls of Cohere’s own responses get an id and arguments as text', () => {
  const bare = { type: 'function', function: { name: 'look', arguments: { at: 1 } } }
  const id = expect.stringMatching(/^call_\w+$/)
  const complete = { ...bare, id, function: { name: 'look', arguments: '{"at":1}' } }
  const client = createCohereClient('r1')
  const response = { id: 'x', message: { role: 'assistant', tool_calls: [bare, call] }, usage }
  expect(client.pass(response, final)).toMatchObject({ message: { tool_calls: [complete, call] } })
  const writer = client.createWriter()
  const event = { type: 'tool-call-start', index: 0, delta: { message: { tool_calls: bare } } }
  const [own] = new EventReader(1e6).push(encodeNamedEvents([event]))
  const events = cohereCodec.createReader().read(JSON.stringify(event)) ?? []
  const sent = own && writer.pass(own, events)
  expect(
    JSON.parse(
      Buffer.from(sent?.bytes ?? '')
        .toString()
        .split('data: ')[1] ?? '',
    ),
  ).toEqual({
    ...event,
    delta: { message: { tool_calls: complete } },
  })
})

test('a result without an earlier call, and a conversation without content, are errors', () => {
  const result = { role: 'tool', tool_call_id: 'c9', content: 'x' }
  expect(() => decodeCohere({ messages: [result] })).toThrow()
  expect(() => decodeCohere({ messages: [{ role: 'user', content: '' }] })).toThrow()
  expect(() => decodeCohere({ messages: [] })).toThrow()
})

test('calls and results without ids belong together in their order', () => {
  const { request } = decodeCohere({
    messages: [
      { role: 'user', content: 'a' },
      { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: { x: 1 } } }] },
      { role: 'tool', content: 'seen' },
    ],
  })
  expect(request.messages[1]?.content).toMatchObject([{ id: 'call_1_0', arguments: '{"x":1}' }])
  expect(request.messages[2]).toMatchObject({ callId: 'call_1_0' })
})

test('a stop sequence is one in other APIs, too', () => {
  const message = { content: [{ type: 'text', text: 'One.' }] }
  const whole = cohereCodec.readWhole({ finish_reason: 'STOP_SEQUENCE', message })
  expect(whole).toContainEqual({ type: 'end', choice: 0, reason: 'stop', stop: '' })
  const streamed = readStream([{ type: 'message-end', delta: { finish_reason: 'STOP_SEQUENCE' } }])
  expect(streamed).toContainEqual({ type: 'end', choice: 0, reason: 'stop', stop: '' })
})
