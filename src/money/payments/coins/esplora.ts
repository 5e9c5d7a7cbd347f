import type { Config } from '../../../kernel/config/settings.ts'
import type { Log } from '../../../kernel/log.ts'
import { itemsOf, lookUp, recordOf } from '../../../kernel/schema.ts'
import { second } from '../../../kernel/time.ts'
import {
  getJson,
  OtherNetworkError,
  otherNetworkProblem,
  requireList,
  ServerError,
  ServerPool,
} from '../server-pool.ts'
import { bitcoinGenesis } from './bitcoin-genesis.ts'
import type { ObservedPayment, PollInput, PollResult } from './poll.ts'
import type { StoredInvoice } from './status.ts'

const publicServers: Record<string, string[]> = {
  mainnet: ['https://mempool.space/api', 'https://blockstream.info/api'],
  testnet: ['https://mempool.space/testnet/api', 'https://blockstream.info/testnet/api'],
  signet: ['https://mempool.space/signet/api'],
}

/** Transactions that one response of Esplora has at most, besides those of the mempool. */
const confirmedPerPage = 25
const pagesMax = 40

/** Returns the Esplora servers of one Bitcoin network. */
export function openEsplora(network: string, urls: readonly string[], log: Log): ServerPool {
  const all = urls.length > 0 ? urls : (lookUp(publicServers, network) ?? [])
  return new ServerPool({
    urls: all.map((url) => url.replace(/\/$/, '')),
    setting: 'TOPUP_BTC_ESPLORA_URLS',
    log,
    checkServer: (url) => requireNetwork(network, url),
  })
}

/** Throws OtherNetworkError for a server of another network. */
async function requireNetwork(network: string, url: string): Promise<void> {
  const genesis = lookUp(bitcoinGenesis, network)
  if (genesis === undefined) return
  const [block] = itemsOf(await getJson(`${url}/blocks/0`)).slice(-1)
  const { id } = recordOf(block)
  if (typeof id !== 'string') throw new ServerError('It returned no first block.')
  if (id !== genesis) throw new OtherNetworkError(otherNetworkProblem(network))
}

interface EsploraContext {
  config: Config
  coins: { esplora(): ServerPool }
}

/**
 * Finds the payments of the invoices whose turn it is. One server responds to all of a pass, and
 * proves its network before and after it (docs/decisions/0094).
 */
export function pollEsplora(ctx: EsploraContext, input: PollInput): Promise<PollResult> {
  const { topupBtcNetwork: network } = ctx.config
  return ctx.coins.esplora().use(async (url) => {
    await requireNetwork(network, url)
    const result = await pollServer(url, input)
    await requireNetwork(network, url)
    return result
  })
}

async function pollServer(url: string, { due, unconfirmed }: PollInput): Promise<PollResult> {
  const height = await getJson(`${url}/blocks/tip/height`)
  if (typeof height !== 'number' || !Number.isSafeInteger(height))
    throw new ServerError('The server returned no height.')
  const observed: ObservedPayment[] = []
  for (const invoice of due) observed.push(...(await readPayments(url, invoice, height)))
  const polled = new Set(due.map(({ id }) => id))
  const expected = unconfirmed.filter(({ invoice }) => polled.has(invoice ?? ''))
  return { observed, expected, cursor: String(height) }
}

async function readPayments(
  url: string,
  invoice: StoredInvoice,
  height: number,
): Promise<ObservedPayment[]> {
  const { address } = invoice
  const found: ObservedPayment[] = []
  let path = `/address/${address}/txs`
  for (let page = 0; page < pagesMax; page += 1) {
    const txs = requireList(await getJson(url + path), 'transactions').map(recordOf)
    found.push(...txs.flatMap((tx) => outputsOf(tx, invoice, height)))
    const confirmed = txs.filter(({ status }) => recordOf(status)['confirmed'] === true)
    const last = confirmed.at(-1)
    if (!last || confirmed.length < confirmedPerPage) break
    path = `/address/${address}/txs/chain/${String(last['txid'])}`
  }
  return found
}

function outputsOf(
  tx: Record<string, unknown>,
  invoice: StoredInvoice,
  tip: number,
): ObservedPayment[] {
  const { confirmed, block_height: height, block_time: time } = recordOf(tx['status'])
  const block = confirmed === true ? Number(height) : null
  return itemsOf(tx['vout']).flatMap((entry, output) => {
    const { scriptpubkey_address: address, value } = recordOf(entry)
    const isValue = typeof value === 'number' && Number.isSafeInteger(value) && value > 0
    if (address !== invoice.address || !isValue) return []
    return {
      tx: String(tx['txid']),
      output,
      address: invoice.address,
      asset: 'BTC' as const,
      amount: BigInt(value),
      block,
      // A server can be ahead of the height that was read before.
      confirmations: block === null ? 0 : Math.max(1, tip - block + 1),
      at: block === null ? undefined : Number(time) * second,
      invoice,
    }
  })
}
