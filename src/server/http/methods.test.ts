import { afterAll, describe, expect, test } from 'bun:test'

import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { getDocument, getGatewayDocument, listOperations } from '../../testing/openapi/document.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
const ann = await t.agent('ann')
const app = await ann.publish()
afterAll(() => t.close())

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'PROPFIND']

const send = (method: string, path: string, headers: Record<string, string> = {}) =>
  t.handle(
    new Request(`http://localhost:3000${path}`, {
      method,
      headers: { host: 'localhost', ...headers },
    }),
    '192.0.2.9',
  )

const allowOf = ({ headers }: Response): string[] =>
  (headers.get('allow') ?? '').split(', ').toSorted()

/** Returns the methods of each path of a document, with HEAD beside GET. */
const pathsOf = async () => {
  const operations = [
    ...listOperations(await getDocument(t)).map((one) => ({ ...one, path: `/api${one.path}` })),
    ...listOperations(await getGatewayDocument(t)).map((one) => ({
      ...one,
      path: `/v1${one.path}`,
    })),
  ]
  const byPath = Map.groupBy(operations, ({ path }) => path.replaceAll(/\{\w+\}/g, 'x'))
  return [...byPath].map(([path, group]): [string, string[]] => {
    const own = group.map(({ method }) => method.toUpperCase())
    return [path, (own.includes('GET') ? [...own, 'HEAD'] : own).toSorted()]
  })
}

test('each path of both APIs answers other methods with 405 and those that it has', async () => {
  const paths = await pathsOf()
  expect(paths.length).toBeGreaterThan(100)
  for (const [path, own] of paths) {
    for (const method of methods.filter((one) => !own.includes(one))) {
      const response = await send(method, path)
      expect([method, path, response.status]).toEqual([method, path, 405])
      expect([path, allowOf(response)]).toEqual([path, own])
    }
  }
})

const message = expect.stringContaining('does not support PUT. Use ')

test.each([
  ['/api/apps', { error: message, code: 'method_not_allowed' }],
  [
    '/v1/models',
    {
      error: { message, type: 'invalid_request_error', param: null, code: 'method_not_supported' },
    },
  ],
  ['/models/demo/chat', { error: { code: 'method_not_supported' } }],
  ['/openai/v1/chat/completions', { error: { code: 'method_not_supported' } }],
  [
    '/v1/messages',
    {
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message,
        details: { error_code: 'method_not_supported' },
      },
    },
  ],
  [
    '/api/v1/chat/completions',
    { error: { code: 405, message, metadata: { error_code: 'method_not_supported' } } },
  ],
  ['/v1beta/models', { error: { code: 405, message, status: 'UNIMPLEMENTED' } }],
  ['/v1beta/demo/chat:generateContent', { error: { code: 405 } }],
  ['/v2/chat', { message, code: 'method_not_supported' }],
])('%s has the envelope of its API', async (path, body) => {
  const response = await send('PUT', path)
  expect([response.status, await response.json()]).toMatchObject([405, body])
  expect(allowOf(response)).not.toEqual([''])
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
})

const pages: [path: string, methods: string][] = [
  ['/', 'GET, HEAD'],
  ['/explore', 'GET, HEAD'],
  [`/explore/${app}`, 'GET, HEAD'],
  ['/sign-in', 'GET, HEAD, POST'],
  ['/new/skill', 'GET, HEAD, POST'],
  ['/console', 'GET, HEAD'],
  ['/static/pages.css', 'GET, HEAD'],
  ['/skill.md', 'GET, HEAD'],
  ['/metrics', 'GET, HEAD'],
  [`/skills/${app}`, 'GET, HEAD'],
  [`/skills/${app}/files/a%20b.md`, 'GET, HEAD'],
  ['/.well-known/agent-skills/index.json', 'GET, HEAD'],
  [`/a/${app}`, 'GET, HEAD, POST'],
  [`/a/${app}/data`, 'GET, HEAD'],
  [`/a/${app}/files/a.png`, 'GET, HEAD'],
  [`/a/${app}/versions/1`, 'GET, HEAD'],
  ['/frame', 'GET, HEAD'],
]

describe.each(pages)('%s', (path, allowed) => {
  test('answers other methods with 405 for browsers and programs', async () => {
    for (const accept of ['text/html', 'application/json']) {
      const response = await send('PUT', path, { accept })
      expect([response.status, response.headers.get('allow')]).toEqual([405, allowed])
      expect(response.headers.get('content-type')).toStartWith(accept)
      expect(await response.text()).toContain('does not support PUT. Use GET')
    }
  })

  test('lists its methods for OPTIONS', async () => {
    const response = await send('OPTIONS', path)
    expect([response.status, response.headers.get('allow')]).toEqual([204, `OPTIONS, ${allowed}`])
  })
})

test('MCP and the health checks have 405, too', async () => {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'PATCH']) {
    const { status, headers } = await send(method, '/mcp')
    expect([method, status, headers.get('allow')]).toEqual([method, 405, 'POST'])
  }
  for (const path of ['/healthz', '/readyz']) {
    const { status, headers } = await send('POST', path)
    expect([path, status, headers.get('allow')]).toEqual([path, 405, 'GET, HEAD'])
    expect((await send('HEAD', path)).status).toBe(200)
  }
})

test('unknown paths stay 404 for each method, and preflights stay 204', async () => {
  const unknown = [
    '/api/nothing',
    '/v1/nothing',
    '/v1beta/nothing',
    '/v2/nothing',
    '/api/v1/nothing',
    '/nothing',
    '/a',
    '/a/x/y/z',
    '/healthz/x',
  ]
  const slash = await send('PUT', '/api/apps/')
  expect([slash.status, allowOf(slash)]).toEqual([405, ['GET', 'HEAD', 'POST']])
  for (const path of unknown) {
    for (const method of methods) {
      const { status, headers } = await send(method, path)
      expect([method, path, status, headers.get('allow')]).toEqual([
        method,
        path,
        method === 'POST' && path === '/v1beta/nothing' ? 401 : 404,
        null,
      ])
    }
  }
  for (const path of ['/api/apps', '/api/nothing', '/v1/models', '/v1/nothing']) {
    expect((await send('OPTIONS', path)).status).toBe(204)
  }
})
