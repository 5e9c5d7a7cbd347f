import { afterEach, beforeEach, expect, test } from 'bun:test'

import { Validator } from '@seriousme/openapi-schema-validator'

import { recordOf } from '../kernel/schema.ts'
import { createGatewayUser } from '../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'

let t: TestServer

beforeEach(async () => {
  t = await startTestServer({ GATEWAY_REQUESTS_PER_MINUTE: '5' })
})
afterEach(() => t.close())

test('a call over the rate of its address gets a plain 429 with retry-after and does nothing', async () => {
  const from = '198.51.100.9'
  for (let calls = 5; calls > 0; calls -= 1) {
    const { status, headers } = await t.request('GET', '/v1/models', { from })
    expect(status).toBe(200)
    expect(headers.get('x-ratelimit-limit-requests')).toBe('5')
    expect(headers.get('x-ratelimit-remaining-requests')).toBe(String(calls - 1))
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/)
  }
  const kept = await t.snapshot()
  const { status, body, headers } = await t.request('POST', '/accounts/create', { from })
  expect(status).toBe(429)
  expect(body).toEqual({
    statusCode: 429,
    error: 'Too Many Requests',
    message: expect.stringContaining('5 requests a minute'),
  })
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  expect(headers.get('x-request-id')).toBeString()
  expect(await t.snapshot()).toEqual(kept)
  expect((await t.request('GET', '/v1/models')).status).toBe(200)
  expect((await t.request('GET', '/api/on', { from })).status).toBe(200)
  t.clock.advance(120_000)
  expect((await t.request('GET', '/models', { from })).status).toBe(200)
})

test('an unknown operation gets an error envelope, and an unknown page stays a page', async () => {
  for (const [method, path] of [
    ['GET', '/v1'],
    ['GET', '/v1/nothing'],
    ['GET', '/chat'],
    ['PUT', '/credits'],
    ['DELETE', '/v1/credits/balances'],
  ] as const) {
    const from = `198.51.100.${path.length + method.length}`
    const { status, body, code } = await t.request(method, path, { from })
    expect([path, status, code]).toEqual([path, 404, 'unknown_url'])
    expect(body).toMatchObject({ error: { type: 'invalid_request_error', param: null } })
  }
  const page = await t.request('GET', '/v1x')
  expect([page.status, page.headers.get('content-type')]).toEqual([
    404,
    expect.stringMatching(/html/),
  ])
})

test('a browser of any origin may call the gateway with any header', async () => {
  const { status, headers } = await t.request('OPTIONS', '/v1/chat/completions')
  expect(status).toBe(204)
  expect(headers.get('access-control-allow-headers')).toBe('authorization, *')
  const response = await t.request('GET', '/v1/models', {
    headers: { origin: 'https://else.test' },
  })
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
})

test('an internal error is a 500 envelope with the request id, and is logged once', async () => {
  const gus = await createGatewayUser(t)
  const broken = new Error('the catalog is broken')
  Object.assign(t.ctx.catalog, {
    list: () => {
      throw broken
    },
  })
  const { status, body, code, headers } = await gus.call('GET', '/v1/models')
  expect([status, code]).toEqual([500, 'internal'])
  const message = expect.stringContaining(headers.get('x-request-id') ?? 'none')
  expect(body).toMatchObject({ error: { type: 'api_error', param: null, message } })
  expect(t.lines.filter(({ level }) => level === 'error')).toHaveLength(1)
  expect(JSON.stringify(t.lines)).not.toContain(gus.key)
})

test('a gateway with its own address responds there', async () => {
  const own = await startTestServer({ GATEWAY_URL: 'https://models.test/llm' })
  const { status } = await own.request('GET', '/llm/v1/models', {
    headers: { host: 'models.test' },
  })
  expect(status).toBe(200)
  await own.close()
})

test('a socket may be silent while it waits for its response, and only then', async () => {
  const decisions: unknown[] = []
  const ask = async (path: string, body: ReadableStream | string): Promise<void> => {
    const headers = { 'content-type': 'application/json' }
    const request = new Request(`http://localhost${path}`, { method: 'POST', headers, body })
    await t.handle(request, '198.51.100.7', {
      pauseIdleTimeout: (isAllowed) => decisions.push(isAllowed),
      upgrade: () => false,
    })
    decisions.push(path)
  }
  await ask('/accounts/create', '{}')
  expect(decisions.splice(0)).toEqual([true, false, '/accounts/create'])
  const half = new ReadableStream({ start: (out) => out.enqueue(Buffer.from('{')) })
  void ask('/v1/accounts/create', half)
  await ask('/api/keys', '{}')
  expect(decisions).toEqual(['/api/keys'])
})

test('the description is valid OpenAPI 3.1 and has every operation once', async () => {
  const { status, body } = await t.request('GET', '/v1/openapi.json')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    openapi: '3.1.0',
    servers: [{ url: 'http://localhost:3000/v1' }],
    paths: {
      '/models': { get: { operationId: 'list_models', security: [] } },
      '/models/{id}': { get: { operationId: 'get_model' } },
      '/accounts/create': { post: { security: [] } },
      '/credits/balance': { post: { security: [{ key: [] }] } },
      '/files': { post: { requestBody: { content: { 'multipart/form-data': {} } } } },
      '/queries/history': { get: {} },
      '/topup/create/{method}': { post: {} },
    },
  })
  const text = JSON.stringify(body)
  const copy: object = JSON.parse(text)
  expect(await new Validator().validate({ ...copy })).toMatchObject({ valid: true })
  // A word of 3.0: generated clients refused the null of an assistant who calls a tool.
  expect(text.includes('"nullable"')).toBe(false)
})

test('the description names every type of body, also of responses that are not JSON', async () => {
  const { info, paths } = recordOf((await t.request('GET', '/v1/openapi.json')).body)
  expect(recordOf(info).description).toContain('Every 429 and 503\nhas `retry-after`')
  const typesOf = (path: string, method = 'get', status = '200') => {
    const { responses } = recordOf(recordOf(recordOf(paths)[path])[method])
    return Object.keys(recordOf(recordOf(recordOf(responses)[status]).content)).join()
  }
  const json = 'application/json'
  expect(typesOf('/chat/completions', 'post')).toBe(`${json},text/event-stream`)
  expect(typesOf('/responses', 'post')).toBe(`${json},text/event-stream`)
  const texts = 'text/plain,application/x-subrip,text/vtt'
  expect(typesOf('/audio/transcriptions', 'post')).toBe(`${json},${texts},text/event-stream`)
  expect(typesOf('/audio/translations', 'post')).toBe(`${json},${texts}`)
  expect(typesOf('/queries/history')).toBe(`${json},text/csv`)
  expect(typesOf('/audio/speech', 'post')).toBe('audio/*,text/event-stream')
  expect(typesOf('/images/{id}')).toBe('image/*')
  expect(typesOf('/videos/{id}/content', 'get', '206')).toBe('video/*')
  expect(typesOf('/videos/{id}/content')).toBe('video/*')
  expect(typesOf('/files/{id}/content')).toBe('*/*')
  const form = { 'multipart/form-data': {} }
  expect(paths).toMatchObject({
    '/videos': { post: { requestBody: { content: { [json]: {}, ...form } } } },
  })
  const named = expect.objectContaining({ in: 'header', name: 'Idempotency-Key' })
  for (const path of ['chat/completions', 'responses', 'embeddings', 'videos', 'audio/speech']) {
    expect(paths).toMatchObject({
      [`/${path}`]: { post: { parameters: expect.arrayContaining([named]) } },
    })
  }
})

test('a generated client may send fields that go to the upstream', async () => {
  const { body } = await t.request('GET', '/v1/openapi.json')
  const sent = (schema: object) => ({
    post: { requestBody: { content: { 'application/json': { schema } } } },
  })
  const any = { additionalProperties: {} }
  const message = { ...any, properties: { content: { oneOf: expect.any(Array) } } }
  const messages = { properties: { messages: { items: message } } }
  expect(body).toMatchObject({
    paths: {
      '/chat/completions': sent({ ...any, ...messages }),
      '/responses': sent(any),
      '/audio/speech': sent(any),
      '/images/generations': sent(any),
      '/embeddings': sent(any),
      '/videos': sent(any),
    },
  })
})

test('/openai/v1 is an alias of /v1', async () => {
  const gus = await createGatewayUser(t, '1')
  const body = { model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }
  const chat = await gus.call('POST', '/openai/v1/chat/completions', body)
  expect(chat.body).toMatchObject({ object: 'chat.completion' })
  const models = await t.request('GET', '/openai/v1/models?type=chat')
  expect(models.body).toEqual((await t.request('GET', '/v1/models?type=chat')).body)
  for (const path of ['/openai/v1/none', '/openai/v1']) {
    expect((await t.request('GET', path)).body).toMatchObject({ error: { code: 'unknown_url' } })
  }
  for (const path of ['/openai', '/openai/chat/completions', '/openai/v10/models']) {
    const { status, headers } = await t.request('GET', path)
    expect([status, headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8'])
  }
})
