import { afterAll, expect, test } from 'bun:test'

import { createGatewayUser } from '../../testing/fixtures/gateway.ts'
import { startTestServer } from '../../testing/fixtures/test-server.ts'
import { startTopupServer, testVpub, testXpub } from '../../testing/fixtures/topups.ts'

const evm = { TOPUP_EVM_XPUB: testXpub, TOPUP_EVM_RPC_URLS: 'http://127.0.0.1:1' }
const off = await startTestServer()
const gus = await createGatewayUser(off)
const on = await startTopupServer(evm)
afterAll(() => Promise.all([off.close(), on.close()]))

test('without settings: payments_off names the setting, and nothing is stored', async () => {
  const kept = await off.snapshot()
  const settings = {
    usdt: 'TOPUP_EVM_XPUB',
    eth: 'TOPUP_EVM_XPUB',
    btc: 'TOPUP_BTC_XPUB',
    sol: 'TOPUP_SOL_RECIPIENT',
  }
  for (const [method, setting] of Object.entries(settings)) {
    const made = await gus.call('POST', `/topup/create/${method}`, { amount: 5, currency: 'USD' })
    expect([made.status, made.code]).toEqual([503, 'payments_off'])
    expect(made.text('error.message')).toContain(setting)
    expect(made.headers.get('x-should-retry')).toBe('false')
  }
  expect((await gus.call('GET', '/v1/topup/status/some-invoice')).status).toBe(404)
  expect(await off.snapshot()).toEqual(kept)
})

test('an amount of 15 digits and six decimals is reported as too large, not as too exact', async () => {
  const amount = 999_999_999.999_999
  const { body } = await on.gus.call('POST', '/topup/create/usdt', { amount })
  expect(body).toMatchObject({ error: { message: '"amount" must be 1 to 10000 USD.' } })
})

test('responds 401 without a key and rejects invalid fields by name', async () => {
  expect((await on.request('POST', '/topup/create/usdt', { body: { amount: 5 } })).status).toBe(401)
  expect((await on.request('GET', '/topup/status/some')).status).toBe(401)
  const kept = await on.snapshot()
  for (const [path, body, param] of [
    ['doge', { amount: 5 }, 'method'],
    ['usdt', {}, 'amount'],
    ['usdt', { amount: '5' }, 'amount'],
    ['usdt', { amount: 0 }, 'amount'],
    ['usdt', { amount: -1 }, 'amount'],
    ['usdt', { amount: 1e30 }, 'amount'],
    ['usdt', { amount: NaN }, 'amount'],
    ['usdt', { amount: 1e-30 }, 'amount'],
    ['usdt', { amount: 0.5 }, 'amount'],
    ['usdt', { amount: 10_000.01 }, 'amount'],
    ['usdt', { amount: 5.000_000_000_1 }, 'amount'],
    ['usdt', { amount: 1.000_000_1 }, 'amount'],
    ['usdt', { amount: 5, currency: 7 }, 'currency'],
    ['usdt', { amount: 5, currency: 'EUR' }, 'currency'],
  ] as const) {
    const response = await on.gus.call('POST', `/topup/create/${path}`, body)
    expect([body, response.status]).toEqual([body, 400])
    expect(response.body).toMatchObject({ error: { type: 'invalid_request_error', param } })
  }
  expect(await on.snapshot()).toEqual(kept)
  const doge = await on.gus.call('POST', '/topup/create/doge', { amount: 5 })
  expect(doge.text('error.message')).toBe('"method" must be one of usdt, btc, eth, sol.')
})

test('an invoice has exactly the documented fields, and belongs to its account', async () => {
  const made = await on.gus.call('POST', '/topup/create/eth', { amount: 12.345678 })
  expect(made.status).toBe(200)
  expect(Object.keys(Object(made.body)).toSorted()).toEqual(
    'address amount_due asset expires_at invoice_id network payment_request rate'.split(' '),
  )
  // 12.345678 / 3000 has no end: it is rounded up to a wei.
  expect(made.body).toMatchObject({ amount_due: '0.004115226', asset: 'ETH', rate: '3000' })
  const id = made.text('invoice_id')
  const status = await on.gus.call('GET', `/topup/status/${id}`)
  expect(Object.keys(Object(status.body)).toSorted()).toEqual(
    (
      'address amount amount_confirmed amount_due amount_paid asset created_at credited currency ' +
      'exception expires_at invoice_id method monitored_until network payment_request payments ' +
      'rate rate_source status watcher'
    ).split(' '),
  )
  expect(status.body).toMatchObject({ amount: 12.345678, rate_source: 'fixed', status: 'New' })
  const other = await createGatewayUser(on)
  expect((await other.call('GET', `/topup/status/${id}`)).status).toBe(404)
})

test('bounds the unpaid invoices of an account', async () => {
  const spammer = await createGatewayUser(on)
  const responses = []
  for (let made = 0; made < 51; made += 1) {
    responses.push(await spammer.call('POST', '/topup/create/usdt', { amount: 5 }))
  }
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(50)
  expect([responses.at(-1)?.status, responses.at(-1)?.code]).toEqual([429, 'topups_limit'])
  const addresses = responses.slice(0, 50).map((made) => made.text('address'))
  expect(new Set(addresses).size).toBe(50)
  on.clock.advance(3_600_001)
  expect((await spammer.call('POST', '/topup/create/usdt', { amount: 5 })).status).toBe(200)
})

test('refuses to start with a damaged key, or one of another network', async () => {
  const vpub =
    'vpub5Y6cjg78GGuNLsaPhmYsiw4gYX3HoQiRBiSwDaBXKUafCt9bNwWQiitDk5VZ5BVxYnQdwoTyXSs2JHRPAgjAvtbBrf8ZhDYe2jWAqvZVnsc'
  const starts = (settings: object) => startTestServer({ ...settings })
  const damaged = testXpub.replace(/.$/, 'x')
  await expect(starts({ ...evm, TOPUP_EVM_XPUB: damaged })).rejects.toThrow('TOPUP_EVM_XPUB')
  await expect(starts({ ...evm, TOPUP_EVM_XPUB: vpub })).rejects.toThrow('another network')
  await expect(starts({ TOPUP_BTC_XPUB: vpub })).rejects.toThrow('another network')
  await expect(starts({ TOPUP_EVM_XPUB: testXpub })).rejects.toThrow('TOPUP_EVM_RPC_URLS')
  const secret = testXpub.replace('xpub', 'xprv')
  await expect(starts({ ...evm, TOPUP_EVM_XPUB: secret })).rejects.toThrow('TOPUP_EVM_XPUB')
})

test('bounds the unpaid invoices of an account in two wallets at once', async () => {
  const btc = { TOPUP_BTC_NETWORK: 'regtest', TOPUP_BTC_XPUB: testVpub } as const
  const both = await startTopupServer({ ...evm, ...btc, TOPUP_BTC_RPC_URL: 'http://127.0.0.1:1' })
  const methods = Array.from({ length: 60 }, (_, at) => (at % 2 === 0 ? 'usdt' : 'btc'))
  const all = await Promise.all(
    methods.map((method) => both.gus.call('POST', `/topup/create/${method}`, { amount: 5 })),
  )
  expect(all.filter(({ status }) => status === 200)).toHaveLength(50)
  expect(all.filter(({ status }) => status === 429)).toHaveLength(10)
  await both.close()
})
