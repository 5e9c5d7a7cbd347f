import { afterEach, beforeEach, expect, test } from 'bun:test'

import { listAudit } from '../../people/audit/audit.ts'
import { signInOperator } from '../../testing/fixtures/form-browser.ts'
import {
  startTestServer,
  type TestAgent,
  type TestServer,
} from '../../testing/fixtures/test-server.ts'
import { createContext } from '../context.ts'
import { decide, type Decision } from '../operator/decisions.ts'

let t: TestServer
let ann: TestAgent
beforeEach(async () => {
  t = await startTestServer({ METRICS_TOKEN: 'm'.repeat(32) })
  ann = await t.agent('ann')
})
afterEach(() => t.close())

const by = 'olga'
const apply = (name: Decision, item: string) => decide(t.ctx, name, { item, why: '', by })
const readMe = (from: string) => t.call('GET', '/me', { key: ann.key, from })
const network = 'address:203.0.113.0/24'

test('a blocked network is rejected everywhere but in the console, until the block is lifted', async () => {
  expect((await apply('ban', network))?.ok).toBe(true)
  const rejected = await readMe('203.0.113.77')
  expect([rejected.status, rejected.code]).toEqual([429, 'rate_limited'])
  expect(rejected.text('error')).toContain('blocked')
  expect(rejected.headers.get('retry-after')).toBe('3600')
  const from = '203.0.113.77'
  const statuses = await Promise.all(
    ['/v1/models', '/explore', '/a/AAAAAAAAAAAA', '/sign-in', '/console', '/healthz'].map(
      async (path) => (await t.request('GET', path, { from })).status,
    ),
  )
  expect(statuses).toEqual([429, 429, 429, 200, 303, 200])
  const mcp = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  expect(
    (await t.request('POST', '/mcp', { body: mcp, from, headers: { host: 'localhost:3000' } }))
      .status,
  ).toBe(429)
  expect((await readMe('198.51.100.7')).status).toBe(200)
  expect((await apply('allow', network))?.ok).toBe(true)
  expect((await readMe('203.0.113.77')).status).toBe(200)
  expect((await apply('allow', network))?.ok).toBe(false)
})

test('a blocked key and a blocked account are rejected from every network', async () => {
  const agent = (await t.ctx.keys.find(ann.key))?.owner
  for (const item of [`key:${ann.key.slice(0, 11)}`, `account:agent:${agent}`]) {
    await apply('ban', item)
    expect([(await readMe('198.51.100.7')).code, item]).toEqual(['rate_limited', item])
    await apply('allow', item)
    expect((await readMe('198.51.100.7')).status).toBe(200)
  }
})

test('a client that is slowed down has 12 requests a minute', async () => {
  await apply('slow', network)
  const statuses: number[] = []
  for (let sent = 0; sent < 14; sent += 1) statuses.push((await readMe('203.0.113.5')).status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(12)
  expect((await readMe('198.51.100.7')).status).toBe(200)
})

test('a restriction survives a restart and is audited', async () => {
  await apply('ban', network)
  const { db } = t.ctx
  const next = await createContext(t.ctx.config, 'http://localhost:3001', { db })
  expect(next.restrictions.find(network)).toEqual({ subject: network, kind: 'block' })
  expect(await listAudit(t.ctx, 5, network)).toMatchObject([{ by, did: 'ban', item: network }])
  expect(await apply('ban', 'address:')).toBeUndefined()
})

test('costs are charged to network, key and account, and metrics count rejections', async () => {
  const html = `<title>x</title>${'<p>some more text</p>'.repeat(4_000)}`
  await ann.call('POST', '/apps', { html, dryRun: true })
  const { costs } = t.ctx.state
  const [top] = costs.top('key', 1)
  expect(top?.name).toBe(ann.key.slice(0, 11))
  expect(top?.spending.requests).toBeGreaterThan(0)
  expect(top?.spending.work).toBeGreaterThan(0)
  expect(costs.top('address', 5).map(({ name }) => name)).toContain('192.0.2.0/24')
  await apply('slow', network)
  for (let sent = 0; sent < 14; sent += 1) await readMe('203.0.113.5')
  const metrics = await t.request('GET', '/metrics', { key: 'm'.repeat(32), from: '198.51.100.7' })
  const text = new TextDecoder().decode(metrics.bytes)
  expect(text).toContain('berth_limit_rejections_total{limit="slowedRequests"} 2')
})

test('work counts against the rate of the address, and the headers say so', async () => {
  const limited = await startTestServer({ REQUESTS_PER_MINUTE: '240' })
  const agent = await limited.agent('ann')
  const before = limited.ctx.state.limits.apiRequests.left('192.0.2.1').calls
  const html = `<title>x</title>${'<p>some more text</p>'.repeat(60_000)}`
  const response = await agent.call('POST', '/apps', { html, dryRun: true })
  const left = Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])
  // The request itself is one.
  expect(left).toBeLessThan(before - 1)
  await limited.close()
})

test('the operator slows down and blocks with a click, and confirms for the own network', async () => {
  const browser = await signInOperator(t)
  const page = await browser.open('/console/clients')
  expect(String(page.body)).toContain('192.0.2.0/24')
  const click = (item: string, decision: string, more = {}) =>
    browser.fill('/console/clients', '/console/clients', { item, decision, ...more })
  expect((await click('address:192.0.2.0/24', 'ban')).status).toBe(303)
  expect(t.ctx.restrictions.find('address:192.0.2.0/24')?.kind).toBe('block')
  expect((await click('address:192.0.2.0/24', 'allow')).status).toBe(303)
  const [own] = t.ctx.state.costs.top('address', 9).filter(({ name }) => name !== '192.0.2.0/24')
  const rejected = await click(`address:${own?.name}`, 'ban')
  expect(rejected.status).toBe(400)
  expect(t.ctx.restrictions.list()).toEqual([])
  expect((await click(`address:${own?.name}`, 'ban', { own: 'yes' })).status).toBe(303)
  expect(await browser.read('/console/clients')).toContain('blocked')
})
