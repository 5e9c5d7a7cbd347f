import { afterAll, afterEach, beforeEach, expect, test } from 'bun:test'

import { encodeFunctionData, type Hex, parseAbi, parseSignature } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

import { recordOf } from '../../../kernel/schema.ts'
import { systemClock } from '../../../kernel/time.ts'
import {
  type RpcProxy,
  startChain,
  startRpcProxy,
  type TestWallet,
} from '../../../testing/fixtures/chain.ts'
import {
  authorize,
  type PaidServer,
  signCancel,
  type SignedTerms,
  signPayment,
  startPaidServer,
} from '../../../testing/fixtures/payments.ts'
import batch from '../../../testing/fixtures/solidity/Batch.json'
import type { TestAgent } from '../../../testing/fixtures/test-server.ts'
import { until } from '../../../testing/until.ts'
import { doctor } from '../../ledger/doctor.ts'
import { usdcOfBaseSepolia } from './network.ts'
import { X402 } from './x402.ts'

let proxy: RpcProxy
let t: PaidServer
let ann: TestAgent
let wallet: TestWallet
const units = 50_000n
const nonce: Hex = `0x${'12'.repeat(32)}`

const chain = await startChain()
afterAll(() => chain.stop())
beforeEach(async () => {
  proxy = startRpcProxy(chain)
  t = await startPaidServer(chain, { X402_WAIT_SECONDS: '1', X402_RPC_URLS: proxy.url })
  ann = await t.agent('ann')
  wallet = await chain.createWallet(units)
})
afterEach(async () => {
  await chain.client.setAutomine(true)
  expect((await doctor(t.ctx)).problems).toEqual([])
  await t.close()
  await proxy.stop()
})

const topUp = (headers: Record<string, string>, agent = ann) =>
  agent.call('POST', '/topup', { credits: 50 }, headers)
/** Sends a payment until the chain has decided. */
const ended = (payment: Record<string, string>) =>
  until(async () => {
    const response = await topUp(payment)
    return response.code !== 'payment_pending' && response
  })
const termsOf = (more: Partial<SignedTerms> = {}) => ({ payTo: t.payee.address, units, ...more })
const sign = (more: Partial<SignedTerms> = {}) => signPayment(wallet, termsOf(more))
const credits = async () => recordOf((await ann.call('GET', '/me')).body)['credits']

/** Continues as a new process does: with the rows of the database and nothing else. */
async function restart(): Promise<void> {
  await t.ctx.x402?.close()
  proxy.disturb = () => undefined
  const x402 = new X402({ ...t.ctx, config: { ...t.ctx.config, x402RpcUrls: [chain.url] } })
  await x402.resume()
  await x402.close()
}

/** Checks that a payment was credited once, also where the client sends it again. */
async function expectCreditedOnce(): Promise<void> {
  expect([await credits(), await chain.balanceOf(t.payee.address)]).toEqual([450, units])
  await restart()
  expect([await credits(), await chain.balanceOf(t.payee.address)]).toEqual([450, units])
}

test('a payment that takes long is pending, and the same one again is credited', async () => {
  await chain.client.setAutomine(false)
  const payment = await sign()
  const pending = await topUp(payment)
  // A 402 would make the client pay a second time.
  expect([pending.status, pending.code]).toEqual([202, 'payment_pending'])
  expect([pending.headers.has('retry-after'), await credits()]).toEqual([true, 400])
  await chain.client.mine({ blocks: 1 })
  await until(async () => (await topUp(payment)).status === 200)
  expect(await credits()).toBe(450)
})

test.each(['drop', 'lose'] as const)(
  'a crash at the broadcast credits once (%s)',
  async (disturb) => {
    let isDown = false
    proxy.disturb = (method) => {
      if (isDown) return 'drop'
      isDown = method === 'eth_sendRawTransaction'
      return isDown ? disturb : undefined
    }
    expect((await topUp(await sign())).code).toBe('payment_pending')
    expect(await credits()).toBe(400)
    await restart()
    await expectCreditedOnce()
  },
)

test('a crash after the settlement credits once', async () => {
  const { x402 } = t.ctx
  if (!x402) throw new Error('no payments')
  const notify = x402.onCredit
  x402.onCredit = () => Promise.reject(new Error('The process ends in the transaction.'))
  expect((await topUp(await sign())).code).toBe('payment_pending')
  expect([await credits(), await chain.balanceOf(t.payee.address)]).toEqual([400, units])
  x402.onCredit = notify
  await restart()
  await expectCreditedOnce()
})

test('servers of the chain that are down reject before anything is stored', async () => {
  const payment = await sign()
  await ann.call('POST', '/topup', { credits: 50 })
  proxy.disturb = () => 'drop'
  const kept = await t.snapshot()
  expect((await topUp(payment)).code).toBe('try_again')
  expect(await t.snapshot()).toEqual(kept)
})

test('a server of another chain is refused', async () => {
  const other = await startPaidServer(chain, { X402_NETWORK: 'base' })
  const ben = await other.agent('ben')
  const kept = await other.snapshot()
  const off = await topUp({}, ben)
  expect([off.status, off.code]).toEqual([503, 'payments_off'])
  expect(off.text('error')).toContain('X402_RPC_URLS')
  expect(await topUp(await sign(), ben)).toMatchObject({ status: expect.any(Number) })
  expect(await other.snapshot()).toEqual(kept)
  const problem = 'It serves chain 84532 instead of 8453. Correct the URL.'
  expect(other.lines).toContainEqual(expect.objectContaining({ event: 'rpc_unusable', problem }))
  await other.close()
})

test('a server that lacks the events of a settlement loses no payment', async () => {
  proxy.disturb = (method) => {
    if (method === 'eth_getTransactionReceipt') return { result: null }
    return method === 'eth_getLogs' ? { result: [] } : undefined
  }
  const payment = await sign()
  expect((await topUp(payment)).code).toBe('payment_pending')
  expect([await credits(), await chain.balanceOf(t.payee.address)]).toEqual([400, units])
  proxy.disturb = () => undefined
  expect((await ended(payment)).status).toBe(200)
  await expectCreditedOnce()
})

test.each([false, true])(
  'a payment that lands in the last second is credited (from a server that is behind: %p)',
  async (isBehind) => {
    await chain.client.setAutomine(false)
    const { timestamp } = await chain.client.getBlock()
    const validBefore = Number(timestamp) + 60
    const payment = await sign({ validBefore })
    const landed = Promise.withResolvers<void>()
    let state: 'signed' | 'sent' | 'landed' | 'expired' = 'signed'
    proxy.disturb = async (method, [, block]) => {
      if (method === 'eth_sendRawTransaction') state = 'sent'
      else if (state === 'sent' && method === 'eth_getBlockByNumber') {
        state = 'landed'
        for (const at of [validBefore - 1, validBefore]) {
          await chain.client.setNextBlockTimestamp({ timestamp: BigInt(at) })
          await chain.client.mine({ blocks: 1 })
        }
        state = 'expired'
        landed.resolve()
      }
      if (!isBehind || state !== 'expired') return undefined
      if (method === 'eth_getTransactionReceipt') return { result: null }
      const isNewest = method === 'eth_call' && block === 'latest'
      return isNewest ? { result: `0x${'0'.repeat(64)}` } : undefined
    }
    const first = topUp(payment)
    await landed.promise
    await first
    proxy.disturb = () => undefined
    expect((await ended(payment)).status).toBe(200)
    await expectCreditedOnce()
  },
)

test('a payment that its payer cancels later is rejected', async () => {
  await chain.client.setAutomine(false)
  const payment = await sign({ nonce })
  expect((await topUp(payment)).code).toBe('payment_pending')
  await chain.client.dropTransaction({ hash: await pendingHash() })
  await chain.client.setAutomine(true)
  await send(await cancelCall())
  const rejected = await ended(payment)
  expect([rejected.code, rejected.text('error')]).toEqual([
    'payment_rejected',
    expect.stringContaining('it was canceled'),
  ])
})

test('a payment that its payer canceled is rejected', async () => {
  const payment = await sign({ nonce })
  await send(await cancelCall())
  const kept = await t.snapshot()
  expect((await topUp(payment)).code).toBe('payment_rejected')
  expect(await t.snapshot()).toEqual(kept)
})

const abi = parseAbi([
  'function transferWithAuthorization(address, address, uint256, uint256, uint256, bytes32, bytes)',
])
const transferCall = async (terms: SignedTerms) => {
  const { message, signature } = await authorize(wallet, terms)
  const { from, to, value, validAfter, validBefore } = message
  const args = [from, to, value, validAfter, validBefore, message.nonce, signature] as const
  return encodeFunctionData({ abi, args })
}

async function cancelCall(): Promise<Hex> {
  const { v, r, s } = parseSignature(await signCancel(wallet, nonce))
  const cancel = parseAbi([
    'function cancelAuthorization(address, bytes32, uint8, bytes32, bytes32)',
  ])
  return encodeFunctionData({ abi: cancel, args: [wallet.address, nonce, Number(v), r, s] })
}

/** Returns the transaction of the gas wallet that waits for a block. */
async function pendingHash(): Promise<Hex> {
  const { transactions } = await chain.client.getBlock({ blockTag: 'pending' })
  const [hash] = transactions
  if (hash === undefined) throw new Error('no transaction is pending')
  return hash
}

/** Sends a transaction of a third party. */
async function send(data: Hex, to: Hex = usdcOfBaseSepolia): Promise<void> {
  const { key } = await chain.createGasWallet()
  const hash = await chain.client.sendTransaction({ account: privateKeyToAccount(key), to, data })
  const { status } = await chain.client.waitForTransactionReceipt({ hash })
  if (status !== 'success') throw new Error('the transaction was reverted')
}

test('a payment that a third party brought to the chain is credited once', async () => {
  const terms = termsOf({ nonce, validBefore: Math.floor(systemClock.now() / 1_000) + 300 })
  await send(await transferCall(terms))
  expect((await ended(await signPayment(wallet, terms))).status).toBe(200)
  await expectCreditedOnce()
  expect(await chain.client.getTransactionCount({ address: t.gasWallet.address })).toBe(0)
})

test('one transfer of a transaction pays one authorization', async () => {
  // The first authorization moves its money to someone else, beside a transfer to the payee.
  const deployer = await chain.createGasWallet()
  const account = privateKeyToAccount(deployer.key)
  const bytecode: Hex = `0x${batch.bytecode.slice(2)}`
  const hash = await chain.client.sendTransaction({ account, data: bytecode })
  const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash })
  if (!contractAddress) throw new Error('the contract was not deployed')
  await chain.mint(wallet.address, units)
  const thief = await chain.createWallet(0n)
  const calls = [
    await transferCall({ ...termsOf({ nonce }), payTo: thief.address }),
    await transferCall(termsOf()),
  ]
  const run = parseAbi(['function run(address target, bytes[] calls)'])
  await send(encodeFunctionData({ abi: run, args: [usdcOfBaseSepolia, calls] }), contractAddress)
  expect(await chain.balanceOf(t.payee.address)).toBe(units)
  expect((await topUp(await sign({ nonce }))).code).toBe('payment_rejected')
  expect(await credits()).toBe(400)
})

test('an old settlement credits nothing in an empty database', async () => {
  const payment = await sign()
  expect((await ended(payment)).status).toBe(200)
  const fresh = await startPaidServer(chain, {
    X402_PAY_TO: t.payee.address,
    X402_GAS_KEY: t.gasWallet.key,
  })
  const ben = await fresh.agent('ben')
  const kept = await fresh.snapshot()
  expect((await topUp(payment, ben)).code).toBe('payment_rejected')
  expect(await fresh.snapshot()).toEqual(kept)
  await fresh.close()
})

test('a reorganization after the credit: the payment lands again, with another nonce', async () => {
  const before = await chain.client.snapshot()
  expect((await ended(await sign())).status).toBe(200)
  // The block is gone, and another transaction of the gas wallet has its number.
  await chain.client.revert({ id: before })
  expect(await chain.balanceOf(t.payee.address)).toBe(0n)
  const account = privateKeyToAccount(t.gasWallet.key)
  await chain.mined(chain.client.sendTransaction({ account, to: account.address }))
  await restart()
  await expectCreditedOnce()
  expect(await chain.client.getTransactionCount(account)).toBe(2)
})

test('a payment whose transaction was replaced is signed again', async () => {
  await chain.client.setAutomine(false)
  const payment = await sign()
  expect((await topUp(payment)).code).toBe('payment_pending')
  const account = privateKeyToAccount(t.gasWallet.key)
  const fee = 10n ** 11n
  const fees = { maxFeePerGas: fee, maxPriorityFeePerGas: fee }
  await chain.client.sendTransaction({ account, to: account.address, nonce: 0, ...fees })
  await chain.client.setAutomine(true)
  await chain.client.mine({ blocks: 1 })
  await restart()
  expect((await ended(payment)).status).toBe(200)
  await expectCreditedOnce()
  expect(await chain.client.getTransactionCount(account)).toBe(2)
})

test('confirmations are counted before the credit', async () => {
  await t.close()
  t = await startPaidServer(chain, { X402_WAIT_SECONDS: '1', X402_CONFIRMATIONS: '3' })
  ann = await t.agent('ann')
  const payment = await sign()
  expect([(await topUp(payment)).code, await credits()]).toEqual(['payment_pending', 400])
  expect(await chain.balanceOf(t.payee.address)).toBe(units)
  await chain.client.mine({ blocks: 2 })
  expect([(await ended(payment)).status, await credits()]).toEqual([200, 450])
})

test('the payments of a day are limited', async () => {
  await t.close()
  t = await startPaidServer(chain, { X402_DAY_MAX_USD: '0.06' })
  ann = await t.agent('ann')
  expect((await ended(await sign())).status).toBe(200)
  await chain.mint(wallet.address, units)
  const over = await topUp(await sign())
  expect([over.status, over.code, await credits()]).toEqual([503, 'payments_off', 450])
  expect(over.text('error')).toContain('X402_DAY_MAX_USD')
})
