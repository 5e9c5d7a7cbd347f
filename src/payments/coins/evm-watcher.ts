import { itemsOf, recordOf } from '../../core/schema.ts'
import { minute } from '../../core/time.ts'
import { requireList } from '../server-pool.ts'
import { type BlockRange, BlockTimes, byAddress, toHex } from './blocks.ts'
import type { CoinContext } from './coins.ts'
import { balanceEther, findEther } from './ether.ts'
import { blocksPerPass } from './limits.ts'
import { usdtToken } from './method.ts'
import type { ObservedPayment, PollInput, PollResult } from './poll.ts'
import type { StoredInvoice } from './status.ts'
import { findTokenProblem } from './token.ts'

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
