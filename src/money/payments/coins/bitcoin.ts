import type { Config } from '../../../kernel/config/settings.ts'
import type { Log } from '../../../kernel/log.ts'
import { itemsOf, lookUp, recordOf } from '../../../kernel/schema.ts'
import { second } from '../../../kernel/time.ts'
import { JsonRpc } from '../json-rpc.ts'
import {
  getJson,
  OtherNetworkError,
  otherNetworkProblem,
  requireList,
  ServerError,
  ServerPool,
} from '../server-pool.ts'
import { scriptOf } from './addresses.ts'
import type { ObservedPayment, PollInput, PollResult, StoredInvoice } from './status.ts'

/** Hash of the first block, which tells networks apart. Regtest has no fixed one. */
const bitcoinGenesis: Record<string, string> = {
  mainnet: '000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f',
  testnet: '000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943',
  signet: '00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6',
}

const chains: Record<string, string> = { mainnet: 'main', testnet: 'test' }
/** Blocks below the confirmed ones that are listed again, for reorganizations. */
const rescanBlocks = 6

interface BitcoindContext {
  config: Config
  coins: { bitcoind(): JsonRpc; watchedScripts: Set<string> }
}

/** Returns an own bitcoind. Its wallet only watches and has no private keys. */
export const openBitcoind = (network: string, url: string, log: Log): JsonRpc =>
  new JsonRpc({
    urls: [url.replace(/\/$/, '')],
    setting: 'TOPUP_BTC_RPC_URL',
    log,
    proof: {
      // Litecoin and others have the same names of chains, and the same scripts.
      calls: [{ method: 'getblockchaininfo' }, { method: 'getblockhash', params: [0] }],
      findProblem: ([info, hash]) => {
        const { chain } = recordOf(info)
        if (typeof chain !== 'string') throw new ServerError('It returned no chain.')
        const name = lookUp(chains, network) ?? network
        const genesis = lookUp(bitcoinGenesis, network) ?? hash
        const isOwn = chain === name && hash === genesis
        return isOwn ? undefined : otherNetworkProblem(network)
      },
    },
    checkServer: async (request) => {
      const wallet = recordOf(await request('getwalletinfo'))
      if (wallet['private_keys_enabled'] === true) {
        throw new ServerError('Its wallet has private keys. Create one without them.')
      }
    },
  })

/** Finds payments in the wallet of an own bitcoind. */
export async function pollBitcoind(
  ctx: BitcoindContext,
  { cursor, watched, unconfirmed }: PollInput,
): Promise<PollResult> {
  const node = ctx.coins.bitcoind()
  const call = (method: string, ...params: unknown[]) => node.request(method, params)
  const scripts = new Map<string, StoredInvoice>()
  for (const invoice of watched) {
    scripts.set(await scriptOf(ctx.config, invoice.address), invoice)
  }
  await watchScripts(call, scripts, ctx.coins.watchedScripts)
  const depth = ctx.config.topupBtcConfirmations + rescanBlocks
  const listed = recordOf(await call('listsinceblock', cursor ?? '', depth, true))
  const { lastblock } = listed
  if (typeof lastblock !== 'string') throw new ServerError('The server returned no last block.')
  const rows = requireList(listed['transactions'], 'transactions').map(recordOf)
  const txs = new Set(rows.map(({ txid }) => String(txid)))
  const observed: ObservedPayment[] = []
  for (const tx of txs) observed.push(...(await readOutputs(call, tx, scripts)))
  return { observed, expected: unconfirmed, cursor: lastblock }
}

type Call = (method: string, ...params: unknown[]) => Promise<unknown>

/** Adds the scripts that the wallet does not watch yet. */
async function watchScripts(
  call: Call,
  scripts: Map<string, StoredInvoice>,
  known: Set<string>,
): Promise<void> {
  const fresh = [...scripts].filter(([script]) => !known.has(script))
  if (fresh.length > 0) await importScripts(call, fresh)
  for (const script of scripts.keys()) known.add(script)
}

/** Imports scripts with the times of their invoices, from which the wallet reads the blocks. */
async function importScripts(call: Call, scripts: [string, StoredInvoice][]): Promise<void> {
  const { descriptors } = recordOf(await call('getwalletinfo'))
  const requests: object[] = []
  for (const [scriptPubKey, { created }] of scripts) {
    const timestamp = Math.floor(created / second)
    if (descriptors === true) {
      const info = recordOf(await call('getdescriptorinfo', `raw(${scriptPubKey})`))
      requests.push({ desc: info['descriptor'], timestamp })
    } else requests.push({ scriptPubKey, timestamp, watchonly: true })
  }
  const method = descriptors === true ? 'importdescriptors' : 'importmulti'
  for (const result of itemsOf(await call(method, requests))) {
    const { success, error } = recordOf(result)
    if (success !== true) throw new ServerError(`${method}: ${String(recordOf(error)['message'])}`)
  }
}

async function readOutputs(
  call: Call,
  tx: string,
  scripts: Map<string, StoredInvoice>,
): Promise<ObservedPayment[]> {
  const found = recordOf(await call('gettransaction', tx, true, true))
  const { confirmations, blockheight, blocktime, decoded } = found
  const depth = Number(confirmations)
  // A replaced transaction stays in the wallet, but not in the mempool.
  if (depth < 0 || (depth === 0 && !(await isInMempool(call, tx)))) return []
  return requireList(recordOf(decoded)['vout'], 'transaction').flatMap((entry) => {
    const { n, value, scriptPubKey } = recordOf(entry)
    const invoice = scripts.get(String(recordOf(scriptPubKey)['hex']))
    const amount = satoshisOf(value)
    if (!invoice || amount === 0n) return []
    return {
      tx,
      output: Number(n),
      address: invoice.address,
      asset: 'BTC' as const,
      amount,
      block: depth === 0 ? null : Number(blockheight),
      confirmations: depth,
      at: depth === 0 ? undefined : Number(blocktime) * second,
      invoice,
    }
  })
}

async function isInMempool(call: Call, tx: string): Promise<boolean> {
  return itemsOf(await call('getrawmempool')).includes(tx)
}

/** Converts BTC of a JSON number, which has at most eight decimals and 2^53 satoshis. */
const satoshisOf = (value: unknown): bigint =>
  typeof value === 'number' && value > 0 ? BigInt(value.toFixed(8).replace('.', '')) : 0n

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
