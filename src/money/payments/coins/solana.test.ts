import { afterEach, beforeEach, expect, test } from 'bun:test'

import { day } from '../../../kernel/time.ts'
import { type SolanaChain, startSolanaChain } from '../../../testing/fixtures/solana-chain.ts'
import { startTopupServer, type TopupServer } from '../../../testing/fixtures/topups.ts'
import { listUnmatched } from './payments.ts'

const network = 'solana:localnet'
let chain: SolanaChain
let t: TopupServer

beforeEach(async () => {
  chain = await startSolanaChain()
  t = await startTopupServer({
    TOPUP_SOL_RECIPIENT: chain.recipient,
    TOPUP_SOL_NETWORK: 'localnet',
    TOPUP_SOL_RPC_URLS: chain.url,
  })
  await chain.send({ to: chain.recipient, amount: 1_000_000n })
  await t.watch(network)
})
afterEach(async () => {
  await t.close()
  await chain.stop()
})

/** Creates an invoice and returns it with its reference. */
async function invoice(usd: number) {
  const made = await t.invoice('sol', usd)
  const [, reference = ''] = /&reference=(\w+)$/.exec(made.uri) ?? []
  return { ...made, reference }
}

test('credits a payment by its reference, once', async () => {
  const { id, due, uri, reference } = await invoice(15)
  expect([due, uri]).toEqual(['0.1', `solana:${chain.recipient}?amount=0.1&reference=${reference}`])
  const to = chain.recipient
  const tx = await chain.send({ to, amount: 100_000_000n, references: [reference] })
  await t.watch(network)
  await t.watch(network)
  expect(await t.status(id)).toMatchObject({
    status: 'Settled',
    credited: 15,
    payments: [{ tx, amount: '0.1', confirmations: 1, required_confirmations: 1 }],
  })
  expect([await t.balance(), await t.credits()]).toEqual([15_000_000_000n, 1])
})

test('credits two invoices in one transaction, and one transfer with two references once', async () => {
  const [one, other] = [await invoice(15), await invoice(15)]
  const to = chain.recipient
  await chain.send(
    { to, amount: 100_000_000n, references: [one.reference] },
    { to, amount: 50_000_000n, references: [other.reference] },
  )
  await chain.send({ to, amount: 10_000_000n, references: [one.reference, other.reference] })
  await t.watch(network)
  expect(await t.status(one.id)).toMatchObject({ exception: 'paid_over', credited: 16.5 })
  expect(await t.status(other.id)).toMatchObject({ exception: 'paid_partial', credited: 7.5 })
  expect([await t.balance(), await t.credits()]).toEqual([24_000_000_000n, 3])
})

test('credits nothing for failed transactions and other recipients', async () => {
  const { id, reference } = await invoice(15)
  await chain.send({ to: chain.recipient, amount: 10n ** 13n, references: [reference] })
  const other = await startSolanaChain()
  const references = [reference, chain.recipient]
  await chain.send({ to: other.recipient, amount: 100_000_000n, references })
  await t.watch(network)
  expect(await t.status(id)).toMatchObject({ status: 'New', payments: [] })
  await other.stop()
})

test('keeps money without a known reference for the operator, and drops dust', async () => {
  const old = await invoice(15)
  t.clock.advance(8 * day)
  const to = chain.recipient
  await chain.send({ to, amount: 1n })
  await chain.send({ to, amount: 2_000_000n })
  await chain.send({ to, amount: 100_000_000n, references: [old.reference] })
  await invoice(15)
  await t.watch(network)
  const amounts = (await listUnmatched(t.ctx, 10)).map(({ amount }) => Number(amount))
  expect(amounts.toSorted((one, other) => one - other)).toEqual([2_000_000, 100_000_000])
  expect(await t.balance()).toBe(0n)
})
