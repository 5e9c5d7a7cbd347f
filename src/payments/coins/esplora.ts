import type { Log } from '../../core/log.ts'
import { itemsOf, recordOf } from '../../core/schema.ts'
import { second, stopwatch } from '../../core/time.ts'
import { describeFailure, fetchJson } from '../../providers/fetch-json.ts'
import { rpcRestMs } from '../limits.ts'
import { chainBytesMax, chainCallMs } from './limits.ts'
import type { ObservedPayment } from './payments.ts'
import type { PollInput, PollResult } from './poll.ts'
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

interface Server {
  url: string
  name: string
  isChecked: boolean
  problem: string | undefined
  restUntil: number
}

/** Transactions that one response of Esplora has at most, besides those of the mempool. */
const confirmedPerPage = 25
const pagesMax = 40

/** Esplora servers of one Bitcoin network, asked in their order. */
export class Esplora {
  private readonly servers: Server[]

  constructor(
    private readonly network: string,
    urls: readonly string[],
    private readonly log: Log,
  ) {
    const all = urls.length > 0 ? urls : (publicServers[network] ?? [])
    this.servers = all.map((url, at) => ({
      url: url.replace(/\/$/, ''),
      name: `TOPUP_BTC_ESPLORA_URLS[${at}] (${new URL(url).host})`,
      isChecked: false,
      problem: undefined,
      restUntil: 0,
    }))
  }

  /** Asks every server for its network and returns its problem; undefined for one that works. */
  async check(): Promise<{ name: string; problem: string | undefined }[]> {
    for (const server of this.servers) {
      server.isChecked = false
      await this.checkNetwork(server).catch((error: unknown) => this.rest(server, error))
    }
    return this.servers.map(({ name, problem }) => ({ name, problem }))
  }

  /** Reads a path from the first server that answers. Throws where none does. */
  async get(path: string): Promise<unknown> {
    const now = stopwatch()
    const ready = this.servers.filter(({ restUntil }) => restUntil <= now)
    const resting = this.servers.filter((server) => !ready.includes(server))
    for (const server of [...ready, ...resting]) {
      try {
        await this.checkNetwork(server)
        const result = await fetchPath(server, path)
        server.problem = undefined
        return result
      } catch (error) {
        this.rest(server, error)
      }
    }
    const problems = this.servers.map(({ name, problem }) => `${name}: ${problem}`)
    throw new Error(`No Esplora server answers. ${problems.join('; ')}`)
  }

  private async checkNetwork(server: Server): Promise<void> {
    if (server.isChecked) return
    const height = await fetchPath(server, '/blocks/tip/height')
    if (!Number.isSafeInteger(height)) throw new Error('it returned no height')
    const expected = genesis[this.network]
    const blocks = expected === undefined ? [] : itemsOf(await fetchPath(server, '/blocks/0'))
    if (recordOf(blocks.at(-1))['id'] !== expected) throw new OtherNetworkError(this.network)
    server.isChecked = true
    server.problem = undefined
  }

  private rest(server: Server, error: unknown): void {
    const problem = error instanceof OtherNetworkError ? error.message : describeFailure(error)
    if (server.problem !== problem) {
      this.log.warn('esplora_unusable', { server: server.name, problem })
    }
    server.problem = problem
    server.isChecked = false
    server.restUntil = stopwatch() + rpcRestMs
  }
}

class OtherNetworkError extends Error {
  constructor(network: string) {
    super(`It serves another network than ${network}. Correct the URL.`)
  }
}

const fetchPath = ({ url }: Server, path: string): Promise<unknown> =>
  fetchJson(new Request(url + path), {
    signal: AbortSignal.timeout(chainCallMs),
    bytesMax: chainBytesMax,
  })

/** Finds the payments of the invoices whose turn it is. */
export async function pollEsplora(
  esplora: Esplora,
  { due, unconfirmed }: PollInput,
): Promise<PollResult> {
  const height = Number(await esplora.get('/blocks/tip/height'))
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
  esplora: Esplora,
  invoice: StoredInvoice,
  height: number,
): Promise<ObservedPayment[]> {
  const { address } = invoice
  const found: ObservedPayment[] = []
  let path = `/address/${address}/txs`
  for (let page = 0; page < pagesMax; page += 1) {
    const txs = itemsOf(await esplora.get(path)).map(recordOf)
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
