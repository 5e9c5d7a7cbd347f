import { afterEach, beforeEach, expect, test } from 'bun:test'

import { nano } from '../../../kernel/money.ts'
import { type EvmChain, startEvmChain, usdtAddress } from '../../../testing/fixtures/evm-chain.ts'
import { startTopupServer, testXpub, type TopupServer } from '../../../testing/fixtures/topups.ts'
import { findInvoice } from './invoices.ts'
import { recordPayment } from './payments.ts'
import type { StoredPayment } from './status.ts'
import { coinPayments } from './tables.ts'

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
  })
  await t.watch(network)
})
afterEach(async () => {
  await t.close()
  await chain.stop()
})

async function mine(blocks: number): Promise<void> {
  await chain.mine(blocks)
  await t.watch(network)
}

/** Sends a transfer of someone else, whose log is the first of the next block. */
async function sendForeign(): Promise<void> {
  const [, from] = [await chain.call('eth_accounts')].flat()
  const pair = '1'.padStart(128, '0')
  const tx = { from, to: usdtAddress, data: `0xa9059cbb${pair}`, gas: '0x7a120' }
  await chain.call('eth_sendTransaction', [tx])
}

/** Replaces blocks, and mines a transaction of them again behind that of someone else. */
async function moveInBlock(tx: string, blocks: number): Promise<void> {
  const raw = await chain.call('eth_getRawTransactionByHash', [tx])
  await chain.reorganize(blocks)
  await sendForeign()
  await chain.call('eth_sendRawTransaction', [raw])
}

test('a transfer that is moved in its block after its credit is not credited again', async () => {
  const invoice = await t.invoice('usdt', 5)
  const tx = await chain.sendUsdt([invoice.address, 5_000_000n])
  await mine(3)
  expect(await t.balance()).toBe(5n * usd)
  await moveInBlock(tx, 3)
  await mine(3)
  await mine(3)
  expect(await t.status(invoice.id)).toMatchObject({ credited: 5, payments: [{ tx }] })
  expect([await t.balance(), await t.credits()]).toEqual([5n * usd, 1])
})

test('a transfer that is moved before its credit is the same payment', async () => {
  const invoice = await t.invoice('usdt', 5)
  const tx = await chain.sendUsdt([invoice.address, 5_000_000n], [invoice.address, 5_000_000n])
  await mine(1)
  const before = await t.status(invoice.id)
  await moveInBlock(tx, 1)
  await mine(1)
  // Neither is gone for a moment.
  expect(await t.status(invoice.id)).toEqual({ ...before, watcher: expect.anything() })
  await mine(2)
  expect([await t.balance(), await t.credits()]).toEqual([10n * usd, 2])
})

/** Stores a payment as versions before did: `output` is the index of its log in the block. */
async function storeOld(
  { id, address }: { id: string; address: string },
  row: Pick<StoredPayment, 'tx' | 'output' | 'state'>,
): Promise<void> {
  const isCredited = row.state === 'credited'
  const stored: StoredPayment = {
    ...row,
    network,
    id: `old-${row.output}`,
    invoice: id,
    address,
    asset: 'USDT',
    amount: '5000000',
    block: 21,
    confirmations: isCredited ? 3 : 0,
    rate: nano(usd),
    isLate: 0,
    value: isCredited ? nano(5n * usd) : null,
    why: null,
    seen: t.clock.now(),
    credited: isCredited ? t.clock.now() : null,
  }
  await t.ctx.db.tx((db) => db.insert(coinPayments).values(stored))
}

test('payments that a version before credited at other places are not credited again', async () => {
  const invoice = await t.invoice('usdt', 5)
  const tx = await chain.sendUsdt([invoice.address, 5_000_000n])
  // That version saw the log at 3, then at 7, and credited it there.
  await storeOld(invoice, { tx, output: 3, state: 'replaced' })
  await storeOld(invoice, { tx, output: 7, state: 'credited' })
  await mine(3)
  await mine(3)
  expect([await t.balance(), await t.credits()]).toEqual([0n, 0])
  const { payments } = await t.status(invoice.id)
  expect(payments).toMatchObject([{ tx, credited_usd: 5 }])
})

test('an equal transfer beside one that a version before credited is credited', async () => {
  const invoice = await t.invoice('usdt', 5)
  const to = invoice.address
  const tx = await chain.sendUsdt([to, 5_000_000n], [to, 5_000_000n], [to, 6_000_000n])
  await storeOld(invoice, { tx, output: 2, state: 'credited' })
  await mine(3)
  await mine(3)
  expect([await t.balance(), await t.credits()]).toEqual([11n * usd, 2])
})

test('two servers that see a transfer before and after it moved credit it once', async () => {
  const { id, address } = await t.invoice('usdt', 5)
  const tx = await chain.sendUsdt([address, 5_000_000n])
  const found = await findInvoice(t.ctx, id)
  const common = { tx, place: 0, address, asset: 'USDT', amount: 5_000_000n } as const
  const seen = { ...common, block: 21, confirmations: 3, invoice: found?.invoice }
  const outputs = [0, 1, 2, 3, 4]
  const ids = outputs.map((output) => recordPayment(t.ctx, network, { ...seen, output }))
  expect(new Set(await Promise.all(ids)).size).toBe(1)
  expect([await t.balance(), await t.credits()]).toEqual([5n * usd, 1])
})
