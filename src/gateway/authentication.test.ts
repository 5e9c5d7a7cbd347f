import { afterEach, expect, test } from 'bun:test'

import { gatewayBodyBytesMax } from '../kernel/limits.ts'
import { fromUsd, zero } from '../kernel/money.ts'
import { grantTo } from '../money/ledger/ledger.ts'
import { createGatewayUser } from '../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../testing/fixtures/test-server.ts'

let t: TestServer
afterEach(() => t.close())

const hello = { model: 'demo/chat', messages: [{ role: 'user', content: 'Hello' }] }

const chat = (key: string) => t.request('POST', '/v1/chat/completions', { key, body: hello })

test('start credits work at the gateway while it has only demo models', async () => {
  t = await startTestServer()
  const ann = await t.agent('ann')
  expect((await chat(ann.key)).status).toBe(200)
  const { body } = await t.request('POST', '/credits/balance', { key: ann.key })
  expect(body).not.toMatchObject({ balance: 0.4 })
})

test('with START_CREDITS_ON_GATEWAY=off, only paid credits work', async () => {
  t = await startTestServer({ START_CREDITS_ON_GATEWAY: 'off' })
  const ann = await t.agent('ann')
  const rejected = await chat(ann.key)
  expect([rejected.status, rejected.code]).toEqual([402, 'insufficient_quota'])
  const message = expect.stringContaining(
    'you have $0. Your $0.4 of free credits cannot pay for it.',
  )
  expect(rejected.body).toMatchObject({ error: { message } })
  const me = await ann.call('GET', '/me')
  expect(me.body).toMatchObject({ credits: 400, held: 0 })
  const agent = await t.ctx.keys.find(ann.key)
  const owner = { kind: 'agent', owner: agent?.owner ?? '' } as const
  const amount = fromUsd('1') ?? zero
  await grantTo(t.ctx, owner, { amount, kind: 'grant', ref: 'g', free: false })
  expect((await chat(ann.key)).status).toBe(200)
})

test('a key with a daily cap of 0 spends nothing, and the response has retry-after', async () => {
  t = await startTestServer()
  const gus = await createGatewayUser(t, '1')
  await gus.call('PATCH', `/accounts/keys/${gus.key.slice(0, 11)}`, { daily_cap: 0 })
  const { status, code, headers, body: envelope } = await chat(gus.key)
  expect([status, code]).toEqual([429, 'daily_cap'])
  expect(headers.get('x-should-retry')).toBe('false')
  expect(Number(headers.get('retry-after'))).toBe(43_200)
  // Midnight lifts neither a cap of 0 nor a pause.
  const message = expect.stringMatching(/^This key cannot spend: (?!.*00:00)/)
  expect(envelope).toMatchObject({ error: { message } })
  const { body } = await gus.call('POST', '/credits/balance')
  expect(body).toMatchObject({ balance: 1, held: 0 })
})

test('a body over 40 MB is 413, a deep one 400, and a revoked key 401 at once', async () => {
  t = await startTestServer()
  const gus = await createGatewayUser(t, '1')
  const send = (body: string | Uint8Array) =>
    gus.call('POST', '/v1/chat/completions', body, { 'content-type': 'application/json' })
  const large = await send(new Uint8Array(gatewayBodyBytesMax + 1).fill(0x20))
  expect([large.status, large.body]).toMatchObject([413, { error: { code: null } }])
  expect((await send(`${'['.repeat(1_000_000)}`)).status).toBe(400)
  const kept = await t.snapshot()
  await gus.call('POST', '/accounts/keys')
  expect(await t.snapshot()).not.toEqual(kept)
  expect((await gus.call('DELETE', `/accounts/keys/${gus.key.slice(0, 11)}`)).status).toBe(200)
  expect((await chat(gus.key)).status).toBe(401)
})
