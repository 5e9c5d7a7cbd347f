import { afterAll, expect, test } from 'bun:test'

import { startTestServer } from '../testing/fixtures/test-server.ts'

const t = await startTestServer({ DEMO_MODELS: 'on' })
afterAll(() => t.close())

test('the log names a path without a route', async () => {
  await t.request('POST', '/v1/no/such/path', { body: {} })
  await t.request('GET', '/v1/models')
  const [unknown, known] = t.lines.filter(({ event }) => event === 'request').slice(-2)
  expect(unknown).toMatchObject({ route: null, path: '/v1/no/such/path', status: 404 })
  expect(known).not.toHaveProperty('path')
})

test('an unknown path of OpenRouter is named as the client sent it', async () => {
  const { status, body } = await t.request('POST', '/api/v1/nothing', { body: {} })
  const message = expect.stringContaining('POST /api/v1/nothing')
  expect([status, body]).toMatchObject([404, { error: { code: 404, message } }])
  const line = t.lines.findLast(({ event }) => event === 'request')
  expect(line).toMatchObject({ path: '/api/v1/nothing' })
})

test('a WebSocket handshake is 426 at once', async () => {
  const headers = { connection: 'Upgrade', upgrade: 'websocket' }
  const response = await t.request('GET', '/v1/responses', { headers })
  expect([response.status, response.code]).toEqual([426, 'no_websocket'])
  expect(response.headers.get('upgrade')).toBe('HTTP/1.1')
  expect((await t.request('GET', '/v1/responses')).status).toBe(405)
  const { status, body } = await t.request('GET', '/v1/messages', { headers })
  expect([status, body]).toMatchObject([426, { type: 'error' }])
})
