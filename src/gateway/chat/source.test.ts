import { afterEach, expect, spyOn, test } from 'bun:test'

import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { nextTurn } from '../../testing/until.ts'
import { type ChatEvent, gather } from '../conversation/chat-event.ts'
import { bytesOf, encodeEvent } from '../events.ts'
import { createReader, readWhole as readWholeMessage } from '../messages-api/read.ts'
import { createChatCodec } from '../openai-chat/encode.ts'
import { CallDeadlines } from '../paid/deadlines.ts'
import { noContent, unreadable } from '../paid/upstream-failure.ts'
import { readWhole } from './read-whole.ts'
import { OpenedSource, ReadPace, StepSource, StreamSource } from './source.ts'

const codec = createChatCodec({})
let deadlines: CallDeadlines
const limits = { firstByteMs: 60_000, totalMs: 60_000 }
const startCall = () => (deadlines = new CallDeadlines(new AbortController().signal, limits))
afterEach(() => deadlines.end())

const sourceOf = (response: Response) => new StreamSource(response, codec, startCall())

/** The steps of a response to a stream, up to its end. `undefined` is data that cannot be read. */
async function stepsOf(response: Response) {
  const source = sourceOf(response)
  const steps: (readonly ChatEvent[] | undefined)[] = []
  for (let next = await source.next(); next; next = await source.next()) {
    steps.push(...next.map(({ events }) => events))
  }
  return { steps, isEmpty: source.isEmpty }
}

const text = (content: string): ChatEvent => ({ type: 'text', choice: 0, text: content })
const chunk = (content: string) => encodeEvent({ choices: [{ index: 0, delta: { content } }] })
const done = Buffer.from('data: [DONE]\n\n')

/** A stream of a server that labels it wrong, whose chunks the test controls. */
function slow(type?: string) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  return {
    response: new Response(
      readable,
      type === undefined ? {} : { headers: { 'content-type': type } },
    ),
    write: (part: string | Uint8Array) =>
      void writer.write(Buffer.from(part)).catch(() => undefined),
    end: () => void writer.close(),
    abort: () => void writer.abort(new Error('reset')).catch(() => undefined),
  }
}

test('a comment counts as a first byte, and comments before the first event are kept', async () => {
  const { response, write } = slow('text/event-stream')
  const source = sourceOf(response)
  const { promise: began, resolve } = Promise.withResolvers<void>()
  spyOn(deadlines, 'markFirstByte').mockImplementation(resolve)
  const opening = OpenedSource.open(source)
  write(': still working\n\n')
  await began
  write(chunk('Hi'))
  const opened = await opening
  expect(opened.opening?.events).toEqual([{ type: 'start' }, text('Hi')])
  const steps = (await opened.next()) ?? []
  const events = steps.flatMap(({ own }) => (own ? [own] : []))
  expect(Buffer.from(bytesOf(events)).toString()).toBe(
    `: still working\n\n${Buffer.from(chunk('Hi')).toString()}`,
  )
  await opened.close(false)
})

test('a stream opens with its first content, after its head and an early usage', async () => {
  const { response, write, end } = slow('text/event-stream')
  const opening = OpenedSource.open(sourceOf(response))
  const head = encodeEvent({ id: 'c', choices: [{ index: 0, delta: { role: 'assistant' } }] })
  write(head)
  write(encodeEvent({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 0 } }))
  expect(await Promise.race([opening, nextTurn().then(() => 'waits')])).toBe('waits')
  write(chunk('Hi'))
  write(done)
  end()
  const opened = await opening
  expect(opened.opening?.events).toEqual([text('Hi')])
  const events: ChatEvent[] = []
  for (let next = await opened.next(); next; next = await opened.next()) {
    events.push(...next.flatMap((step) => step.events ?? []))
  }
  expect(events.map(({ type }) => type)).toEqual(['start', 'usage', 'text', 'done'])
})

test('a busy process reads events together, except those up to the first content', async () => {
  const { response, write } = slow('text/event-stream')
  const batch = Promise.withResolvers<void>()
  const isTooFast = spyOn(ReadPace.prototype, 'isTooFast').mockReturnValue(true)
  const endOfBatch = spyOn(ReadPace.prototype, 'endOfBatch').mockReturnValue(batch.promise)
  const opening = OpenedSource.open(sourceOf(response))
  try {
    write(encodeEvent({ choices: [{ index: 0, delta: { role: 'assistant' } }] }))
    write(chunk('first'))
    await (await opening).next()
    const next = (await opening).next()
    write(Buffer.concat([chunk('a'), chunk('b')]))
    expect(await Promise.race([next, nextTurn().then(() => 'waits')])).toBe('waits')
    batch.resolve()
    expect(await next).toHaveLength(2)
  } finally {
    isTooFast.mockRestore()
    endOfBatch.mockRestore()
    await (await opening).close(false)
  }
})

test('a whole response to a stream is read as its only step', async () => {
  const call = { type: 'function', function: { name: 'f', arguments: '{}' } }
  const result = { role: 'assistant', content: 'Hi\n\nthere', reasoning_content: 'Hm.' }
  const calls = [
    { id: 'c1', ...call },
    { id: 'c2', ...call },
  ]
  const { steps } = await stepsOf(
    Response.json({
      id: 'chatcmpl-1',
      created: 1,
      object: 'chat.completion',
      usage: { prompt_tokens: 1, completion_tokens: 2 },
      choices: [
        { index: 0, message: result, finish_reason: 'stop', logprobs: null },
        {
          index: 1,
          message: { role: 'assistant', content: null, tool_calls: calls },
          finish_reason: 'tool_calls',
        },
      ],
    }),
  )
  expect(steps).toHaveLength(1)
  const events = steps[0] ?? []
  expect(gather(events)).toEqual({
    id: 'chatcmpl-1',
    created: 1,
    choices: [
      {
        content: [
          { type: 'thinking', text: 'Hm.' },
          { type: 'text', text: 'Hi\n\nthere' },
        ],
        citations: [],
        logprobs: [],
        reason: 'stop',
      },
      {
        content: ['c1', 'c2'].map((id) => ({ type: 'call', id, name: 'f', arguments: '{}' })),
        citations: [],
        logprobs: [],
        reason: 'calls',
      },
    ],
  })
  expect(events.slice(-2)).toMatchObject([
    { type: 'usage', usage: { prompt: 1, completion: 2 } },
    { type: 'done' },
  ])
})

test('reads a response that fails, that is empty, and that is not JSON', async () => {
  const error = { message: 'Broken.', code: 500 }
  expect((await stepsOf(Response.json({ error }))).steps).toEqual([[{ type: 'error', error }]])
  expect(await stepsOf(new Response(''))).toEqual({ steps: [[]], isEmpty: true })
  for (const invalid of ['{"id": ', '  \n']) {
    expect(await stepsOf(new Response(invalid))).toEqual({ steps: [undefined], isEmpty: false })
  }
})

test('a whole response that is too long is cut', async () => {
  const { response, write } = slow('application/json')
  const reading = stepsOf(response)
  write('{"choices":[')
  const mebibyte = Buffer.alloc(1_048_576, ' ')
  for (let at = 0; at < upstreamResponseBytesMax; at += mebibyte.byteLength) write(mebibyte)
  expect(await reading).toEqual({ steps: [], isEmpty: false })
})

test('reads events under any content type', async () => {
  for (const type of [
    undefined,
    'application/json',
    'text/plain',
    'Text/Event-Stream; charset=x',
  ]) {
    const { response, write, end } = slow(type)
    const source = sourceOf(response)
    write(chunk('a'))
    const [first] = (await source.next()) ?? []
    expect(first?.events).toEqual([{ type: 'start' }, text('a')])
    expect(first?.own?.data).toBe('{"choices":[{"index":0,"delta":{"content":"a"}}]}')
    write(done)
    expect((await source.next())?.map(({ events }) => events)).toEqual([[{ type: 'done' }]])
    end()
    expect((await source.next())?.map(({ events }) => events)).toEqual([[]])
    expect(await source.next()).toBeUndefined()
  }
})

test('the first visible byte tells JSON from events, and any byte is the first byte', async () => {
  for (const [label, rest, expected] of [
    ['JSON', '{"choices":[{"index":0,"message":{"content":"Hi"}}]}', ['start', 'text', 'done']],
    ['events', `${Buffer.from(chunk('Hi')).toString()}data: [DONE]\n\n`, ['start', 'text', 'done']],
  ] as const) {
    const { response, write, end } = slow()
    const source = sourceOf(response)
    const { promise: began, resolve } = Promise.withResolvers<void>()
    spyOn(deadlines, 'markFirstByte').mockImplementation(resolve)
    const first = source.next()
    write('\n')
    await began
    expect([label, await Promise.race([first, nextTurn().then(() => 'waits')])]).toEqual([
      label,
      'waits',
    ])
    write(' \n')
    for (const half of [rest.slice(0, 15), rest.slice(15)]) write(half)
    end()
    const events: ChatEvent[] = []
    for (let next = await first; next; next = await source.next()) {
      events.push(...next.flatMap((step) => step.events ?? []))
    }
    expect([label, events.map(({ type }) => type)]).toEqual([label, [...expected]])
  }
})

test('the last event of a stream needs no blank line, and a cut one is dropped', async () => {
  const last = Buffer.concat([chunk('a'), Buffer.from('data: [DONE]')])
  const types = (steps: (readonly ChatEvent[] | undefined)[]) =>
    steps.flat().map((one) => one?.type)
  expect(types((await stepsOf(new Response(last))).steps)).toEqual(['start', 'text', 'done'])
  const { response, write, abort } = slow('text/event-stream')
  const source = sourceOf(response)
  write(chunk('a'))
  expect(types((await source.next())?.map(({ events }) => events) ?? [])).toEqual(['start', 'text'])
  write('data: [DONE]')
  abort()
  expect(await source.next()).toBeUndefined()
  expect(source.isEmpty).toBe(false)
})

test('an upstream of this process that breaks off is not empty', async () => {
  startCall()
  async function* broken(): AsyncGenerator<ChatEvent[]> {
    throw new Error('broken')
  }
  async function* none(): AsyncGenerator<ChatEvent[]> {}
  for (const [steps, isEmpty] of [
    [broken(), false],
    [none(), true],
  ] as const) {
    const opened = await OpenedSource.open(new StepSource(steps))
    expect([opened.opening, opened.isEmpty]).toEqual([undefined, isEmpty])
  }
})

test('a stream in reply to a whole request is read to its end', async () => {
  const events = [chunk('He'), chunk('llo'), Buffer.from(': comment\n\n')]
  const read = (parts: Uint8Array[], by = codec) =>
    readWhole({ response: new Response(Buffer.concat(parts)), codec: by, ignored: [] }, startCall())
  expect(await read([...events, done])).toEqual({
    events: [{ type: 'start' }, text('He'), text('llo'), { type: 'done' }],
  })
  // Without its end it may have been cut.
  expect(await read(events)).toBe(unreadable)
  const last = encodeEvent({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  expect(await read([...events, last])).toEqual({
    events: [
      { type: 'start' },
      text('He'),
      text('llo'),
      { type: 'end', choice: 0, reason: 'stop' },
    ],
  })
  // Each choice of `n` must have its end.
  const second = encodeEvent({ choices: [{ index: 1, delta: { content: 'Ah' } }] })
  expect(await read([...events, second, last])).toBe(unreadable)
  const both = [0, 1].map((index) => ({ index, delta: {}, finish_reason: 'stop' }))
  expect(await read([...events, second, encodeEvent({ choices: both })])).toHaveProperty('events')
  expect(await read([...events, second, last, done])).toHaveProperty('events')
  expect(await read([...events, Buffer.from('data: {"id": \n\n'), done])).toBe(unreadable)
  expect(await read([])).toBe(noContent)
  const failure = await read([chunk('He'), encodeEvent({ error: { message: 'No.', code: 429 } })])
  expect(failure).toMatchObject({ error: { errorName: 'upstream_busy' }, canTryNext: true })
  const other = { ...codec, api: 'messages', createReader, readWhole: readWholeMessage } as const
  const message = [
    { type: 'message_start', message: { id: 'msg_1', content: [] } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Ahoy' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
    { type: 'message_stop' },
  ].map(encodeEvent)
  const whole = await read(message, other)
  expect('events' in whole && gather(whole.events).choices[0]).toMatchObject({
    content: [text('Ahoy')].map(({ type }) => ({ type, text: 'Ahoy' })),
    reason: 'stop',
  })
})
