import { afterAll, describe, expect, test } from 'bun:test'

import { recordOf } from '../kernel/schema.ts'
import { respondStarting } from '../server/http/router.ts'
import { createGatewayUser } from '../testing/fixtures/gateway.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const gus = await createGatewayUser(t, '1')
afterAll(() => t.close())

const message = expect.stringMatching(/.{10}/)
const keysOf = (value: unknown): string[] => Object.keys(recordOf(value))

/** An API, the operations that take a body and those that do not, and its envelope of an error. */
interface Family {
  name: string
  takers: string[]
  readers: string[]
  unknown: string[]
  /** Expects the envelope of this API, and no field of another one. */
  check(body: unknown, status: number): void
}

const families: Family[] = [
  {
    name: 'OpenAI',
    takers: [
      '/v1/chat/completions',
      '/v1/responses',
      '/openai/v1/chat/completions',
      '/completions',
    ],
    readers: ['/v1/files', '/v1/batches'],
    unknown: ['/v1', '/v1/nothing', '/openai/v1/nothing'],
    check(body) {
      expect(body).toMatchObject({ error: { message, type: expect.any(String) } })
      expect(keysOf(body)).toEqual(['error'])
      const { code, ...error } = recordOf(recordOf(body).error)
      expect(typeof code === 'string' || code === null).toBe(true)
      expect(keysOf(error).toSorted()).toEqual(['message', 'param', 'type'])
    },
  },
  {
    name: 'Anthropic',
    takers: ['/v1/messages', '/v1/messages?beta=true', '/v1/messages/count_tokens', '/messages'],
    readers: ['/anthropic/files'],
    unknown: ['/v1/messages/nothing', '/v1/messages/batches', '/anthropic/nothing'],
    check(body) {
      expect(body).toMatchObject({
        type: 'error',
        error: { type: expect.stringMatching(/^[a-z_]+$/), message },
        request_id: expect.any(String),
      })
      expect(keysOf(body)).toEqual(['type', 'error', 'request_id'])
      const error = keysOf(recordOf(body).error)
      expect(error.filter((name) => !['type', 'message', 'details'].includes(name))).toEqual([])
    },
  },
  {
    name: 'Gemini',
    takers: [
      '/v1beta/models/demo/chat:generateContent',
      '/v1/models/demo/chat:streamGenerateContent?alt=sse',
      '/v1beta/models/demo/chat:countTokens',
      '/v1/models/demo/embedding:embedContent',
    ],
    readers: [],
    unknown: [
      '/v1beta',
      '/v1/models:generateContent',
      '/v1beta/nothing',
      '/v1beta/models/demo/chat:nothing',
    ],
    check(body, code) {
      const status = expect.stringMatching(/^[A-Z_]+$/)
      expect(body).toMatchObject({ error: { code, message, status } })
      expect(keysOf(body)).toEqual(['error'])
      const error = keysOf(recordOf(body).error)
      const own = ['code', 'message', 'status', 'details']
      expect(error.filter((name) => !own.includes(name))).toEqual([])
    },
  },
  {
    name: 'OpenRouter',
    takers: ['/api/v1/chat/completions'],
    readers: ['/api/v1/key', '/api/v1/credits', '/api/v1/generation?id=none'],
    unknown: [
      '/api/v1',
      '/api/v1/nothing',
      '/api/v1/messages',
      '/api/v1/models/none/none/endpoints',
    ],
    check(body, code) {
      expect(body).toMatchObject({ error: { code, message } })
      expect(keysOf(body)).toEqual(['error'])
      const error = keysOf(recordOf(body).error)
      expect(error.filter((name) => !['code', 'message', 'metadata'].includes(name))).toEqual([])
    },
  },
  {
    name: 'Cohere',
    takers: ['/v2/chat', '/v2/rerank', '/v2/embed', '/v1/embed'],
    readers: [],
    unknown: ['/v2', '/v2/nothing'],
    check(body) {
      expect(body).toMatchObject({ id: expect.any(String), message })
      const own = ['id', 'message', 'code', 'param']
      expect(keysOf(body).filter((name) => !own.includes(name))).toEqual([])
    },
  },
]

describe.each(families)('every error of the paths of $name has its envelope', (family) => {
  const { takers, readers, unknown, check } = family
  const json = { 'content-type': 'application/json' }

  test('malformed bodies get an error in the envelope', async () => {
    const bodies = ['{', '[]', '""', 'null', '', '{}', '{"model": 7}', '{"model": "no/such"}']
    for (const path of takers) {
      for (const body of [...bodies, new Uint8Array([0x7b, 0xff]), 'x'.repeat(70_000)]) {
        const response = await gus.call('POST', path, body, json)
        expect([path, response.status >= 400 && response.status < 500]).toEqual([path, true])
        check(response.body, response.status)
      }
      const response = await gus.call('POST', path, 'model=x', { 'content-type': 'text/plain' })
      check(response.body, response.status)
    }
  })

  test('missing and wrong keys get an error in the envelope', async () => {
    for (const [method, path] of [
      ...takers.map((path) => ['POST', path] as const),
      ...readers.map((path) => ['GET', path] as const),
    ]) {
      for (const headers of [{}, { authorization: 'Bearer gk_no' }, { 'x-api-key': 'ak_no' }]) {
        const body = method === 'POST' ? { body: '{}' } : {}
        const response = await t.request(method, path, {
          headers: { ...json, ...headers },
          ...body,
        })
        expect([path, response.status]).toEqual([path, 401])
        check(response.body, 401)
      }
    }
  })

  test('unknown paths and methods, and a starting server, respond with the envelope', async () => {
    for (const path of [...unknown, ...takers]) {
      for (const method of ['GET', 'PUT', 'DELETE'] as const) {
        const response = await gus.call(method, path)
        const status = response.headers.has('allow') ? 405 : 404
        expect([method, path, response.status]).toEqual([method, path, status])
        check(response.body, status)
      }
      const starting = await respondStarting(new Request(`http://localhost${path}`), '127.0.0.1')
      expect(starting.status).toBe(503)
      check(await starting.json(), 503)
    }
  })
})
