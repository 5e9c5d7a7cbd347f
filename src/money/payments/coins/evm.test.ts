import { afterEach, beforeEach, expect, test } from 'bun:test'

import { day, hour } from '../../../kernel/time.ts'
import { commands } from '../../../server/operator/commands.ts'
import { type EvmChain, startEvmChain } from '../../../testing/fixtures/evm-chain.ts'
import { startTopupServer, testXpub, type TopupServer } from '../../../testing/fixtures/topups.ts'

let chain: EvmChain
let t: TopupServer

const network = 'eip155:1'
const usd = 1_000_000_000n

beforeEach(async () => {
  chain = await startEvmChain()
  await chain.mine(20)
  t = await startTopupServer({
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: chain.url,
    TOPUP_EVM_CONFIRMATIONS: '3',
    METRICS_TOKEN: 'metrics',
  })
  await t.watch(network)
})
afterEach(async () => {
  await t.close()
  await chain.stop()
})

/** Mines blocks and runs a pass of the watcher. */
async function mine(blocks: number): Promise<void> {
  await chain.mine(blocks)
  await t.watch(network)
}

test('credits a payment of USDT once, with its confirmations', async () => {
  const invoice = await t.invoice('usdt', 5)
  expect(invoice.uri).toBe(
    `ethereum:0xdAC17F958D2ee523a2206206994597C13D831ec7@1/transfer?address=${invoice.address}&uint256=5000000`,
  )
  const tx = await chain.sendUsdt([invoice.address, 5_000_000n])
  await t.watch(network)
  expect(await t.status(invoice.id)).toMatchObject({ status: 'New', amount_paid: '0' })
  await mine(1)
  expect(await t.status(invoice.id)).toMatchObject({
    status: 'Processing',
    exception: 'none',
    amount_paid: '5',
    amount_confirmed: '0',
    credited: 0,
    payments: [{ tx, amount: '5', confirmations: 1, required_confirmations: 3, late: false }],
    watcher: { ok: true },
  })
  expect(await t.balance()).toBe(0n)
  await mine(2)
  await mine(5)
  expect(await t.status(invoice.id)).toMatchObject({
    status: 'Settled',
    exception: 'none',
    credited: 5,
    payments: [{ credited_usd: 5 }],
  })
  expect([await t.balance(), await t.credits()]).toEqual([5n * usd, 1])
})

test('credits partial, several and too large payments for their own values', async () => {
  const invoice = await t.invoice('usdt', 5)
  await chain.sendUsdt([invoice.address, 2_000_001n])
  await mine(3)
  const partial = { status: 'New', exception: 'paid_partial', amount_confirmed: '2.000001' }
  expect(await t.status(invoice.id)).toMatchObject(partial)
  await chain.sendUsdt([invoice.address, 4_000_000n], [invoice.address, 1n])
  await mine(3)
  const over = { status: 'Settled', exception: 'paid_over', credited: 6.000002 }
  expect(await t.status(invoice.id)).toMatchObject(over)
  expect([await t.balance(), await t.credits()]).toEqual([6_000_002_000n, 3])
})

test('credits two invoices that one transaction pays, each once', async () => {
  const [one, other] = [await t.invoice('usdt', 5), await t.invoice('usdt', 7)]
  expect(one.address).not.toBe(other.address)
  await chain.sendUsdt([one.address, 5_000_000n], [other.address, 7_000_000n])
  await mine(3)
  await mine(1)
  expect(await t.status(one.id)).toMatchObject({ status: 'Settled', credited: 5 })
  expect(await t.status(other.id)).toMatchObject({ status: 'Settled', credited: 7 })
  expect([await t.balance(), await t.credits()]).toEqual([12n * usd, 2])
})

test('credits a late payment within 7 days, and none after them', async () => {
  const invoice = await t.invoice('usdt', 5)
  t.clock.advance(2 * hour)
  expect(await t.status(invoice.id)).toMatchObject({ status: 'Expired', exception: 'none' })
  await chain.sendUsdt([invoice.address, 5_000_000n])
  await mine(3)
  const late = { status: 'Settled', exception: 'paid_late', credited: 5 }
  expect(await t.status(invoice.id)).toMatchObject(late)
  t.clock.advance(7 * day)
  await chain.sendUsdt([invoice.address, 5_000_000n])
  await mine(3)
  expect(await t.balance()).toBe(5n * usd)
})

test('a reorganization of 3 blocks after the credit does not credit again', async () => {
  const invoice = await t.invoice('usdt', 5)
  const tx = await chain.sendUsdt([invoice.address, 5_000_000n])
  await mine(3)
  expect(await t.balance()).toBe(5n * usd)
  const raw = await chain.call('eth_getRawTransactionByHash', [tx])
  await chain.reorganize(3)
  await t.watch(network)
  await chain.call('eth_sendRawTransaction', [raw])
  await mine(5)
  expect([await t.balance(), await t.credits()]).toEqual([5n * usd, 1])
})

test('a payment that a reorganization removes is not credited, until it is mined again', async () => {
  const invoice = await t.invoice('usdt', 5)
  const tx = await chain.sendUsdt([invoice.address, 5_000_000n])
  await mine(2)
  const raw = await chain.call('eth_getRawTransactionByHash', [tx])
  await chain.reorganize(2)
  await mine(5)
  expect(await t.status(invoice.id)).toMatchObject({ status: 'New', payments: [] })
  t.clock.advance(hour)
  expect(await t.status(invoice.id)).toMatchObject({ status: 'Invalid' })
  await chain.call('eth_sendRawTransaction', [raw])
  await mine(3)
  expect(await t.status(invoice.id)).toMatchObject({ status: 'Settled', credited: 5 })
  expect(await t.credits()).toBe(1)
})

test('credits ETH of people and of contracts, and dust at its value', async () => {
  const invoice = await t.invoice('eth', 6)
  expect([invoice.due, invoice.uri]).toEqual([
    '0.002',
    `ethereum:${invoice.address}@1?value=2000000000000000`,
  ])
  await chain.sendEther(invoice.address, 10n ** 15n)
  await mine(1)
  expect(await t.status(invoice.id)).toMatchObject({ exception: 'paid_partial' })
  await chain.forwardEther(invoice.address, 10n ** 15n)
  await mine(2)
  await mine(3)
  expect(await t.status(invoice.id)).toMatchObject({
    status: 'Settled',
    exception: 'none',
    credited: 6,
  })
  // 1 wei is worth less than a billionth of a USD.
  await chain.sendEther(invoice.address, 1n)
  await mine(3)
  await mine(3)
  expect(await t.status(invoice.id)).toMatchObject({ amount_confirmed: '0.002000000000000001' })
  expect([await t.balance(), await t.credits()]).toEqual([6n * usd, 2])
})

test('keeps USDT at an invoice of ETH for the operator', async () => {
  const invoice = await t.invoice('eth', 6)
  await chain.sendUsdt([invoice.address, 6_000_000n])
  await mine(3)
  expect(await t.status(invoice.id)).toMatchObject({ status: 'New', amount_paid: '0', credited: 0 })
  expect(await t.balance()).toBe(0n)
})

test('continues where it stopped when the servers of the chain were down', async () => {
  const invoice = await t.invoice('usdt', 5)
  await chain.sendUsdt([invoice.address, 5_000_000n])
  await chain.mine(1)
  const { evm } = t.ctx.coins
  const request = evm().request.bind(evm())
  evm().request = () => Promise.reject(new Error('No server answers.'))
  await t.watch(network)
  const { watcher, status } = await t.status(invoice.id)
  expect([status, watcher]).toMatchObject(['New', { ok: false }])
  const seen = async () => [
    Object((await t.request('GET', '/readyz')).body).topups,
    /berth_topup_watcher_up\{.*\} (\d)/.exec(await metrics())?.[1],
  ]
  const metrics = async () => String((await t.request('GET', '/metrics', { key: 'metrics' })).body)
  expect(await seen()).toEqual([{ [network]: false }, '0'])
  evm().request = request
  await chain.mine(200)
  t.clock.advance(hour)
  await t.watch(network)
  await t.watch(network)
  expect(await t.status(invoice.id)).toMatchObject({ status: 'Settled', credited: 5 })
  expect(await seen()).toEqual([{ [network]: true }, '1'])
})

test('finds payments from before its first successful pass', async () => {
  const fresh = await startTopupServer({
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: chain.url,
    TOPUP_EVM_CONFIRMATIONS: '3',
  })
  const [usdt, eth] = [await fresh.invoice('usdt', 5), await fresh.invoice('eth', 6)]
  await chain.sendUsdt([usdt.address, 5_000_000n])
  await chain.sendEther(eth.address, 2n * 10n ** 15n)
  await chain.mine(250)
  for (let passes = 0; passes < 4; passes += 1) await fresh.watch(network)
  expect(await fresh.status(usdt.id)).toMatchObject({ status: 'Settled', credited: 5 })
  expect(await fresh.status(eth.id)).toMatchObject({ status: 'Settled', credited: 6 })
  expect(await fresh.credits()).toBe(2)
  await fresh.close()
})

test.each([
  [30, 'has 30 decimals instead of 6'],
  [undefined, 'has no decimals instead of 6'],
])('a token with %p decimals is not accepted as USDT', async (decimals, problem) => {
  const token = '0x00000000000000000000000000000000000000aa'
  // Returns its decimals for every call.
  const code = `0x60${decimals?.toString(16)}60005260206000f3`
  if (decimals !== undefined) await chain.call('anvil_setCode', [token, code])
  const wrong = await startTopupServer({
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: chain.url,
    TOPUP_USDT_TOKEN: token,
  })
  await wrong.watch(network)
  const kept = await wrong.snapshot()
  const made = await wrong.gus.call('POST', '/topup/create/usdt', { amount: 5 })
  expect([made.status, made.code]).toEqual([503, 'payments_off'])
  expect(await wrong.snapshot()).toEqual(kept)
  const check = await commands['payments']?.(wrong.ctx, ['check'])
  expect([check?.ok, check?.text]).toEqual([false, expect.stringContaining(problem)])
  await wrong.close()
})

test('reports servers of another chain and credits nothing', async () => {
  const invoice = await t.invoice('usdt', 5)
  const other = await startEvmChain(5)
  const wrong = await startTopupServer({
    TOPUP_EVM_XPUB: testXpub,
    TOPUP_EVM_RPC_URLS: other.url,
  })
  const made = await wrong.invoice('usdt', 5)
  expect(made.address).toBe(invoice.address)
  await other.sendUsdt([made.address, 5_000_000n])
  await other.mine(50)
  await wrong.watch(network)
  expect(await wrong.status(made.id)).toMatchObject({ status: 'New', watcher: { ok: false } })
  const again = await wrong.gus.call('POST', '/topup/create/usdt', { amount: 5 })
  expect([again.status, again.code]).toEqual([503, 'payments_off'])
  await wrong.close()
  await other.stop()
})
