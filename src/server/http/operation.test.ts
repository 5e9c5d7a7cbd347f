import { afterAll, describe, expect, test } from 'bun:test'

import type { Operation } from '../../kernel/http/operation.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { agentOperations } from '../agent-api.ts'
import { gatewayOperations, loadForeignOperations } from '../gateway-api.ts'
import { createRouter, partOf, partsBySegment } from './router.ts'

const t = await startTestServer()
const { agentApi, gateway } = await createRouter(t.ctx).load()
const apis = [
  ['api', agentApi],
  ['gateway', gateway],
] as const
const operations = [
  ...agentOperations.map((operation) => ({ ...operation, path: `/api${operation.path}` })),
  ...gatewayOperations.map((operation) => ({ ...operation, path: `/v1${operation.path}` })),
]
afterAll(() => t.close())

const listRoutes = (prefix: string, all: readonly Operation[]): string[] =>
  all.map(({ method, path }) => `${method} ${prefix}${path}`)

test('the route map leads to every route, and has no segment without one', () => {
  for (const [part, { routes }] of apis) {
    const segments = new Set(routes.map(({ path }) => path.split('/')[1]))
    const mapped = Object.entries(partsBySegment).filter(([, name]) => name === part)
    expect(mapped.map(([segment]) => segment).sort()).toEqual([...segments].map(String).sort())
    for (const { path } of routes) expect([path, partOf(path)]).toEqual([path, part])
  }
})

test('every route is that of an operation, except a redirect and an alias', async () => {
  const routes = [...agentApi.routes, ...gateway.routes].map(
    ({ method, path }) => `${method} ${path}`,
  )
  const declared = new Set([
    ...listRoutes('/api', agentOperations),
    ...['/v1', ''].flatMap((prefix) => listRoutes(prefix, gatewayOperations)),
    ...Object.entries(await loadForeignOperations()).flatMap(([prefix, all]) =>
      listRoutes(prefix, all),
    ),
  ])
  const others = ['GET /api/docs', 'GET /v1/models/*', 'GET /models/*']
  expect(routes.filter((route) => !declared.has(route))).toEqual(others)
})

describe('a declaration', () => {
  test('of authentication takes effect before the body is read', async () => {
    const statuses = { agent: 401, person: 401, key: 401 }
    for (const {
      id,
      access: { auth },
      method,
      path,
    } of operations) {
      if (auth === 'none') continue
      const url = path.replace(/:\w+/g, 'AAAAAAAAAAAA')
      const body = method === 'GET' ? undefined : '{"broken'
      const headers = { 'content-type': 'application/json' }
      const { status } = await t.request(method, url, { headers, body })
      expect([id, status]).toEqual([id, Object(statuses)[auth]])
    }
  })

  test('of full-disk behavior belongs to a request that can store something', () => {
    for (const { id, method, onFullDisk } of operations) {
      if (onFullDisk) expect([id, ['POST', 'PUT'].includes(method)]).toEqual([id, true])
    }
  })
})
