import { recordOf } from '../../core/schema.ts'
import type { EvmRpc } from '../evm/rpc.ts'
import { requireList, ServerError } from '../server-pool.ts'
import { type BlockRange, type BlockTimes, byAddress, toHex } from './blocks.ts'
import type { CoinContext } from './coins.ts'
import { readCreditedEther } from './payment-sums.ts'
import type { ObservedPayment, PollInput } from './poll.ts'
import type { StoredInvoice, StoredPayment } from './status.ts'

/** Output of a payment of ETH: it is the value of its transaction and has no log. */
const valueOutput = -1
/** Begins the name of a payment that only a balance shows, in place of its transaction. */
const balancePrefix = 'balance:'

/** Payments of ETH: those of the chain, and those that it shows unless they are gone. */
interface EtherPayments {
  observed: ObservedPayment[]
  expected: StoredPayment[]
}

/** Finds ETH in the new blocks, and asks again for the payments that are not confirmed. */
export async function findEther(
  rpc: EvmRpc,
  { watched, unconfirmed }: PollInput,
  range: BlockRange,
  times: BlockTimes,
): Promise<EtherPayments> {
  const invoices = byAddress(watched)
  const observed: ObservedPayment[] = []
  const expected: StoredPayment[] = []
  const isWatched = watched.some(({ asset }) => asset === 'ETH')
  for (let block = range.from; isWatched && block <= range.to; block += 1) {
    const found = recordOf(await rpc.request('eth_getBlockByNumber', [toHex(block), true]))
    for (const entry of requireList(found['transactions'], 'block')) {
      const { to, value, hash } = recordOf(entry)
      const invoice = invoices.get(String(to).toLowerCase())
      const amount = invoice ? BigInt(String(value)) : 0n
      if (!invoice || amount === 0n) continue
      const tx = String(hash).toLowerCase()
      const payment = await readTransfer(rpc, { tx, amount, invoice }, range.head, times)
      if (payment === 'missing') throw new ServerError('A server returned no receipt.')
      if (payment !== 'failed') observed.push(payment)
    }
  }
  const fresh = new Set(observed.map(({ tx }) => tx))
  for (const known of unconfirmed) {
    const invoice = invoices.get(known.address.toLowerCase())
    const isOther = known.asset !== 'ETH' || known.output !== valueOutput
    if (isOther || !invoice) continue
    expected.push(known)
    if (fresh.has(known.tx)) continue
    const amount = BigInt(known.amount)
    const payment = await readTransfer(rpc, { tx: known.tx, amount, invoice }, range.head, times)
    if (typeof payment !== 'string') observed.push(payment)
  }
  return { observed, expected }
}

/** Returns a transfer of ETH as the chain has it. */
async function readTransfer(
  rpc: EvmRpc,
  { tx, amount, invoice }: { tx: string; amount: bigint; invoice: StoredInvoice },
  head: number,
  times: BlockTimes,
): Promise<ObservedPayment | 'failed' | 'missing'> {
  const receipt = recordOf(await rpc.request('eth_getTransactionReceipt', [tx]))
  const block = Number(receipt['blockNumber'])
  if (receipt['status'] === '0x0') return 'failed'
  if (receipt['status'] !== '0x1' || !Number.isSafeInteger(block)) return 'missing'
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
 * Compares the payments with the confirmed balances of addresses that never sent anything. A
 * balance that is higher shows ETH of contracts, which is in no transaction. Where it is lower, a
 * reorganization moved ETH that was credited by balance: the same money is not observed again.
 */
export async function balanceEther(
  ctx: CoinContext,
  { due, unconfirmed }: PollInput,
  head: number,
  { observed, expected }: EtherPayments,
): Promise<EtherPayments> {
  const confirmations = ctx.config.topupEvmConfirmations
  const confirmed = observed.filter((payment) => payment.confirmations >= confirmations)
  const invoices = new Set(due.filter(({ asset }) => asset === 'ETH'))
  for (const { invoice } of confirmed) if (invoice?.asset === 'ETH') invoices.add(invoice)
  const result = { observed: new Set(observed), expected: [...expected] }
  const block = head - confirmations + 1
  for (const invoice of block < 0 ? [] : invoices) {
    const own = confirmed.filter((payment) => payment.invoice === invoice)
    const waiting = unconfirmed.filter(
      (payment) => payment.invoice === invoice.id && payment.tx.startsWith(balancePrefix),
    )
    const rest = await findDifference(ctx, { invoice, own, waiting, block })
    if (!rest) continue
    result.expected.push(...waiting)
    for (const payment of rest.missing) result.observed.delete(payment)
    if (rest.more) result.observed.add({ ...rest.more, confirmations })
  }
  return { observed: [...result.observed], expected: result.expected }
}

interface EtherOfInvoice {
  invoice: StoredInvoice
  /** Payments of transactions with their confirmations. */
  own: ObservedPayment[]
  /** Payments by balance that are not credited yet. */
  waiting: StoredPayment[]
  /** The newest confirmed block. */
  block: number
}

/** Returns payments that the balance lacks, and what it has beside them; undefined if unknown. */
async function findDifference(
  ctx: CoinContext,
  { invoice, own, waiting, block }: EtherOfInvoice,
): Promise<
  | { missing: ObservedPayment[]; more: Omit<ObservedPayment, 'confirmations'> | undefined }
  | undefined
> {
  const { address } = invoice
  const rpc = ctx.coins.evm()
  const balance = BigInt(String(await rpc.request('eth_getBalance', [address, toHex(block)])))
  const credited = await readCreditedEther(ctx, invoice)
  const fresh = own.filter(({ tx }) => !credited.txs.has(tx))
  let rest = balance - credited.sum
  if (waiting.length === 0 && fresh.reduce((sum, { amount }) => sum + amount, 0n) === rest) {
    return undefined
  }
  const nonce = Number(await rpc.request('eth_getTransactionCount', [address, toHex(block)]))
  if (nonce !== 0) return undefined
  const missing: ObservedPayment[] = []
  for (const payment of fresh) {
    if (payment.amount > rest) missing.push(payment)
    else rest -= payment.amount
  }
  if (rest <= 0n) return { missing, more: undefined }
  const tx = `${balancePrefix}${address.toLowerCase()}:${balance}`
  return { missing, more: { tx, output: 0, address, asset: 'ETH', amount: rest, block, invoice } }
}
