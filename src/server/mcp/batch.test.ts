import { afterEach, expect, test } from 'bun:test'

import { enqueue } from '../../jobs/jobs.ts'
import { mcpBatchMax, mcpBatchResponseBytesMax } from '../../kernel/limits.ts'
import { zero } from '../../kernel/money.ts'
import { hour } from '../../kernel/time.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let ctx: TestServer
afterEach(() => ctx.close())

const list = { jsonrpc: '2.0', method: 'tools/list' }
const batchOf = (message: object, length = mcpBatchMax) =>
  Array.from({ length }, (_, id) => ({ ...message, id }))
const callOf = (name: string, args: object = {}) => ({
  jsonrpc: '2.0',
  method: 'tools/call',
  params: { name, arguments: args },
})

/** Sends a body of the revisions with `initialize`. Returns its status and messages. */
async function post(body: unknown, query = '', headers: Record<string, string> = {}) {
  const response = await ctx.request('POST', `/mcp${query}`, {
    headers: {
      host: 'localhost',
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'content-length': String(JSON.stringify(body).length),
      ...headers,
    },
    body: JSON.stringify(body),
  })
  const events = String(response.body).match(/(?<=^data: ).+$/gm) ?? []
  return { ...response, messages: events.map((event): unknown => JSON.parse(event)) }
}

test('a batch of 50 costs 50 requests of its address, without a key', async () => {
  ctx = await startTestServer({ REQUESTS_PER_MINUTE: '120' })
  for (const status of [200, 200, 429]) expect((await post(batchOf(list))).status).toBe(status)
  const full = await post(batchOf(list))
  expect(Number(full.headers.get('retry-after'))).toBeGreaterThan(0)
  // 20 of 120 are left, for batches that fit and for both kinds of messages.
  expect((await post(batchOf(callOf('is_on'), 10))).messages).toHaveLength(10)
  const wait = callOf('get_job', { id: 'AAAAAAAAAAAA', wait: 1 })
  expect((await post(batchOf(wait, 4))).messages).toHaveLength(4)
  expect((await post(batchOf(callOf('burn'), 5))).status).toBe(200)
  expect((await post({ ...list, id: 1 })).status).toBe(200)
  expect((await post({ ...list, id: 1 })).status).toBe(429)
  expect((await ctx.call('GET', '/on')).code).toBe('rate_limited')
  expect((await ctx.call('GET', '/on', { from: '203.0.113.10' })).status).toBe(200)
})

test('each poll of a wait counts, in a batch as alone', async () => {
  ctx = await startTestServer({ REQUESTS_PER_MINUTE: '100' })
  const { key } = await ctx.agent('ann')
  const owner = `agent:${(await ctx.ctx.keys.find(key))?.owner}` as const
  const about = { kind: 'assets', queue: 'media', owner, item: 'Boats0000001', input: {} } as const
  const job = await ctx.ctx.db.tx((db) => enqueue(ctx.ctx, db, { ...about, price: zero, ms: hour }))
  const { apiRequests } = ctx.ctx.state.limits
  const params = { name: 'get_job', arguments: { id: job.id, key, wait: 1 } }
  const wait = { ...callOf('get_job'), params: { ...params, _meta: { progressToken: 1 } } }
  const left = () => apiRequests.left('203.0.113.9').calls
  const costs: number[] = []
  for (const body of [{ ...wait, id: 1 }, batchOf(wait, 1)]) {
    const before = left()
    await post(body)
    costs.push(before - left())
  }
  expect(costs).toEqual([2, 2])
})

test('messages that never reach the router count too', async () => {
  ctx = await startTestServer({ REQUESTS_PER_MINUTE: '3' })
  const wrong = { ...callOf('get_me', { colour: 'red' }), id: 1 }
  for (let times = 0; times < 3; times += 1) expect((await post(wrong)).status).toBe(200)
  expect((await ctx.call('GET', '/on')).code).toBe('rate_limited')
})

test('the responses of a batch have a limit of bytes', async () => {
  ctx = await startTestServer()
  const { bytes, messages } = await post(batchOf(list))
  expect(messages).toHaveLength(mcpBatchMax)
  expect(bytes.length).toBeLessThan(mcpBatchResponseBytesMax + 150_000)
  expect(messages.at(0)).toMatchObject({ id: 0, result: { tools: expect.any(Array) } })
  expect(messages.at(-1)).toMatchObject({ id: 49, error: { code: -32_000 } })
  const odd = await post(batchOf({ ...list, params: { cursor: 'x' } }))
  expect(odd.bytes.length).toBeLessThan(mcpBatchResponseBytesMax + 150_000)
})

test('a call runs only while the budget of its batch lasts', async () => {
  ctx = await startTestServer()
  const ann = await ctx.agent('ann')
  const html = `<!doctype html><title>Large</title>${'<p>text</p>'.repeat(60_000)}`
  const id = await ann.publish({ html })
  const read = callOf('get_html', { id, key: ann.key })
  const publish = callOf('publish_app', { html: '<!doctype html><h1>Hi</h1>', key: ann.key })
  const before = await ctx.snapshot()
  const { messages } = await post([...batchOf(read, 2), { ...publish, id: 9 }])
  expect(messages).toMatchObject([
    { result: { structuredContent: { html } } },
    { error: { code: -32_000 } },
    { error: { code: -32_000 } },
  ])
  expect(await ctx.snapshot()).toEqual(before)
})

test('a list from memory equals the one of the library', async () => {
  ctx = await startTestServer()
  for (const [query, headers] of [
    ['', {}],
    ['?tools=core', {}],
    ['?tools=apps', { 'mcp-protocol-version': '2025-11-25' }],
    ['?tools=none', {}],
  ] as const) {
    // Parameters make the library answer.
    const built = await post({ ...list, id: 7, params: { cursor: 'x' } }, query, headers)
    for (let times = 0; times < 2; times += 1) {
      const { status, messages } = await post({ ...list, id: 7 }, query, headers)
      expect([status, messages]).toEqual([200, built.messages])
    }
  }
})

test('a batch of lists and other messages gets all responses', async () => {
  ctx = await startTestServer()
  const ping = { jsonrpc: '2.0', method: 'ping', id: 'p' }
  const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' }
  const { messages } = await post([ping, { ...list, id: 'a' }, initialized, { ...list, id: 'b' }])
  const ids = messages.map((message) => Object(message).id)
  expect(ids.toSorted()).toEqual(['a', 'b', 'p'])
  const listed = await post([{ ...list, id: 'a' }, initialized])
  expect(listed.messages).toMatchObject([{ id: 'a', result: {} }])
  expect((await post([{ ...list, id: 'a' }, { nothing: true }])).status).toBe(400)
  const old = { 'mcp-protocol-version': '1999-01-01' }
  expect((await post({ ...list, id: 1 }, '', old)).status).toBe(400)
  expect((await post({ ...list, id: 1 }, '', { accept: 'text/html' })).status).toBe(406)
})

test('input that a URL or header cannot carry is -32602', async () => {
  ctx = await startTestServer()
  const odd = [callOf('get_claim', { code: '\ud800' }), callOf('get_me', { key: 'a\nb' })]
  for (const message of odd) {
    expect((await post({ ...message, id: 1 })).messages).toMatchObject([
      { error: { code: -32_602 } },
    ])
  }
  const start = { jsonrpc: '2.0', id: 1, method: 'initialize' }
  for (const message of [
    start,
    { ...start, params: {} },
    { ...start, params: { protocolVersion: 7 } },
  ]) {
    const { messages, body } = await post(message)
    expect(messages[0] ?? body).toMatchObject({ id: 1, error: { code: -32_602 } })
  }
})
