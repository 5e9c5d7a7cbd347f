import { afterAll, expect, test } from 'bun:test'

import { html } from '../kernel/html.ts'
import { recordOf } from '../kernel/schema.ts'
import { doctor } from '../money/ledger/doctor.ts'
import { x402Section } from '../server/console/payments.ts'
import { commands } from '../server/operator/commands.ts'
import { startChain } from '../testing/fixtures/chain.ts'
import { type PaidServer, startPaidServer } from '../testing/fixtures/payments.ts'
import { startTestServer, type TestAgent } from '../testing/fixtures/test-server.ts'

const chain = await startChain()
const t = await startPaidServer(chain)
afterAll(async () => {
  await t.close()
  await chain.stop()
})

const requestOf = ({ key }: TestAgent, body: unknown) => ({
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

test.each([1, 2] as const)('the official client of version %i tops up', async (version) => {
  const ann = await t.agent(`ann-${version}`)
  const wallet = await chain.createWallet()
  const before = await chain.balanceOf(t.payee.address)
  const pay = await t.payingFetch(wallet, version)
  const response = await pay('/api/topup', requestOf(ann, { credits: 50.5 }))
  const body = recordOf(await response.json())
  const tx = recordOf(body['payment'])['tx']
  expect([response.status, body]).toMatchObject([
    200,
    { added: 50.5, credits: 450.5, payment: { network: 'eip155:84532' } },
  ])
  const name = version === 1 ? 'x-payment-response' : 'payment-response'
  const receipt = JSON.parse(atob(response.headers.get(name) ?? ''))
  const network = version === 1 ? 'base-sepolia' : 'eip155:84532'
  expect(receipt).toMatchObject({ success: true, network, transaction: tx })
  expect(response.headers.get('cache-control')).toBe('no-store, private')
  expect((await chain.balanceOf(t.payee.address)) - before).toBe(50_500n)
  expect(await chain.balanceOf(wallet.address)).toBe(100_000_000n - 50_500n)
  const { body: notes } = await ann.call('GET', '/me/notes?kind=topup.settled')
  expect(notes).toMatchObject({ notes: [{ data: { credits: 50.5, tx: tx } }] })
  const { body: ledger } = await ann.call('GET', '/me/ledger')
  expect(ledger).toMatchObject({ entries: [{ kind: 'topup', credits: 50.5, balance: 450.5 }, {}] })
  expect((await doctor(t.ctx)).problems).toEqual([])
})

test('one 402 has the offer for both versions', async () => {
  const ann = await t.agent('ann')
  const { status, code, body, headers } = await ann.call('POST', '/topup', { usd: 0.0505 })
  expect([status, code]).toEqual([402, 'payment_required'])
  const shared = {
    scheme: 'exact',
    asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
    payTo: t.payee.address,
    maxTimeoutSeconds: 300,
    extra: { name: 'USDC', version: '2' },
  }
  const url = 'http://localhost:3000/api/topup'
  expect(body).toMatchObject({
    x402Version: 1,
    accepts: [{ ...shared, network: 'base-sepolia', maxAmountRequired: '50500', resource: url }],
  })
  expect(JSON.parse(atob(headers.get('payment-required') ?? ''))).toMatchObject({
    x402Version: 2,
    resource: { url },
    accepts: [{ ...shared, network: 'eip155:84532', amount: '50500' }],
  })
  expect(headers.get('cache-control')).toBe('no-store, private')
})

test('invalid amounts and fields are rejected', async () => {
  const ann = await t.agent('ann')
  const kept = await t.snapshot()
  for (const [body, text] of [
    [{}, 'exactly one of'],
    [{ credits: 5, usd: 1 }, 'exactly one of'],
    [{ credits: 0 }, 'credits'],
    [{ credits: -5 }, 'credits'],
    [{ credits: 1e30 }, 'credits'],
    [{ credits: Number.NaN }, 'credits'],
    [{ credits: '5' }, 'credits'],
    [{ usd: 1e-30 }, 'usd'],
    [{ credits: 0.0001 }, 'One payment adds 1 to 100,000 credits. Change "credits".'],
    [{ usd: 100.01 }, 'One payment adds 1 to 100,000 credits. Change "usd".'],
    [{ usd: 1, currency: 'EUR' }, 'currency'],
  ] as const) {
    const response = await ann.call('POST', '/topup', body)
    expect([body, response.status, response.code]).toEqual([body, 400, 'bad_request'])
    expect(response.text('error')).toContain(text)
  }
  expect((await t.call('POST', '/topup', { body: { credits: 5 } })).code).toBe('no_key')
  expect(await t.snapshot()).toEqual(kept)
})

test('names the setting while payments are off', async () => {
  const off = await startTestServer()
  const ann = await off.agent('ann')
  const headers = { 'x-payment': btoa('{}') }
  for (const sent of [{}, headers]) {
    const { status, code, body } = await ann.call('POST', '/topup', { credits: 5 }, sent)
    expect([status, code, Object.keys(Object(body))]).toEqual([
      503,
      'payments_off',
      ['error', 'code'],
    ])
    expect(body).toMatchObject({ error: expect.stringContaining('X402_PAY_TO') })
  }
  await off.close()
})

test('offers nothing while the gas wallet cannot pay, and names the setting', async () => {
  const poor = await chain.createWallet(0n)
  const broke = await startPaidServer(chain, { X402_GAS_KEY: poor.key })
  const ann = await broke.agent('ann')
  const { status, code, headers, text } = await ann.call('POST', '/topup', { credits: 5 })
  expect([status, code, headers.get('payment-required')]).toEqual([503, 'payments_off', null])
  expect(text('error')).toContain('X402_GAS_KEY')
  expect(broke.lines).toContainEqual(
    expect.objectContaining({
      event: 'x402.no_offers',
      why: expect.stringContaining(poor.address),
    }),
  )
  await broke.close()
})

test('the guides tell agents to pay, only where payments are on', async () => {
  const off = await startTestServer()
  for (const path of ['/skill.md', '/llms.txt', '/api']) {
    expect(JSON.stringify((await t.request('GET', path)).body)).toContain('POST /topup')
    expect(JSON.stringify((await off.request('GET', path)).body)).not.toContain('/topup')
  }
  await off.close()
})

test('berth payments check and the console name each problem', async () => {
  const check = (server: PaidServer) => commands['payments']?.(server.ctx, ['check'])
  expect(await check(t)).toMatchObject({
    ok: true,
    text: expect.stringContaining('Settlement: ok'),
  })
  const wrong = await startPaidServer(chain, { X402_NETWORK: 'base' })
  const found = await check(wrong)
  const problem = 'It serves chain 84532 instead of 8453. Correct the URL.'
  expect(found).toMatchObject({ ok: false, text: expect.stringContaining(problem) })
  const page = await x402Section(wrong.ctx)
  expect(html`${page}`.text).toContain(problem)
  await wrong.close()
})
