import { afterAll, beforeAll, describe, expect, test } from 'bun:test'

import {
  type BitcoinChain,
  findBitcoinNode,
  startBitcoinChain,
} from '../../../testing/fixtures/bitcoin-chain.ts'
import {
  otherVpub,
  startTopupServer,
  testVpub,
  type TopupServer,
} from '../../../testing/fixtures/topups.ts'

const network = 'bitcoin:regtest'
const isMissing = findBitcoinNode() === undefined
if (isMissing) console.log('Skipping tests of Bitcoin: litecoind is missing.')

let chain: BitcoinChain
beforeAll(async () => {
  if (!isMissing) chain = await startBitcoinChain()
}, 60_000)
afterAll(() => chain?.stop())

for (const source of ['an Esplora server', 'an own bitcoind'] as const) {
  describe.skipIf(isMissing)(`Bitcoin through ${source}`, () => {
    let t: TopupServer

    beforeAll(async () => {
      t = await startTopupServer({
        TOPUP_BTC_NETWORK: 'regtest',
        ...(source === 'an own bitcoind'
          ? { TOPUP_BTC_XPUB: testVpub, TOPUP_BTC_RPC_URL: chain.rpcUrl }
          : { TOPUP_BTC_XPUB: otherVpub, TOPUP_BTC_ESPLORA_URLS: chain.esploraUrl }),
      })
      await t.watch(network)
    })
    afterAll(() => t.close())

    async function mine(blocks: number): Promise<void> {
      await chain.mine(blocks)
      await t.watch(network)
    }

    test('credits two invoices of one transaction, never before its confirmations', async () => {
      const before = [await t.balance(), await t.credits()] as const
      const [one, other] = [await t.invoice('btc', 6), await t.invoice('btc', 12)]
      expect(one.uri).toBe(`bitcoin:${one.address}?amount=0.0001`)
      await t.watch(network)
      const tx = await chain.send([one.address, 10_000n], [other.address, 25_000n])
      await t.watch(network)
      expect(await t.status(one.id)).toMatchObject({
        status: 'Processing',
        payments: [{ tx, amount: '0.0001', confirmations: 0, required_confirmations: 2 }],
      })
      await mine(1)
      expect(await t.balance()).toBe(before[0])
      await mine(1)
      await mine(3)
      expect(await t.status(one.id)).toMatchObject({ status: 'Settled', credited: 6 })
      const over = { status: 'Settled', exception: 'paid_over', credited: 15 }
      expect(await t.status(other.id)).toMatchObject(over)
      expect(await t.balance()).toBe(before[0] + 21_000_000_000n)
      expect(await t.credits()).toBe(before[1] + 2)
    }, 60_000)

    test('a payment that is replaced before its confirmation is not credited', async () => {
      const invoice = await t.invoice('btc', 600)
      await t.watch(network)
      const tx = await chain.send([invoice.address, 1_000_000n])
      await t.watch(network)
      expect(await t.status(invoice.id)).toMatchObject({ status: 'Processing' })
      await chain.replace(tx)
      await t.watch(network)
      expect(await t.status(invoice.id)).toMatchObject({ status: 'New', payments: [] })
      await mine(3)
      expect(await t.status(invoice.id)).toMatchObject({ status: 'New', credited: 0 })
    }, 60_000)

    test('a reorganization of 3 blocks after the credit does not credit again', async () => {
      const invoice = await t.invoice('btc', 6)
      await t.watch(network)
      await chain.send([invoice.address, 10_000n])
      await mine(3)
      expect(await t.status(invoice.id)).toMatchObject({ status: 'Settled', credited: 6 })
      const before = [await t.balance(), await t.credits()]
      await chain.reorganize(3)
      await t.watch(network)
      await mine(5)
      expect([await t.balance(), await t.credits()]).toEqual(before)
    }, 60_000)
  })
}
