import { afterAll, afterEach, beforeEach, describe, expect, test } from 'bun:test'

import { recordOf } from '../../../kernel/schema.ts'
import {
  type RpcDisturbance,
  type RpcProxy,
  startChain,
  startRpcProxy,
} from '../../../testing/fixtures/chain.ts'
import {
  type PaidServer,
  signPayment,
  startPaidServer,
} from '../../../testing/fixtures/payments.ts'
import type { TestAgent } from '../../../testing/fixtures/test-server.ts'
import { until } from '../../../testing/until.ts'

let proxy: RpcProxy
let t: PaidServer
let ann: TestAgent
const units = 50_000n

const chain = await startChain()
afterAll(() => chain.stop())
beforeEach(async () => {
  proxy = startRpcProxy(chain)
  t = await startPaidServer(chain, { X402_WAIT_SECONDS: '1', X402_RPC_URLS: proxy.url })
  ann = await t.agent('ann')
})
afterEach(async () => {
  await t.close()
  await proxy.stop()
})

const topUp = (headers: Record<string, string>) =>
  ann.call('POST', '/topup', { credits: 50 }, headers)
/** Sends a payment until it is no longer pending: the server waits for one second only. */
const settledStatus = (headers: Record<string, string>) =>
  until(async () => {
    const { status } = await topUp(headers)
    return status !== 202 && status
  })
const credits = async () => recordOf((await ann.call('GET', '/me')).body)['credits']
const sign = async () =>
  signPayment(await chain.createWallet(units), { payTo: t.payee.address, units })
const disturbances: RpcDisturbance[] = ['drop', 'garble', 'other', 'limit', 'nonsense']
/** The calls of the chain before a payment is stored. */
const claimMethods = ['eth_getBlockByNumber', 'eth_call', 'eth_getCode']

describe.each(disturbances)('a chain that answers with %s', (kind) => {
  test.each(claimMethods)(
    'from %s on: try_again, and the same payment works later',
    async (first) => {
      const payment = await sign()
      // The server has used the chain before.
      expect((await topUp({})).status).toBe(402)
      let isDisturbed = false
      proxy.disturb = (method) => {
        isDisturbed ||= method === first
        return isDisturbed && method !== 'eth_chainId' ? kind : undefined
      }
      const kept = await t.snapshot()
      const response = await topUp(payment)
      expect([response.status, response.code]).toEqual([503, 'try_again'])
      expect([isDisturbed, await t.snapshot()]).toEqual([true, kept])
      proxy.disturb = () => undefined
      expect([await settledStatus(payment), await credits()]).toEqual([200, 450])
      expect(await chain.balanceOf(t.payee.address)).toBe(units)
    },
  )

  test('at an offer: payments_off, without an error in the log', async () => {
    proxy.disturb = (method) => (method === 'eth_chainId' ? undefined : kind)
    const response = await topUp({})
    expect([response.status, response.code]).toEqual([503, 'payments_off'])
    expect(response.text('error')).toContain('X402_RPC_URLS')
    expect(t.lines).not.toContainEqual(expect.objectContaining({ event: 'x402.unusable' }))
  })

  test('in a settlement: payment_pending, and the same payment is credited later', async () => {
    const payment = await sign()
    let isDisturbed = false
    proxy.disturb = (method) => {
      isDisturbed ||= method === 'eth_estimateGas'
      return isDisturbed && method !== 'eth_chainId' ? kind : undefined
    }
    const response = await topUp(payment)
    expect([response.status, response.code]).toEqual([202, 'payment_pending'])
    await t.ctx.x402?.resume()
    expect(await credits()).toBe(400)
    proxy.disturb = () => undefined
    expect([await settledStatus(payment), await credits()]).toEqual([200, 450])
    expect(await chain.balanceOf(t.payee.address)).toBe(units)
  })
})
