import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'

import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

import { usdcOfBaseSepolia } from '../../money/payments/x402/network.ts'
import { startChain } from '../../testing/fixtures/chain.ts'
import { publishPack } from '../../testing/fixtures/packs-on-explore.ts'
import { startPaidServer } from '../../testing/fixtures/payments.ts'

setDefaultTimeout(60_000)

const chain = await startChain()
const t = await startPaidServer(chain, { X402_CONFIRMATIONS: '2' })
const ben = await t.agent('ben')
const wallet = await chain.createGasWallet()
const pack = await publishPack(await t.agent('mia'))
afterAll(async () => {
  await t.close()
  await chain.stop()
})

/** Reports a run with a transaction, and returns whether it is verified. */
async function isVerified(tx: string): Promise<boolean> {
  const id = (await ben.call('POST', '/runs', { pack })).text('run.id')
  const report = { outcome: 'worked', summary: 'Done.', evidence: [{ kind: 'tx', value: tx }] }
  const { status, body } = await ben.call('POST', `/runs/${id}/report`, report)
  expect(status).toBe(200)
  return Object(body).run.evidence[0].verified
}

const submit = (to: Hex, data?: Hex): Promise<Hex> =>
  chain.client.sendTransaction({
    account: privateKeyToAccount(wallet.key),
    to,
    gas: 100_000n,
    ...(data && { data }),
  })

const send = (to: Hex, data?: Hex): Promise<Hex> => chain.mined(submit(to, data))

test('a transaction is verified after it succeeded and was confirmed', async () => {
  const tx = await send(wallet.address)
  expect(await isVerified(tx)).toBe(false)
  await chain.client.mine({ blocks: 1 })
  expect(await isVerified(tx)).toBe(true)
  expect(await isVerified(tx.toUpperCase().replace('0X', '0x'))).toBe(true)
  expect(Object((await t.call('GET', `/packs/${pack}/record`)).body).record.verifiedRuns).toBe(2)
})

test('one that failed, is pending or does not exist is not verified', async () => {
  const failed = await send(usdcOfBaseSepolia, '0x12345678')
  await chain.client.mine({ blocks: 2 })
  const receipt = await chain.client.getTransactionReceipt({ hash: failed })
  expect(receipt.status).toBe('reverted')
  expect(await isVerified(failed)).toBe(false)
  expect(await isVerified(`0x${'ab'.repeat(32)}`)).toBe(false)
  await chain.client.setAutomine(false)
  const pending = await submit(wallet.address)
  expect(await isVerified(pending)).toBe(false)
})

test('while the chain does not respond, a transaction is kept and not verified', async () => {
  await chain.client.setAutomine(true)
  const tx = await send(wallet.address)
  await chain.client.mine({ blocks: 2 })
  await chain.stop()
  expect(await isVerified(tx)).toBe(false)
})
