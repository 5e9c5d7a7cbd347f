import { afterAll, describe, expect, test } from 'bun:test'

import { gatewayOperations } from '../gateway/api.ts'
import { agentOperations } from '../hosting/api.ts'
import { startTestServer } from '../testing/fixtures/test-server.ts'
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

test('the route map leads to every route, and has no segment without one', () => {
  for (const [part, { routes }] of apis) {
    const segments = new Set(routes.map(({ path }) => path.split('/')[1]))
    const mapped = Object.entries(partsBySegment).filter(([, name]) => name === part)
    expect(mapped.map(([segment]) => segment).sort()).toEqual([...segments].map(String).sort())
    for (const { path } of routes) expect([path, partOf(path)]).toEqual([path, part])
  }
})

test('every route declares its operation, or is hidden', () => {
  for (const { path, hooks } of gateway.routes) {
    const { detail = {} } = hooks
    expect([path, detail.hide === true || detail.operation?.id]).not.toEqual([path, undefined])
  }
})

describe('a declaration', () => {
  test('of authentication takes effect before the body is read', async () => {
    const statuses = { agent: 401, person: 401, key: 401 }
    for (const { id, auth, method, path } of operations) {
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
