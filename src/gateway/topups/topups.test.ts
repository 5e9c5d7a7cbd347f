import { afterAll, beforeAll, expect, test } from 'bun:test'

import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
let gus: GatewayUser

beforeAll(async () => {
  t = await startTestServer()
  gus = await createGatewayUser(t)
})
afterAll(() => t.close())

test('validates top-ups, responds payments_off and stores nothing', async () => {
  const kept = await t.snapshot()
  for (const method of ['usdt', 'btc', 'eth', 'sol']) {
    const made = await gus.call('POST', `/topup/create/${method}`, { amount: 5, currency: 'USD' })
    expect([made.status, made.code]).toEqual([503, 'payments_off'])
    expect(made.headers.get('x-should-retry')).toBe('false')
  }
  const status = await gus.call('GET', '/v1/topup/status/some-invoice')
  expect([status.status, status.code]).toEqual([503, 'payments_off'])
  expect(await t.snapshot()).toEqual(kept)
})

test('responds 401 without a key and rejects invalid fields by name', async () => {
  expect((await t.request('POST', '/topup/create/usdt', { body: { amount: 5 } })).status).toBe(401)
  expect((await t.request('GET', '/topup/status/some')).status).toBe(401)
  for (const [path, body, param] of [
    ['doge', { amount: 5 }, 'method'],
    ['usdt', {}, 'amount'],
    ['usdt', { amount: '5' }, 'amount'],
    ['usdt', { amount: 0 }, 'amount'],
    ['usdt', { amount: -1 }, 'amount'],
    ['usdt', { amount: 5, currency: 7 }, 'currency'],
  ] as const) {
    const answer = await gus.call('POST', `/topup/create/${path}`, body)
    expect([body, answer.status]).toEqual([body, 400])
    expect(answer.body).toMatchObject({ error: { type: 'invalid_request_error', param } })
  }
  const doge = await gus.call('POST', '/topup/create/doge', { amount: 5 })
  expect(doge.text('error.message')).toBe('"method" must be one of usdt, btc, eth, sol.')
  const nothing = await gus.call('POST', '/topup/create/usdt', { amount: 0 })
  expect(nothing.text('error.message')).toContain('a number above 0 (at most 1000000000)')
})
