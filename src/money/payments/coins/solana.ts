import type { Config } from '../../../kernel/config/settings.ts'
import type { Log } from '../../../kernel/log.ts'
import { itemsOf, lookUp, recordOf } from '../../../kernel/schema.ts'
import { second } from '../../../kernel/time.ts'
import { JsonRpc } from '../json-rpc.ts'
import { otherNetworkProblem, requireList, requireRecord, ServerError } from '../server-pool.ts'
import type { ObservedPayment, PollInput, PollResult, StoredInvoice } from './status.ts'

/** First characters of the hash of the first block, as CAIP-2 has them. */
const genesis: Record<string, string> = {
  'mainnet-beta': '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  devnet: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  testnet: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z',
}
const systemProgram = '1'.repeat(32)
const transferTag = 2
const pageMax = 1_000
const pagesMax = 5
/** Smaller payments without an invoice are spam, and are not kept. Lamports. */
const unmatchedMin = 1_000_000n
const commitment = 'finalized'

interface SolanaContext {
  config: Config
  coins: { solana(): JsonRpc }
}

/** Returns the JSON-RPC servers of Solana. */
export const openSolana = ({ topupSolNetwork: network, topupSolRpcUrls: urls }: Config, log: Log) =>
  new JsonRpc({
    urls,
    setting: 'TOPUP_SOL_RPC_URLS',
    log,
    proof: {
      calls: [{ method: 'getGenesisHash' }],
      findProblem: ([hash]) => {
        const expected = lookUp(genesis, network)
        if (expected === undefined) return undefined
        if (typeof hash !== 'string') throw new ServerError('It returned no genesis hash.')
        return hash.startsWith(expected) ? undefined : otherNetworkProblem(network)
      },
    },
  })

/** Finds the finalized payments to the recipient since the last pass. */
export async function pollSolana(
  ctx: SolanaContext,
  { cursor, watched }: PollInput,
): Promise<PollResult> {
  const signatures = await readSignatures(ctx, cursor)
  const references = new Map(watched.map((invoice) => [invoice.reference ?? '', invoice]))
  const observed: ObservedPayment[] = []
  for (const signature of signatures.toReversed()) {
    const found = await readPayments(ctx, signature, references)
    // Without a cursor, the list has payments from before the first invoice.
    observed.push(
      ...found.filter(({ invoice, amount }) => invoice ?? (cursor && amount >= unmatchedMin)),
    )
  }
  return { observed, expected: [], cursor: signatures[0] ?? cursor }
}

/** Returns the signatures of successful transactions after the cursor, newest first. */
async function readSignatures(ctx: SolanaContext, until: string | null): Promise<string[]> {
  const rpc = ctx.coins.solana()
  const found: string[] = []
  for (let page = 0; page < pagesMax; page += 1) {
    const before = found.at(-1)
    const options = {
      limit: pageMax,
      commitment,
      ...(until !== null && { until }),
      ...(before !== undefined && { before }),
    }
    const params = [ctx.config.topupSolRecipient, options]
    const rows = requireList(await rpc.request('getSignaturesForAddress', params), 'signatures')
    found.push(...rows.map((row) => String(recordOf(row)['signature'])))
    if (rows.length < pageMax) return found
  }
  throw new ServerError('Too many transactions since the last pass. Use a recipient of its own.')
}

async function readPayments(
  ctx: SolanaContext,
  signature: string,
  references: Map<string, StoredInvoice>,
): Promise<ObservedPayment[]> {
  const options = { encoding: 'json', commitment, maxSupportedTransactionVersion: 0 }
  const params = [signature, options]
  const found = await ctx.coins.solana().request('getTransaction', params)
  if (found === null) throw new ServerError('A finalized transaction is missing.')
  const { slot, blockTime, meta, transaction } = recordOf(found)
  const { err, loadedAddresses } = requireRecord(meta, 'transaction')
  if (err !== null) return []
  const { accountKeys, instructions } = recordOf(recordOf(transaction)['message'])
  const { writable, readonly } = recordOf(loadedAddresses)
  const keys = [accountKeys, writable, readonly].flatMap(itemsOf).map(String)
  const { base58 } = await import('@scure/base')
  return itemsOf(instructions).flatMap((entry, output) => {
    const { programIdIndex, accounts, data } = recordOf(entry)
    if (keys[Number(programIdIndex)] !== systemProgram) return []
    const amount = transferredLamports(base58.decode(String(data)))
    const [, recipient, ...more] = itemsOf(accounts).map((at) => keys[Number(at)] ?? '')
    if (amount === 0n || recipient !== ctx.config.topupSolRecipient) return []
    const reference = more.find((key) => references.has(key))
    return {
      tx: signature,
      output,
      address: recipient,
      asset: 'SOL' as const,
      amount,
      block: Number(slot),
      confirmations: 1,
      at: typeof blockTime === 'number' ? blockTime * second : undefined,
      invoice: references.get(reference ?? ''),
    }
  })
}

/** Returns the lamports of a transfer of the system program; 0 for other instructions. */
function transferredLamports(data: Uint8Array): bigint {
  if (data.length !== 12) return 0n
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  return view.getUint32(0, true) === transferTag ? view.getBigUint64(4, true) : 0n
}
