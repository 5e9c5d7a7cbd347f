import { afterAll, expect, test } from 'bun:test'

import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
afterAll(() => t.close())

const path = '/v1/messages'
const basic = { model: 'demo/chat', max_tokens: 50, messages: [{ role: 'user', content: 'Ahoy' }] }

const envelope = (type: string) => ({
  type: 'error',
  error: { type, message: expect.any(String) },
  request_id: expect.any(String),
})

test('all errors on these paths have the envelope of Anthropic, and no others', async () => {
  const cases: [number, string, Parameters<TestServer['request']>][] = [
    [401, 'authentication_error', ['POST', path, { body: basic }]],
    [401, 'authentication_error', ['POST', path, { body: basic, key: 'gk_no' }]],
    [400, 'invalid_request_error', ['POST', path, { body: '{"model":', key: gus.key }]],
    [400, 'invalid_request_error', ['POST', path, { body: [], key: gus.key }]],
    [404, 'not_found_error', ['POST', path, { body: { ...basic, model: 'no' }, key: gus.key }]],
    [405, 'invalid_request_error', ['GET', path, { key: gus.key }]],
    [404, 'not_found_error', ['POST', `${path}/batches`, { body: {}, key: gus.key }]],
    [404, 'not_found_error', ['POST', '/messages/batches', { body: {}, key: gus.key }]],
    [
      404,
      'not_found_error',
      ['POST', `${path}/count_tokens`, { body: { ...basic, model: 'demo/image' }, key: gus.key }],
    ],
  ]
  for (const [status, type, args] of cases) {
    const response = await t.request(...args)
    expect([response.status, response.body]).toMatchObject([status, envelope(type)])
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
  }
  const others = await t.request('POST', '/v1/chat/completions', { body: basic })
  expect(others.body).not.toHaveProperty('type')
  expect(others.headers.get('request-id')).toBeNull()
})

test('a balance that is too low is a billing_error', async () => {
  const poor = await createGatewayUser(t, '0', '198.51.100.77')
  const { status, body } = await poor.call('POST', path, basic)
  expect([status, body]).toMatchObject([402, envelope('billing_error')])
})

test('the rate limit has the envelope of Anthropic', async () => {
  const limited = await startTestServer({ DEMO_MODELS: 'on', GATEWAY_REQUESTS_PER_MINUTE: '1' })
  try {
    await limited.request('POST', path, { body: basic })
    const { status, body, headers } = await limited.request('POST', path, { body: basic })
    expect([status, body]).toMatchObject([429, envelope('rate_limit_error')])
    expect(headers.get('retry-after')).not.toBeNull()
  } finally {
    await limited.close()
  }
})

test('a request with x-api-key is charged once under an Idempotency-Key', async () => {
  const headers = { 'x-api-key': gus.key, 'idempotency-key': 'message-1' }
  for (const stream of [false, true]) {
    const own = { ...headers, 'idempotency-key': `message-${String(stream)}` }
    const first = await t.request('POST', path, { body: { ...basic, stream }, headers: own })
    const again = await t.request('POST', path, { body: { ...basic, stream }, headers: own })
    expect(first.status).toBe(200)
    expect(again.body).toEqual(first.body)
  }
  const { body } = await gus.call('GET', '/v1/queries/history')
  expect(body).toMatchObject({ total: 2 })
})

test('a web search is a tool, and its pages are citations', async () => {
  const tools = [{ type: 'web_search_20250305', name: 'web_search', max_uses: 8 }]
  const page = { type: 'web_search_result_location', url: expect.any(String) }
  const messages = [{ role: 'user', content: 'tides at the cape' }]
  const body = { ...basic, max_tokens: 500, messages, tools }
  const { status, body: message } = await gus.call('POST', path, body)
  expect([status, message]).toMatchObject([
    200,
    { content: [{ type: 'text', citations: [page, page] }], stop_reason: 'end_turn' },
  ])
  const { body: events } = await gus.call('POST', path, { ...body, stream: true })
  expect(String(events).match(/"type":"citations_delta"/g)).toHaveLength(2)
})

test('count_tokens estimates the whole request', async () => {
  const count = async (more: object) => {
    const { status, body } = await gus.call('POST', `${path}/count_tokens`, { ...basic, ...more })
    expect(status).toBe(200)
    return Number(Object(body).input_tokens)
  }
  const tools = [{ name: 'Read', description: 'Reads. '.repeat(100), input_schema: {} }]
  expect(await count({ tools })).toBeGreaterThan((await count({})) + 100)
})
