import { afterAll, expect, test } from 'bun:test'

import { startFakeUpstreamServer } from '../../testing/fixtures/fake-upstream-server.ts'
import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { mediaModel } from '../../testing/fixtures/media-models.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
const faked = await startFakeUpstreamServer({}, [mediaModel('rerank', 'rerank-ok')])
afterAll(async () => {
  await t.close()
  await faked.close()
})

const model = 'demo/chat'
const tools = [
  {
    type: 'function',
    function: {
      name: 'write_file',
      parameters: { type: 'object', properties: { path: { type: 'string' } } },
    },
  },
]
const ask = { role: 'user', content: 'call write_file {"path":"a.txt"}' }

test('a tool is called, whole and streamed', async () => {
  const { status, body } = await gus.call('POST', '/v2/chat', { model, messages: [ask], tools })
  expect([status, body]).toMatchObject([
    200,
    {
      finish_reason: 'TOOL_CALL',
      message: { tool_calls: [{ type: 'function', function: { name: 'write_file' } }] },
      usage: { tokens: { input_tokens: expect.any(Number) } },
    },
  ])
  const { message } = Object(body)
  const [call] = message.tool_calls
  expect(JSON.parse(call.function.arguments)).toEqual({ path: 'a.txt' })
  const result = { role: 'tool', tool_call_id: call.id, content: 'written' }
  const next = { model, messages: [ask, message, result], tools }
  const replied = await gus.call('POST', '/v2/chat', next)
  expect(Object(replied.body).message.content[0].text).toContain('written')
  const streamed = await gus.call('POST', '/v2/chat', {
    model,
    messages: [ask],
    tools,
    stream: true,
  })
  const events = [...String(streamed.body).matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) =>
    JSON.parse(data),
  )
  const calls = events.flatMap(({ delta }) => delta?.message?.tool_calls ?? [])
  expect(calls[0]).toMatchObject({ id: expect.any(String), function: { name: 'write_file' } })
  const args = calls.map((one: { function: { arguments: string } }) => one.function.arguments)
  expect(JSON.parse(args.join(''))).toEqual({ path: 'a.txt' })
  expect(events.at(-2)).toMatchObject({ type: 'tool-call-end', index: 0 })
  expect(events.at(-1)).toMatchObject({ delta: { finish_reason: 'TOOL_CALL' } })
})

test('documents are sorted and charged by search units', async () => {
  const ned = await faked.gus()
  const { status, body, headers } = await ned.call('POST', '/v2/rerank', {
    model: 'rerank/rerank-ok',
    query: 'cape',
    documents: ['Hello there', 'Goodbye'],
  })
  expect([status, body]).toEqual([
    200,
    {
      id: expect.stringMatching(/^rerank-/),
      results: [
        { index: 1, relevance_score: 0.9 },
        { index: 0, relevance_score: 0.2 },
      ],
      meta: {
        api_version: { version: '2' },
        billed_units: { search_units: 1 },
        tokens: { input_tokens: expect.any(Number) },
        cost: 0.002,
      },
    },
  ])
  expect(headers.get('x-service-cost')).toBe('0.002')
  expect(await faked.findProblems(ned)).toEqual([])
})

test('an invalid request names the field in the envelope of Cohere and costs nothing', async () => {
  const before = await t.snapshot()
  const messages = [{ role: 'user', content: 'Hi.' }]
  for (const [param, more] of [
    ['documents', { documents: 'a' }],
    ['documents', { documents: [7] }],
    ['documents', { documents: ['a'], messages: [{ role: 'system', content: 'Hi.' }] }],
    ['connectors', { connectors: [{ id: 'web-search' }] }],
    ['logprobs', { logprobs: 3 }],
    ['raw_prompting', { raw_prompting: true }],
    ['stream', { stream: 'yes' }],
    ['tool_choice', { tool_choice: 'ANY' }],
    ['tool_choice', { tool_choice: 'REQUIRED' }],
    ['tools', { tools: 'all' }],
    ['response_format', { response_format: { type: 'xml' } }],
    ['thinking', { thinking: { type: 'enabled', token_budget: 'many' } }],
    ['max_tokens', { max_tokens: 0 }],
    ['messages', { messages: [] }],
    ['messages', { messages: ['hi'] }],
    ['messages', { messages: [{ role: 'toString', content: 'Hi.' }] }],
    ['messages', { messages: [{ role: 'user', content: [{ type: 'video' }] }] }],
    ['messages', { messages: [{ role: 'user', content: 7 }] }],
  ] as const) {
    const { status, body } = await gus.call('POST', '/v2/chat', { model, messages, ...more })
    expect([status, body]).toMatchObject([400, { param, message: expect.any(String) }])
    expect(body).not.toHaveProperty('error')
  }
  const rerank = await gus.call('POST', '/v2/rerank', { model: 'demo/rerank', query: '' })
  expect([rerank.status, rerank.body]).toMatchObject([400, { param: 'query' }])
  const body = { model, messages }
  for (const [status, response] of [
    [401, await t.request('POST', '/v2/chat', { body, key: 'gk_no' })],
    [404, await gus.call('POST', '/v2/chat', { ...body, model: 'no/model' })],
    [404, await gus.call('POST', '/v2/nothing', body)],
  ] as const) {
    expect([response.status, response.body]).toMatchObject([
      status,
      { message: expect.any(String) },
    ])
    expect(response.body).not.toHaveProperty('error')
  }
  expect(await t.snapshot()).toEqual(before)
})
