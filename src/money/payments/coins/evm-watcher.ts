import { and, eq } from 'drizzle-orm'

import { itemsOf, recordOf } from '../../../kernel/schema.ts'
import { minute, second } from '../../../kernel/time.ts'
import type { EvmRpc } from '../json-rpc.ts'
import { requireList, ServerError } from '../server-pool.ts'
import type { CoinContext } from './coins.ts'
import { blocksPerPass, coins, usdtToken } from './method.ts'
import type {
  ObservedPayment,
  PollInput,
  PollResult,
  StoredInvoice,
  StoredPayment,
} from './status.ts'
import { coinPayments } from './tables.ts'

/** The selector of decimals(). */
const decimalsCall = '0x313ce567'

/**
 * Returns a message when TOPUP_USDT_TOKEN has other decimals than USDT, which would credit wrong
 * amounts. The token of Ethereum is known. Throws where no server responds.
 */
export async function findTokenProblem({ config, coins: state }: CoinContext) {
  const { topupUsdtToken: token } = config
  if (token === '' || state.hasCheckedToken) return undefined
  const call = { to: token, data: decimalsCall }
  const result = String(await state.evm().request('eth_call', [call, 'latest']))
  // An address without a contract returns no bytes.
  const found = result === '0x' ? 'no' : String(BigInt(result))
  const { decimals } = coins.usdt
  state.hasCheckedToken = found === String(decimals)
  if (state.hasCheckedToken) return undefined
  return `TOPUP_USDT_TOKEN ${token} has ${found} decimals instead of ${decimals}. Correct it.`
}

/** Transfer(address,address,uint256). */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const addressesPerCall = 500
/** Blocks below the confirmed ones that are read again, for reorganizations. */
const rescanBlocks = 12
/** Difference between the clocks of the server and of the chain. */
const clockSkewMs = 10 * minute

const topicOf = (address: string): string => `0x${address.slice(2).toLowerCase().padStart(64, '0')}`

/** Finds payments of ETH and USDT by reading the new blocks, and the unconfirmed ones again. */
export async function pollEvm(ctx: CoinContext, input: PollInput): Promise<PollResult> {
  const rpc = ctx.coins.evm()
  const newest = await rpc.request('eth_blockNumber')
  const head = typeof newest === 'string' ? Number(newest) : Number.NaN
  if (!Number.isSafeInteger(head)) throw new Error('The server returned no block number.')
  const problem = await findTokenProblem(ctx)
  if (problem !== undefined) throw new Error(problem)
  if (input.watched.length === 0) return { observed: [], expected: [], cursor: String(head) }
  const times = new BlockTimes(rpc)
  const last = Math.min(head, Number(input.cursor ?? (await firstBlock(input, head, times))))
  const to = Math.min(head, last + blocksPerPass)
  const from = Math.max(0, last - ctx.config.topupEvmConfirmations - rescanBlocks)
  const range = { from, to, head }
  const tokens = await findTokens(ctx, input.watched, range, times)
  const ether = await findEther(rpc, input, { ...range, from: Math.min(to, last + 1) }, times)
  const balanced = to === head ? await balanceEther(ctx, input, head, ether) : ether
  const expected = input.unconfirmed.filter(
    ({ asset, block }) => asset === 'USDT' && block !== null && block >= from,
  )
  return {
    observed: [...tokens, ...balanced.observed],
    expected: [...expected, ...balanced.expected],
    cursor: String(to),
  }
}

/** Returns a block from before the first invoice, where no pass has succeeded since. */
async function firstBlock({ watched }: PollInput, head: number, times: BlockTimes) {
  const created = Math.min(...watched.map((invoice) => invoice.created)) - clockSkewMs
  let [low, high] = [0, head]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (((await times.of(middle)) ?? Infinity) <= created) low = middle
    else high = middle - 1
  }
  return low
}

async function findTokens(
  ctx: CoinContext,
  watched: StoredInvoice[],
  { from, to, head }: BlockRange,
  times: BlockTimes,
): Promise<ObservedPayment[]> {
  const token = usdtToken(ctx.config)
  if (token === '') return []
  const invoices = byAddress(watched)
  const observed: ObservedPayment[] = []
  const places = new Map<string, number>()
  for (let at = 0; at < watched.length; at += addressesPerCall) {
    const addresses = watched.slice(at, at + addressesPerCall).map(({ address }) => address)
    const topics = [transferTopic, null, addresses.map(topicOf)]
    const filter = { fromBlock: toHex(from), toBlock: toHex(to), address: token, topics }
    const logs = await ctx.coins.evm().request('eth_getLogs', [filter])
    for (const entry of requireList(logs, 'logs')) {
      const log = recordOf(entry)
      const block = Number(log['blockNumber'])
      const address = `0x${String(itemsOf(log['topics'])[2]).slice(26)}`
      const invoice = invoices.get(address.toLowerCase())
      const isOfToken = String(log['address']).toLowerCase() === token.toLowerCase()
      const amount = BigInt(String(log['data'] === '0x' ? 0 : log['data']))
      if (log['removed'] === true || !isOfToken || !invoice || amount === 0n) continue
      const tx = String(log['transactionHash']).toLowerCase()
      const content = `${tx} ${address} ${amount}`
      const place = places.get(content) ?? 0
      places.set(content, place + 1)
      observed.push({
        tx,
        // In its block, where it changes with a reorganization.
        output: Number(log['logIndex']),
        place,
        address: invoice.address,
        asset: 'USDT',
        amount,
        block,
        confirmations: head - block + 1,
        at: await times.of(block),
        invoice,
      })
    }
  }
  return observed
}

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
async function findEther(
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
async function balanceEther(
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

const toHex = (number: number): string => `0x${number.toString(16)}`

/** Returns invoices by their address in lower case. */
const byAddress = (invoices: StoredInvoice[]) =>
  new Map(invoices.map((invoice) => [invoice.address.toLowerCase(), invoice]))

/** Blocks from `from` to `to`, both included, of a chain whose newest one is `head`. */
interface BlockRange {
  from: number
  to: number
  head: number
}

/** Reads the times of blocks, each once. */
class BlockTimes {
  private readonly times = new Map<number, number>()

  constructor(private readonly rpc: EvmRpc) {}

  /** Returns milliseconds since 1970; undefined where the block is gone. */
  async of(block: number): Promise<number | undefined> {
    const known = this.times.get(block)
    if (known !== undefined) return known
    const found = recordOf(await this.rpc.request('eth_getBlockByNumber', [toHex(block), false]))
    const time = Number(found['timestamp']) * second
    if (!Number.isSafeInteger(time)) return undefined
    this.times.set(block, time)
    return time
  }
}

/** Returns the ETH that was credited for the address of an invoice in wei, and its transactions. */
async function readCreditedEther(
  { db }: CoinContext,
  { network, address }: StoredInvoice,
): Promise<{ sum: bigint; txs: Set<string> }> {
  const rows = await db.read
    .select({ tx: coinPayments.tx, amount: coinPayments.amount })
    .from(coinPayments)
    .where(
      and(
        eq(coinPayments.network, network),
        eq(coinPayments.address, address),
        eq(coinPayments.asset, 'ETH'),
        eq(coinPayments.state, 'credited'),
      ),
    )
  return {
    sum: rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    txs: new Set(rows.map(({ tx }) => tx)),
  }
}
