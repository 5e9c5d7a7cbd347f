import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'

import { recordOf } from '../../core/schema.ts'
import { doctor } from '../../ledger/doctor.ts'
import { startChain, type TestChain, type TestWallet } from '../../testing/fixtures/chain.ts'
import { type PaidServer, signPayment, startPaidServer } from '../../testing/fixtures/payments.ts'
import type { TestAgent } from '../../testing/fixtures/test-server.ts'

let chain: TestChain
let t: PaidServer
let ann: TestAgent
let wallet: TestWallet
const units = 50_000n

beforeAll(async () => {
  chain = await startChain()
})
afterAll(() => chain.stop())
beforeEach(async () => {
  t = await startPaidServer(chain, { X402_WAIT_SECONDS: '1' })
  ann = await t.agent('ann')
  wallet = await chain.createWallet(units)
})
afterEach(async () => {
  await chain.client.setAutomine(true)
  expect((await doctor(t.ctx)).problems).toEqual([])
  await t.close()
})

const topUp = (headers: Record<string, string>) =>
  ann.call('POST', '/topup', { credits: 50 }, headers)
const sign = () => signPayment(wallet, { payTo: t.payee.address, units })
const credits = async () => recordOf((await ann.call('GET', '/me')).body)['credits']

test('a payment that takes long is pending, and the same one again is credited', async () => {
  await chain.client.setAutomine(false)
  const payment = await sign()
  const pending = await topUp(payment)
  // A 402 would make the client pay a second time.
  expect([pending.status, pending.code]).toEqual([202, 'payment_pending'])
  expect([pending.headers.has('retry-after'), await credits()]).toEqual([true, 400])
  await chain.client.mine({ blocks: 1 })
  const settled = await topUp(payment)
  expect([settled.status, await credits()]).toEqual([200, 450])
})
