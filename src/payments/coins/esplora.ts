import type { Log } from '../../core/log.ts'
import { itemsOf, recordOf } from '../../core/schema.ts'
import { second } from '../../core/time.ts'
import { getJson, otherNetwork, ServerError, ServerPool } from '../server-pool.ts'
import type { ObservedPayment, PollInput, PollResult } from './poll.ts'
import type { StoredInvoice } from './status.ts'

const publicServers: Record<string, string[]> = {
  mainnet: ['https://mempool.space/api', 'https://blockstream.info/api'],
  testnet: ['https://mempool.space/testnet/api', 'https://blockstream.info/testnet/api'],
  signet: ['https://mempool.space/signet/api'],
}

/** Hash of the first block, which tells networks apart. Regtest has no fixed one. */
const genesis: Record<string, string> = {
  mainnet: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  testnet: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
  signet: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
}

/** Transactions that one response of Esplora has at most, besides those of the mempool. */
const confirmedPerPage = 25
const pagesMax = 40

/** Returns the Esplora servers of one Bitcoin network. */
export function openEsplora(network: string, urls: readonly string[], log: Log): ServerPool {
  const all = urls.length > 0 ? urls : (publicServers[network] ?? [])
  return new ServerPool({
    urls: all.map((url) => url.replace(/\/$/, '')),
    setting: 'TOPUP_BTC_ESPLORA_URLS',
    log,
    checkServer: async (url) => {
      const expected = genesis[network]
      if (expected === undefined) return
      const [block] = itemsOf(await getJson(`${url}/blocks/0`)).slice(-1)
      if (recordOf(block)['id'] !== expected) throw otherNetwork(network)
    },
  })
}

/** Finds the payments of the invoices whose turn it is. */
export async function pollEsplora(
  esplora: ServerPool,
  { due, unconfirmed }: PollInput,
): Promise<PollResult> {
  const height = Number(await esplora.use((url) => getJson(`${url}/blocks/tip/height`)))
  if (!Number.isSafeInteger(height)) throw new ServerError('The server returned no height.')
  const observed: ObservedPayment[] = []
  for (const invoice of due) observed.push(...(await readPayments(esplora, invoice, height)))
  const seen = new Set(observed.map(({ tx, output }) => `${tx} ${output}`))
  const polled = new Set(due.map(({ id }) => id))
  const gone = unconfirmed.filter(
    ({ invoice, tx, output }) => polled.has(invoice ?? '') && !seen.has(`${tx} ${output}`),
  )
  return { observed, gone, cursor: String(height) }
}

async function readPayments(
  esplora: ServerPool,
  invoice: StoredInvoice,
  height: number,
): Promise<ObservedPayment[]> {
  const { address } = invoice
  const found: ObservedPayment[] = []
  let path = `/address/${address}/txs`
  for (let page = 0; page < pagesMax; page += 1) {
    const at = path
    const txs = itemsOf(await esplora.use((url) => getJson(url + at))).map(recordOf)
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
