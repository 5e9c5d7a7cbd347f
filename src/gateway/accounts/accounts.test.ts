import { afterEach, beforeEach, expect, test } from 'bun:test'

import { isApiError } from '../../kernel/errors.ts'
import { accountsPerAddressDay } from '../../kernel/limits.ts'
import { commands } from '../../server/operator/commands.ts'
import { catchError } from '../../testing/catch-error.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'

let t: TestServer
let gus: GatewayUser

beforeEach(async () => {
  t = await startTestServer()
  gus = await createGatewayUser(t)
})
afterEach(() => t.close())

const zero = { balance: 0, held: 0, available: 0, currency: 'USDT' }

test('creates an account without a body or key, with a balance of 0', async () => {
  for (const path of ['/accounts/create', '/v1/accounts/create']) {
    const { status, body, text } = await t.request('POST', path)
    expect(status).toBe(200)
    expect(body).toEqual({
      credit_id: expect.stringMatching(/^\w{12}$/),
      api_key: expect.stringMatching(/^gk_\w{40}$/),
    })
    const key = text('api_key')
    const { body: balance } = await t.request('POST', '/credits/balance', { key })
    expect(balance).toEqual({ ...zero, credit_id: text('credit_id') })
  }
})

test('returns the balance with or without credit_id, never that of another account', async () => {
  const own = await gus.call('POST', '/v1/credits/balance', { credit_id: gus.creditId })
  expect([own.status, own.body]).toEqual([200, { ...zero, credit_id: gus.creditId }])
  const other = await createGatewayUser(t, '1')
  const { status, body } = await gus.call('POST', '/credits/balance', { credit_id: other.creditId })
  expect(status).toBe(404)
  expect(body).toMatchObject({ error: { type: 'invalid_request_error', code: null } })
  const wrong = await gus.call('POST', '/credits/balance', { credit_id: 7 })
  expect(wrong.body).toMatchObject({ error: { type: 'invalid_request_error', param: 'credit_id' } })
})

test('responds 401 to a missing, unknown or personal key before reading the body', async () => {
  for (const key of [undefined, 'gk_no', `gk_${'a'.repeat(40)}`, `pk_${'a'.repeat(40)}`]) {
    const { status, body, headers } = await t.request('POST', '/credits/balance', {
      key,
      body: '{',
    })
    expect(status).toBe(401)
    expect(body).toMatchObject({ error: { type: 'authentication_error', param: null } })
    expect(headers.get('x-request-id')).toBeString()
  }
})

test('spends an agent’s credits with its key until the account is closed', async () => {
  const ann = await t.agent('ann')
  const before = await t.request('POST', '/credits/balance', { key: ann.key })
  expect(before.body).toMatchObject({ balance: 0.4, available: 0.4 })
  expect((await t.call('GET', '/me', { key: gus.key })).code).toBe('wrong_key_kind')
  expect((await ann.call('DELETE', '/me')).status).toBe(200)
  const after = await t.request('POST', '/credits/balance', { key: ann.key })
  expect([after.status, after.code]).toEqual([401, 'invalid_api_key'])
  expect((await ann.call('GET', '/me')).code).toBe('account_closed')
})

test('grants paid credits by credit_id and by handle', async () => {
  const result = await commands['grant']?.(t.ctx, [gus.creditId, '2.5'])
  expect(result).toEqual({
    ok: true,
    text: `${gus.creditId} has 2500 credits now.`,
    data: { name: gus.creditId, credits: 2500 },
  })
  const { body } = await gus.call('POST', '/credits/balance')
  expect(body).toMatchObject({ balance: 2.5, available: 2.5 })
  for (const rejected of [
    ['nobody', '1'],
    [gus.creditId, '-1'],
  ]) {
    const error = await catchError(Promise.resolve(commands['grant']?.(t.ctx, rejected)))
    expect([rejected, isApiError(error, 'bad_request')]).toEqual([rejected, true])
  }
  expect((await gus.call('POST', '/credits/balance')).body).toMatchObject({ balance: 2.5 })
})

test('requires the operator’s token when accounts are by invitation', async () => {
  const invited = await startTestServer({ KEYS_OPEN: 'invite', OPERATOR_TOKEN: 'the-token' })
  const rejected = await invited.request('POST', '/accounts/create')
  expect([rejected.status, rejected.text('error.message')]).toEqual([
    403,
    expect.stringContaining('operator'),
  ])
  expect((await invited.request('POST', '/accounts/create', { key: 'the-token' })).status).toBe(200)
  await invited.close()
})

test('limits new accounts per address and day: keys_address_limit', async () => {
  const from = '198.51.100.77'
  const create = () => t.request('POST', '/accounts/create', { from })
  for (let made = 0; made < accountsPerAddressDay; made += 1) {
    expect((await create()).status).toBe(200)
  }
  const { status, body, headers } = await create()
  expect(status).toBe(429)
  expect(body).toMatchObject({ error: { type: 'rate_limit_error' } })
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  t.clock.advance(86_400_000)
  expect((await create()).status).toBe(200)
})
