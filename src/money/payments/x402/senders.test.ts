import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'

import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { baseSepolia } from 'viem/chains'

import { recordOf } from '../../../kernel/schema.ts'
import { startChain } from '../../../testing/fixtures/chain.ts'
import {
  type PaidServer,
  signPayment,
  startPaidServer,
} from '../../../testing/fixtures/payments.ts'
import type { TestAgent } from '../../../testing/fixtures/test-server.ts'
import { doctor } from '../../ledger/doctor.ts'

/** Treatment of a settlement: `lost` settles and loses the response, `refused` does nothing. */
type Treatment = 'settled' | 'lost' | 'refused'

let treatment: Treatment
let authorizations: (string | null)[] = []
let t: PaidServer
let ann: TestAgent
const units = 50_000n

/** Starts the official facilitator on the test chain. */
async function startFacilitator(): Promise<Bun.Server<undefined>> {
  const { key } = await chain.createGasWallet()
  const account = privateKeyToAccount(key)
  const transport = http(chain.url)
  const client = createWalletClient({ account, chain: baseSepolia, transport }).extend(
    publicActions,
  )
  const signer = toFacilitatorEvmSigner({
    address: account.address,
    readContract: client.readContract,
    writeContract: (args) => client.writeContract(args),
    sendTransaction: (args) => client.sendTransaction(args),
    waitForTransactionReceipt: chain.client.waitForTransactionReceipt,
    getCode: client.getCode,
    verifyTypedData: () => Promise.reject(new Error('not called for "exact"')),
  })
  const official = new x402Facilitator()
  registerExactEvmScheme(official, { signer, networks: 'eip155:84532' })
  return Bun.serve({
    port: 0,
    fetch: async (request) => {
      authorizations.push(request.headers.get('authorization'))
      const { pathname } = new URL(request.url)
      if (pathname.endsWith('/supported')) return Response.json(official.getSupported())
      const { paymentPayload, paymentRequirements } = JSON.parse(await request.text())
      if (treatment === 'refused') {
        const network = 'eip155:84532'
        const reply = { success: false, errorReason: 'busy', transaction: '', network }
        return Response.json(reply)
      }
      const result = await official.settle(paymentPayload, paymentRequirements)
      return treatment === 'lost' ? new Response('', { status: 500 }) : Response.json(result)
    },
  })
}

const chain = await startChain()
const facilitator = await startFacilitator()
afterAll(async () => {
  await facilitator.stop(true)
  await chain.stop()
})
/** Starts the server. It waits so many seconds for the chain to confirm a payment. */
async function start(waitSeconds: number): Promise<void> {
  t = await startPaidServer(chain, {
    X402_GAS_KEY: '',
    FACILITATOR_URL: facilitator.url.href,
    FACILITATOR_TOKEN: 'secret-token',
    X402_WAIT_SECONDS: String(waitSeconds),
  })
  ann = await t.agent('ann')
}
beforeEach(async () => {
  treatment = 'settled'
  authorizations = []
  await start(30)
})
afterEach(async () => {
  expect((await doctor(t.ctx)).problems).toEqual([])
  await t.close()
})

const sign = async () =>
  signPayment(await chain.createWallet(units), { payTo: t.payee.address, units })
const topUp = (headers: Record<string, string>, agent = ann) =>
  agent.call('POST', '/topup', { credits: 50 }, headers)
const credits = async () => recordOf((await ann.call('GET', '/me')).body)['credits']

test('a facilitator settles payments of both versions', async () => {
  for (const version of [1, 2] as const) {
    const pay = await t.payingFetch(await chain.createWallet(units), version)
    const response = await pay('/api/topup', {
      method: 'POST',
      headers: { authorization: `Bearer ${ann.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ credits: 50 }),
    })
    expect([response.status, await credits()]).toEqual([200, 400 + 50 * version])
  }
  expect(await chain.balanceOf(t.payee.address)).toBe(2n * units)
  expect(new Set(authorizations)).toEqual(new Set(['Bearer secret-token']))
})

test('a lost response is not a failure, because the chain decides', async () => {
  treatment = 'lost'
  const payment = await sign()
  expect([(await topUp(payment)).status, await credits()]).toEqual([200, 450])
  expect([(await topUp(payment)).status, await credits()]).toEqual([200, 450])
})

test('a failure without a transaction is pending, because the money may still move', async () => {
  await t.close()
  await start(1)
  treatment = 'refused'
  const payment = await sign()
  expect([(await topUp(payment)).code, await credits()]).toEqual(['payment_pending', 400])
  expect(await chain.balanceOf(t.payee.address)).toBe(0n)
})

test('an authorization that is on the chain already is rejected', async () => {
  const payment = await sign()
  expect((await topUp(payment)).status).toBe(200)
  const fresh = await startPaidServer(chain, {
    X402_GAS_KEY: '',
    FACILITATOR_URL: facilitator.url.href,
    X402_PAY_TO: t.payee.address,
  })
  expect((await topUp(payment, await fresh.agent('ben'))).code).toBe('payment_rejected')
  await fresh.close()
})

test('offers nothing while the facilitator is down', async () => {
  const away = await startPaidServer(chain, {
    X402_GAS_KEY: '',
    FACILITATOR_URL: 'http://127.0.0.1:9',
  })
  const off = await topUp({}, await away.agent('ben'))
  expect([off.status, off.code]).toEqual([503, 'payments_off'])
  expect(off.text('error')).toContain('FACILITATOR_URL')
  await away.close()
})
