import { expect, test } from 'bun:test'

import { isWhole, streamOf } from './unstreamed.ts'

const chunksOf = async (answer: object) => {
  const text = await streamOf(Response.json(answer)).text()
  return text.split('\n\n').map((event) => event.slice('data: '.length))
}

test('a whole answer is a chunk for each choice, the usage and [DONE]', async () => {
  const head = { id: 'chatcmpl-1', created: 1, model: 'm' }
  const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const said = { role: 'assistant', content: 'Hi\n\nthere', reasoning_content: 'Hm.' }
  const calling = { role: 'assistant', content: null, tool_calls: [call, call] }
  const usage = { prompt_tokens: 1, completion_tokens: 2 }
  const chunks = await chunksOf({
    ...{ ...head, object: 'chat.completion', usage },
    choices: [
      { index: 0, message: said, finish_reason: 'stop', logprobs: null },
      { index: 1, message: calling, finish_reason: 'tool_calls' },
    ],
  })
  expect(chunks.slice(-2)).toEqual(['[DONE]', ''])
  const tool_calls = [0, 1].map((index) => ({ index, ...call }))
  const chunk = { ...head, object: 'chat.completion.chunk' }
  expect(chunks.slice(0, -2).map((data): unknown => JSON.parse(data))).toEqual([
    {
      ...chunk,
      choices: [{ index: 0, delta: said, finish_reason: 'stop', logprobs: null }],
    },
    {
      ...chunk,
      choices: [{ index: 1, delta: { ...calling, tool_calls }, finish_reason: 'tool_calls' }],
    },
    { ...chunk, choices: [], usage },
  ])
})

test('an error is its event alone, and what is no JSON breaks off', async () => {
  const error = { message: 'Broken.', code: 500 }
  expect(await chunksOf({ error })).toEqual([JSON.stringify({ error }), ''])
  expect(await streamOf(new Response('')).text()).toBe('')
  await expect(streamOf(new Response('{"id": ')).text()).rejects.toThrow()
})

test('only a chat that was to be a stream is looked at', () => {
  const call = { path: '/chat/completions', model: 'm', signal: AbortSignal.timeout(1) } as const
  const whole = Response.json({})
  expect(isWhole(whole, { ...call, body: { stream: true } })).toBe(true)
  expect(isWhole(whole, { ...call, body: {} })).toBe(false)
  expect(isWhole(whole, { ...call, path: '/audio/speech', body: { stream: true } })).toBe(false)
  expect(isWhole(Response.json({}, { status: 400 }), { ...call, body: { stream: true } })).toBe(
    false,
  )
})
