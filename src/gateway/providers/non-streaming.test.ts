import { expect, test } from 'bun:test'

import { mayBeNonStreaming, toEventStream } from './non-streaming.ts'

const chunksOf = async (response: object) => {
  const text = await toEventStream(Response.json(response)).text()
  const [begun, ...events] = text.split('\n\n')
  expect(begun).toBe(': keep-alive')
  return events.map((event) => event.slice('data: '.length))
}

test('converts a response to chunks, usage and [DONE]', async () => {
  const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const result = { role: 'assistant', content: 'Hi\n\nthere', reasoning_content: 'Hm.' }
  const calling = { role: 'assistant', content: null, tool_calls: [call, call] }
  const usage = { prompt_tokens: 1, completion_tokens: 2 }
  const chunks = await chunksOf({
    ...head,
    object: 'chat.completion',
    usage,
    choices: [
      { index: 0, message: result, finish_reason: 'stop', logprobs: null },
      { index: 1, message: calling, finish_reason: 'tool_calls' },
    ],
  })
  expect(chunks.slice(-2)).toEqual(['[DONE]', ''])
  const tool_calls = [0, 1].map((index) => ({ index, ...call }))
  const chunk = { ...head, object: 'chat.completion.chunk' }
  expect(chunks.slice(0, -2).map((data): unknown => JSON.parse(data))).toEqual([
    {
      ...chunk,
      choices: [{ index: 0, delta: result, finish_reason: 'stop', logprobs: null }],
    },
    {
      ...chunk,
      choices: [{ index: 1, delta: { ...calling, tool_calls }, finish_reason: 'tool_calls' }],
    },
    { ...chunk, choices: [], usage },
  ])
})

test('converts an error to one event and breaks off on invalid JSON', async () => {
  const error = { message: 'Broken.', code: 500 }
  expect(await chunksOf({ error })).toEqual([JSON.stringify({ error }), ''])
  expect(await toEventStream(new Response('')).text()).toBe('')
  await expect(toEventStream(new Response('{"id": ')).text()).rejects.toThrow()
})

const chunk = 'data: {"choices":[]}\n\n'
/** A body whose chunks the test controls. */
function slow() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const reader = toEventStream(new Response(readable)).body?.getReader()
  return {
    write: (text: string) => void writer.write(Buffer.from(text)),
    end: () => void writer.close(),
    read: async () => Buffer.from((await reader?.read())?.value ?? []).toString(),
  }
}

test('passes events through under any content type', async () => {
  const { write, end, read } = slow()
  write(chunk)
  expect(await read()).toBe(chunk)
  write('data: [DONE]\n\n')
  expect(await read()).toBe('data: [DONE]\n\n')
  end()
  expect(await read()).toBe('')
})

test('sends a keep-alive at the first byte, even for whitespace', async () => {
  const { write, end, read } = slow()
  write('\n')
  expect(await read()).toBe(': keep-alive\n\n')
  write(' ')
  write('{"choices":')
  write('[{"index":0,"message":{}}]}')
  end()
  expect(await read()).toContain('"delta":{}')
})

test('applies only to streaming chat', () => {
  const call = { path: '/chat/completions', model: 'm', signal: AbortSignal.timeout(1) } as const
  const whole = Response.json({})
  expect(mayBeNonStreaming(whole, { ...call, body: { stream: true } })).toBe(true)
  expect(mayBeNonStreaming(new Response(''), { ...call, body: { stream: true } })).toBe(true)
  const events = new Response('', { headers: { 'content-type': 'text/event-stream; charset=x' } })
  expect(mayBeNonStreaming(events, { ...call, body: { stream: true } })).toBe(false)
  expect(mayBeNonStreaming(whole, { ...call, body: {} })).toBe(false)
  expect(mayBeNonStreaming(whole, { ...call, path: '/audio/speech', body: { stream: true } })).toBe(
    false,
  )
  expect(
    mayBeNonStreaming(Response.json({}, { status: 400 }), { ...call, body: { stream: true } }),
  ).toBe(false)
})
