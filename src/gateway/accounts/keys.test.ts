import { afterEach, beforeEach, expect, test } from 'bun:test'

import { AddressClient } from '../../kernel/client.ts'
import { senderOf, setRequestContext } from '../../kernel/http/request-context.ts'
import { keysPerAccountMax, keysPerAgentMax } from '../../kernel/limits.ts'
import { createGatewayUser, type GatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer, type TestServer } from '../../testing/fixtures/test-server.ts'
import { getSpender } from '../authentication.ts'
import * as keys from './keys.ts'

let t: TestServer
let gus: GatewayUser

beforeEach(async () => {
  t = await startTestServer()
  gus = await createGatewayUser(t)
})
afterEach(() => t.close())

const first = () => gus.key.slice(0, 11)
const withKey = (key: string) => (method: string, path: string, body?: unknown) =>
  t.request(method, path, { key, body })

/** The settings of a key without limits beside its daily cap. */
const noLimits = {
  weekly_cap: null,
  monthly_cap: null,
  requests_per_minute: null,
  tokens_per_minute: null,
  running_requests: null,
  models: null,
  expires_at: null,
  note: null,
  tags: [],
  project: null,
}

test('creates, lists, updates and revokes keys', async () => {
  t.clock.advance(1_000)
  const made = await gus.call('POST', '/accounts/keys', { name: 'ci', daily_cap: 0.5, more: 1 })
  expect(made.status).toBe(201)
  const id = made.text('id')
  expect(made.body).toEqual({
    ...noLimits,
    id,
    prefix: id,
    name: 'ci',
    daily_cap: 0.5,
    current: false,
    created: expect.any(String),
    api_key: expect.stringMatching(/^gk_\w{40}$/),
  })
  const own = withKey(made.text('api_key'))
  expect((await own('GET', '/v1/accounts/keys')).body).toMatchObject({
    data: [
      { id: first(), name: null, daily_cap: null, current: false },
      { id, name: 'ci', daily_cap: 0.5, current: true },
    ],
  })
  const changed = await gus.call('PATCH', `/accounts/keys/${id}`, { daily_cap: null, name: 'cd' })
  expect(changed.body).toMatchObject({ id, name: 'cd', daily_cap: null })
  expect((await gus.call('DELETE', `/accounts/keys/${id}`)).body).toEqual({ id, deleted: true })
  expect((await own('GET', '/accounts/keys')).status).toBe(401)
})

test('rejects revoking the last key: last_key', async () => {
  const kept = await t.snapshot()
  const { status, body } = await gus.call('DELETE', `/accounts/keys/${first()}`)
  expect(status).toBe(409)
  expect(body).toMatchObject({ error: { type: 'invalid_request_error' } })
  expect(await t.snapshot()).toEqual(kept)
})

test('hides the keys of another account', async () => {
  const other = await createGatewayUser(t)
  const its = other.key.slice(0, 11)
  const kept = await t.snapshot()
  for (const [method, body] of [['PATCH', { name: 'mine' }], ['DELETE']] as const) {
    expect((await gus.call(method, `/accounts/keys/${its}`, body)).status).toBe(404)
  }
  expect(await t.snapshot()).toEqual(kept)
})

test('rejects a cap with more than six decimals', async () => {
  const kept = await t.snapshot()
  for (const daily_cap of [1e-7, 0.1234567]) {
    const { status, body } = await gus.call('POST', '/accounts/keys', { daily_cap })
    expect([status, body]).toMatchObject([400, { error: { param: 'daily_cap' } }])
  }
  expect(await t.snapshot()).toEqual(kept)
  const made = await gus.call('POST', '/accounts/keys', { daily_cap: 1_000_000.000_001 })
  expect(made.body).toMatchObject({ daily_cap: 1_000_000.000_001 })
  // This number is not the closest one to the decimal, but divided by 0.000001 it is whole.
  const daily_cap = Number('459604587.17308897')
  const close = await gus.call('POST', '/accounts/keys', { daily_cap })
  expect([close.status, close.body]).toMatchObject([201, { daily_cap: 459_604_587.173_089 }])
})

test('rejects raising a cap with a capped key: cap_above_own', async () => {
  const made = await gus.call('POST', '/accounts/keys', { daily_cap: 10 })
  const capped = withKey(made.text('api_key'))
  const id = made.text('id')
  for (const daily_cap of [11, null]) {
    for (const [method, path] of [
      ['PATCH', `/accounts/keys/${id}`],
      ['POST', '/accounts/keys'],
    ] as const) {
      const { status, body } = await capped(method, path, { daily_cap })
      expect(status).toBe(403)
      expect(body).toMatchObject({ error: { type: 'permission_error', param: 'daily_cap' } })
    }
  }
  expect((await capped('POST', '/accounts/keys')).body).toMatchObject({ daily_cap: 10 })
  expect((await capped('POST', '/accounts/keys', { daily_cap: 0 })).body).toMatchObject({
    daily_cap: 0,
  })
  const raised = await gus.call('PATCH', `/accounts/keys/${id}`, { daily_cap: 20 })
  expect(raised.body).toMatchObject({ daily_cap: 20 })
})

test('applies a limit or revocation that arrives during the request', async () => {
  const made = await gus.call('POST', '/accounts/keys')
  const [key, id] = [made.text('api_key'), made.text('id')]
  const headers = { authorization: `Bearer ${key}` }
  const request = new Request('http://localhost/accounts/keys', { method: 'POST', headers })
  setRequestContext(request, {
    id: 'late',
    client: new AddressClient('127.0.0.1', t.ctx.state.costs),
    bodyArrivals: t.ctx.state.bodyArrivals,
  })
  const sent = await getSpender(t.ctx, senderOf(request))
  await gus.call('PATCH', `/accounts/keys/${id}`, { daily_cap: 1 })
  expect(await keys.add(t.ctx, sent, {})).toMatchObject({ daily_cap: 1 })
  for (const daily_cap of [2, null]) {
    await expect(keys.add(t.ctx, sent, { daily_cap })).rejects.toMatchObject({
      errorName: 'cap_above_own',
    })
    await expect(keys.edit(t.ctx, sent, first(), { daily_cap })).rejects.toMatchObject({
      errorName: 'cap_above_own',
    })
  }
  await gus.call('DELETE', `/accounts/keys/${id}`)
  const kept = await t.snapshot()
  for (const late of [
    () => keys.add(t.ctx, sent, {}),
    () => keys.edit(t.ctx, sent, first(), { name: 'mine' }),
    () => keys.revoke(t.ctx, sent, first()),
  ]) {
    await expect(late()).rejects.toMatchObject({ errorName: 'bad_key' })
  }
  expect(await t.snapshot()).toEqual(kept)
})

test('rejects invalid fields by name and stores nothing', async () => {
  const kept = await t.snapshot()
  for (const [param, value] of [
    ['daily_cap', -1],
    ['daily_cap', '5'],
    ['daily_cap', 1e12],
    ['name', ''],
    ['name', 7],
    ['name', 'x'.repeat(81)],
    ['name', 'two\nlines'],
    ['name', 'a\u0000b'],
    ['name', '\ud800'],
  ] as const) {
    for (const [method, path] of [
      ['POST', '/accounts/keys'],
      ['PATCH', `/accounts/keys/${first()}`],
    ] as const) {
      const { status, body } = await gus.call(method, path, { [param]: value })
      expect([value, status]).toEqual([value, 400])
      expect(body).toMatchObject({ error: { type: 'invalid_request_error', param } })
    }
  }
  for (const body of ['[', '[]', '7', 'null', '"x"', '   ', '['.repeat(100_000)]) {
    expect([body.slice(0, 9), (await gus.call('POST', '/accounts/keys', body)).status]).toEqual([
      body.slice(0, 9),
      400,
    ])
  }
  expect(await t.snapshot()).toEqual(kept)
})

test('accepts names of 80 characters in any script', async () => {
  const name = '🗝'.repeat(80)
  expect((await gus.call('POST', '/accounts/keys', { name })).body).toMatchObject({ name })
})

test('limits the number of keys per account and per agent', async () => {
  const ann = await t.agent('ann')
  for (const [key, most] of [
    [gus.key, keysPerAccountMax],
    [ann.key, keysPerAgentMax],
  ] as const) {
    const add = () => withKey(key)('POST', '/accounts/keys')
    for (let keys = 1; keys < most; keys += 1) expect((await add()).status).toBe(201)
    expect((await add()).status).toBe(400)
  }
})

test('explains the valid range of a cap', async () => {
  for (const [daily_cap, why] of [
    [-1, 'must be a number (0 to 1000000000) or null'],
    ['5', 'must be a number (0 to 1000000000) or null'],
  ] as const) {
    const { status, body } = await gus.call('POST', '/accounts/keys', { daily_cap })
    const error = { param: 'daily_cap', message: `"daily_cap" ${why}.` }
    expect({ status, body }).toMatchObject({ status: 400, body: { error } })
  }
})
