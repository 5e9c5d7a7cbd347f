import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'

import { signingSecret } from '../../apps/me/hooks/hooks.ts'
import { dialect } from '../../kernel/db/columns.ts'
import { replicas } from '../../kernel/db/replicas/tables.ts'
import type { Network } from '../../kernel/fetch.ts'
import { listAlerts } from '../../kernel/state/alerts.ts'
import { observedWindows } from '../../kernel/state/tables.ts'
import { minute } from '../../kernel/time.ts'
import { alertText, signInOperator } from '../../testing/fixtures/form-browser.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { checkAlerts, sendTestAlert } from './alerts.ts'
import { changeSetting } from './settings.ts'

const outside = '127.0.0.2'
const net: Network = {
  resolve: async () => [outside],
  isPublic: (address) => address === outside,
}

let t: TestServer
let receiver: Bun.Server<undefined>
let received: { body: string; headers: Headers }[]
let status: number

beforeEach(async () => {
  received = []
  status = 200
  t = await startTestServer()
  receiver = Bun.serve({
    hostname: outside,
    port: 0,
    fetch: async (request) => {
      received.push({ body: await request.text(), headers: request.headers })
      return new Response(null, { status, headers: { location: 'http://127.0.0.1/' } })
    },
  })
  await set('ALERT_WEBHOOK_URL', `http://alerts.example:${receiver.port}/hush-hush`)
})

afterEach(async () => {
  await receiver.stop(true)
  await t.close()
})

const set = (name: string, value: string) => changeSetting(t.ctx, { name, value, by: 'olga' })
const check = () => checkAlerts(t.ctx, net)
const types = () =>
  received.map(({ body }) => {
    const message: { type: string; data: { alert: string } } = JSON.parse(body)
    return `${message.type} ${message.data.alert}`
  })

/** Lets the disk look full, or not. */
const fill = (isFull: boolean) => set('ALERT_DISK_FREE_BYTES', isFull ? '900000000000000' : '0')

test('sends an alert once and its end once, signed', async () => {
  await check()
  expect(types()).toEqual([])
  await fill(true)
  for (let at = 0; at < 4; at += 1) {
    await check()
    t.clock.advance(minute)
  }
  expect(types()).toEqual(['alert.firing disk'])
  const [{ body, headers } = { body: '', headers: new Headers() }] = received
  const key = Buffer.from(signingSecret(t.ctx, 'alerts').replace('whsec_', ''), 'base64')
  const text = `${headers.get('webhook-id')}.${headers.get('webhook-timestamp')}.${body}`
  const mac = createHmac('sha256', key).update(text).digest('base64')
  expect(headers.get('webhook-signature')).toBe(`v1,${mac}`)
  expect(JSON.parse(body)).toMatchObject({ text: expect.stringContaining('disk space are free') })

  await fill(false)
  await check()
  expect(types()).toHaveLength(1)
  t.clock.advance(3 * minute)
  await check()
  await check()
  expect(types()).toEqual(['alert.firing disk', 'alert.resolved disk'])
  expect(await listAlerts(t.ctx)).toEqual([])
})

test('sends once where several processes see it at the same time', async () => {
  await fill(true)
  await Promise.all([check(), check(), check()])
  await Promise.all([check(), check()])
  expect(types()).toEqual(['alert.firing disk'])
})

test('tries eight times, and never sends the end of an alert whose beginning was not sent', async () => {
  status = 500
  await fill(true)
  for (let at = 0; at < 12; at += 1) {
    await check()
    t.clock.advance(minute)
  }
  expect(types()).toHaveLength(8)
  expect(await listAlerts(t.ctx)).toMatchObject([
    { isSent: false, tries: 8, problem: 'status 500' },
  ])
  status = 200
  await fill(false)
  t.clock.advance(3 * minute)
  await check()
  expect(types()).toHaveLength(8)
  expect(await listAlerts(t.ctx)).toEqual([])
})

test('alerts on the share of server errors, with enough requests', async () => {
  const { observations } = t.ctx.state
  const add = (count: number, code: number) => {
    for (let at = 0; at < count; at += 1) observations.parts.record('api', 40_000, code)
  }
  add(10, 500)
  await check()
  expect(types()).toEqual([])
  add(10, 200)
  await check()
  expect(types().sort()).toEqual(['alert.firing errors', 'alert.firing latency'])
})

if (dialect === 'postgres')
  test('adds up the traffic of all servers, and names the one with a full disk', async () => {
    const at = Math.floor(t.clock.now() / minute) * minute
    // Cells of the histogram: 15 requests, and 15 server errors.
    const counts = { api: [30, 15, 61, 15] }
    const row = { process: 'other', name: 'parts', at, counts }
    const other = { id: 'other', folder: 'elsewhere', version: '1', since: 0, seen: 0 }
    await t.ctx.db.tx(async (tx) => {
      await tx.insert(observedWindows).values(row)
      await tx.insert(replicas).values(other)
    })
    await check()
    expect(types()).toEqual([])
    for (let count = 0; count < 5; count += 1) {
      t.ctx.state.observations.parts.record('api', 1, 200)
    }
    await fill(true)
    await check()
    expect(types().sort()).toEqual(['alert.firing disk', 'alert.firing errors'])
    const texts = (await listAlerts(t.ctx)).map(({ text }) => text)
    expect(texts).toEqual([
      expect.stringContaining(`${t.ctx.otherServers.ownName}: `),
      '75.0 % of 20 requests in five minutes were server errors.',
    ])
  })

test('follows no redirect and reaches no private address', async () => {
  status = 302
  expect(await sendTestAlert(t.ctx, net)).toBe('redirects')
  status = 200
  expect(await sendTestAlert(t.ctx, net)).toBeNull()
  await set('ALERT_WEBHOOK_URL', `http://127.0.0.1:${receiver.port}/`)
  expect(await sendTestAlert(t.ctx)).toBe('inside')
  expect(received).toHaveLength(2)
})

test('shows the state, hides the address and reports a failed test', async () => {
  const olga = await signInOperator(t)
  await fill(true)
  await check()
  const page = await olga.read('/console/alerts')
  olga.set('language', 'de')
  expect(await olga.read('/console/alerts')).toContain(' GB Speicherplatz sind frei.')
  olga.set('language', 'en')
  expect(page).toMatch(/Free disk space[^]*alert[^]*sent/)
  for (const path of ['alerts', 'settings', 'settings/ALERT_WEBHOOK_URL', 'audit']) {
    expect(await olga.read(`/console/${path}`)).not.toContain('hush-hush')
  }
  await set('ALERT_WEBHOOK_URL', 'http://127.0.0.1:9/')
  const failed = await olga.fill('/console/alerts', '/console/alerts/test', {})
  expect([failed.status, alertText(failed)]).toEqual([
    400,
    'The test was not delivered: the address is private; HOOKS_TO_PRIVATE allows that. Check ALERT_WEBHOOK_URL.',
  ])
})
