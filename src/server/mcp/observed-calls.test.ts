import { afterAll, expect, spyOn, test } from 'bun:test'

import { dialect } from '../../kernel/db/columns.ts'
import { callTool, post } from '../../testing/fixtures/mcp-server.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'

// No collector listens there, and spans that are not sent cost nothing.
const t = await startTestServer({
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  PUBLISHES_PER_HOUR: '1',
})
const ann = await t.agent('ann')
afterAll(() => t.close())

const html = '<!doctype html><title>Boats</title>'

test('a tool call has a span, as a request has', async () => {
  const { telemetry } = t.ctx
  if (!telemetry) throw new Error('telemetry is off')
  const ended = spyOn(telemetry, 'endRequest')
  await callTool(t, 'get_me', { key: ann.key })
  await ann.call('GET', '/me')
  const key = ann.key.slice(0, 11)
  const request = { method: 'GET', route: '/api/me', status: 200, key }
  expect(ended.mock.calls.map(([, one]) => one)).toMatchObject([request, request])
  const ids = ended.mock.calls.map(([span]) => span.traceId)
  expect(new Set(ids).size).toBe(2)
  ended.mockRestore()
})

test('the metrics count the errors of limits of tool calls', async () => {
  const { limitErrors } = t.ctx.state
  await ann.publish()
  const before = limitErrors.get('publishes_limit') ?? 0
  const { structuredContent } = await callTool(t, 'publish_app', { html, key: ann.key })
  expect(structuredContent['code']).toBe('publishes_limit')
  expect(limitErrors.get('publishes_limit')).toBe(before + 1)
})

test.skipIf(dialect !== 'postgres')(
  'other servers learn of the change of a tool call after it, also where its result is a stream',
  async () => {
    const ben = await t.agent('ben')
    const { appChanges } = t.ctx.state
    const counts: number[] = []
    const announce = spyOn(appChanges, 'announce').mockImplementation(async () => {
      const { body } = await ben.call('GET', '/apps')
      counts.push(Object(body).apps.length)
    })
    const call = (name: string, args: object) =>
      post(t, {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: { key: ben.key, ...args } },
      })
    await call('publish_app', { html })
    await call('get_me', {})
    await call('publish_app', { html: 7 })
    announce.mockRestore()
    expect(counts).toEqual([1])
  },
)
