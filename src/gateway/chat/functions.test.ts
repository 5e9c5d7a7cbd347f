import { afterAll, describe, expect, test } from 'bun:test'

import { chunked, json } from '../../testing/fakes/chat-scripts.ts'
import { fakeModel, startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'

const calls = fakeModel('ok', { id: 'fake/calls' })
const offers = calls.offers.map((offer) => ({ ...offer, model: 'fake/calls' }))
const faked = await startFakeUpstreamServer({}, [{ ...calls, offers }])
const gus = await faked.gus()
afterAll(() => faked.close())

const depth = { name: 'depth', parameters: { type: 'object', properties: {} } }
const user = { role: 'user', content: 'How deep?' }
const send = (more: object) =>
  gus.call('POST', '/v1/chat/completions', { model: 'fake/calls', messages: [user], ...more })

const called = (index: number, args: string) => ({
  index,
  id: `call_${index}`,
  type: 'function',
  function: { name: 'depth', arguments: args },
})
const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 }
const withCalls = json(200, {
  id: 'c',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [called(0, '{}'), called(1, '{}')] },
      finish_reason: 'tool_calls',
    },
  ],
  usage,
})

test('functions become tools, and their calls become function_call', async () => {
  faked.fake.script('fake/calls', withCalls)
  const { status, body } = await send({ functions: [depth], function_call: { name: 'depth' } })
  const sent = faked.fake.received.at(-1)?.body ?? {}
  expect(sent).toMatchObject({
    tools: [{ type: 'function', function: depth }],
    tool_choice: { type: 'function', function: { name: 'depth' } },
  })
  for (const name of ['functions', 'function_call']) expect(sent).not.toHaveProperty(name)
  const message = {
    role: 'assistant',
    content: null,
    function_call: { name: 'depth', arguments: '{}' },
  }
  expect([status, body]).toMatchObject([
    200,
    { choices: [{ message, finish_reason: 'function_call' }], usage: { completion_tokens: 7 } },
  ])
  expect(Object(body).choices[0].message).not.toHaveProperty('tool_calls')
  const asTools = await send({ tools: [{ type: 'function', function: depth }] })
  expect(asTools.body).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] })
})

test('a stream has the parts of the first call', async () => {
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const parts = [
    chunk({ role: 'assistant', content: 'Let me' }),
    chunk({ content: ' look.' }),
    chunk({ tool_calls: [called(0, '')] }),
    chunk({ tool_calls: [{ index: 0, function: { arguments: '{}' } }] }),
    chunk({ tool_calls: [called(1, '{}')] }),
    chunk({}, 'tool_calls'),
    `data: ${JSON.stringify({ id: 'c', choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ]
  faked.fake.script('fake/calls', chunked(parts))
  const options = { stream: true, stream_options: { include_usage: true } }
  const { bytes } = await send({ functions: [depth], ...options })
  const events = new TextDecoder().decode(bytes).trimEnd().split('\n\n')
  expect(events.pop()).toBe('data: [DONE]')
  const chunks = events.map((event) => JSON.parse(event.slice('data: '.length)))
  expect(chunks.pop()).toMatchObject({ usage: { completion_tokens: 7, cost: expect.any(Number) } })
  const choices = chunks.map(({ choices: [choice] }) => [choice.delta, choice.finish_reason])
  expect(choices).toEqual([
    [{ role: 'assistant', content: 'Let me' }, null],
    [{ content: ' look.' }, null],
    [{ function_call: { name: 'depth', arguments: '' } }, null],
    [{ function_call: { arguments: '{}' } }, null],
    [{}, null],
    [{}, 'function_call'],
  ])
  expect((await faked.lastUse(gus)).use).toMatchObject({ output: 7, estimated: false })
})

test('messages with a function_call and its reply become those of tools', async () => {
  faked.fake.script('fake/calls', withCalls)
  const function_call = { name: 'depth', arguments: '{}' }
  const messages = [
    user,
    { role: 'assistant', content: null, function_call },
    { role: 'function', name: 'depth', content: '9 m' },
    { role: 'assistant', content: 'Nine.', function_call: null },
    user,
  ]
  expect((await send({ messages, functions: [depth] })).status).toBe(200)
  const call = { id: 'call_1', type: 'function', function: function_call }
  expect(faked.fake.received.at(-1)?.body.messages).toEqual([
    user,
    { role: 'assistant', content: null, tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: '9 m' },
    { role: 'assistant', content: 'Nine.', function_call: null },
    user,
  ])
})

describe('rejected by name', () => {
  const tools = [{ type: 'function', function: depth }]
  const rows: [param: string, more: object][] = [
    ['functions', { functions: 'depth' }],
    ['functions', { functions: [{}] }],
    ['functions', { functions: [depth], tools }],
    ['function_call', { function_call: 'auto' }],
    ['function_call', { functions: [depth], function_call: 'any' }],
    ['messages', { messages: [user, { role: 'function', name: 'depth', content: '9 m' }] }],
  ]
  test.each(rows)('%s: %j', async (param, more) => {
    const { status, body } = await send(more)
    expect([status, body]).toMatchObject([400, { error: { param } }])
  })
})
