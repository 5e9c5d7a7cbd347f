import { itemsOf, recordOf } from '../../core/schema.ts'
import type { EvmRpc } from '../evm/rpc.ts'
import { type BlockRange, type BlockTimes, byAddress, toHex } from './blocks.ts'
import type { CoinContext } from './coins.ts'
import { sumOfEther } from './payment-sums.ts'
import type { ObservedPayment, PollInput } from './poll.ts'
import type { StoredInvoice, StoredPayment } from './status.ts'

/** Output of a payment of ETH: it is the value of its transaction and has no log. */
const valueOutput = -1

/** Finds ETH in the new blocks, and asks again for the payments that are not confirmed. */
export async function findEther(
  rpc: EvmRpc,
  { watched, unconfirmed }: PollInput,
  range: BlockRange,
  times: BlockTimes,
): Promise<{ observed: ObservedPayment[]; gone: StoredPayment[] }> {
  const invoices = byAddress(watched)
  const observed: ObservedPayment[] = []
  const gone: StoredPayment[] = []
  const isWatched = watched.some(({ asset }) => asset === 'ETH')
  for (let block = range.from; isWatched && block <= range.to; block += 1) {
    const found = recordOf(await rpc.request('eth_getBlockByNumber', [toHex(block), true]))
    for (const entry of itemsOf(found['transactions'])) {
      const { to, value, hash } = recordOf(entry)
      const invoice = invoices.get(String(to).toLowerCase())
      const amount = invoice ? BigInt(String(value)) : 0n
      if (!invoice || amount === 0n) continue
      const tx = String(hash).toLowerCase()
      const payment = await readTransfer(rpc, { tx, amount, invoice }, range.head, times)
      if (payment) observed.push(payment)
    }
  }
  const fresh = new Set(observed.map(({ tx }) => tx))
  for (const known of unconfirmed) {
    const invoice = invoices.get(known.address.toLowerCase())
    const isOther = known.asset !== 'ETH' || known.output !== valueOutput || fresh.has(known.tx)
    if (isOther || !invoice) continue
    const amount = BigInt(known.amount)
    const payment = await readTransfer(rpc, { tx: known.tx, amount, invoice }, range.head, times)
    if (payment) observed.push(payment)
    else gone.push(known)
  }
  return { observed, gone }
}

/** Returns a transfer of ETH as the chain has it; undefined where it failed or left the chain. */
async function readTransfer(
  rpc: EvmRpc,
  { tx, amount, invoice }: { tx: string; amount: bigint; invoice: StoredInvoice },
  head: number,
  times: BlockTimes,
): Promise<ObservedPayment | undefined> {
  const receipt = recordOf(await rpc.request('eth_getTransactionReceipt', [tx]))
  const block = Number(receipt['blockNumber'])
  if (receipt['status'] !== '0x1' || !Number.isSafeInteger(block)) return undefined
  const confirmations = Math.max(0, head - block + 1)
  const at = await times.of(block)
  const { address } = invoice
  return {
    tx,
    output: valueOutput,
    address,
    asset: 'ETH',
    amount,
    block,
    confirmations,
    at,
    invoice,
  }
}

/**
 * Finds ETH that contracts sent, which no transaction shows: the confirmed balance of an address
 * that never sent anything is more than the payments that are known.
 */
export async function findEtherOfContracts(
  ctx: CoinContext,
  { due }: PollInput,
  head: number,
  observed: ObservedPayment[],
): Promise<ObservedPayment[]> {
  const rpc = ctx.coins.evm()
  const confirmations = ctx.config.topupEvmConfirmations
  const block = head - confirmations + 1
  const found: ObservedPayment[] = []
  for (const invoice of block < 0 ? [] : due) {
    if (invoice.asset !== 'ETH') continue
    const { address } = invoice
    const balance = BigInt(String(await rpc.request('eth_getBalance', [address, toHex(block)])))
    const stored = await sumOfEther(ctx, invoice, observed)
    if (balance <= stored) continue
    const nonce = Number(await rpc.request('eth_getTransactionCount', [address, toHex(block)]))
    if (nonce !== 0) continue
    const tx = `balance:${address.toLowerCase()}:${balance}`
    const amount = balance - stored
    found.push({ tx, output: 0, address, asset: 'ETH', amount, block, confirmations, invoice })
  }
  return found
}
