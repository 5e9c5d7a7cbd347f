import type { Log } from '../../kernel/log.ts'
import { recordOf } from '../../kernel/schema.ts'
import { messageOf } from '../../kernel/text.ts'
import { JsonRpc } from './json-rpc.ts'
import { rpcCallMs } from './limits.ts'
import { ServerError } from './server-pool.ts'

/** Errors of a node that another one may not have: limits, unknown methods, internal errors. */
const nodeErrors = [-32_005, -32_601, -32_603]

/** The chain cannot be read now: no server responds, or what they return cannot be used. */
export class ChainReadError extends Error {}

/**
 * Reads the chain. Throws ChainReadError for every failure: a client of the chain wraps the errors
 * of servers, and throws various ones for results that are no blocks or numbers.
 */
export async function readChain<Result>(read: () => Promise<Result>): Promise<Result> {
  try {
    return await read()
  } catch (error) {
    throw new ChainReadError(reasonOf(error), { cause: error })
  }
}

/** Returns the first line of the innermost error, which is that of the server. */
function reasonOf(error: unknown): string {
  if (error instanceof Error && error.cause instanceof Error) return reasonOf(error.cause)
  return messageOf(error).split('\n', 1).join('')
}

interface EvmOptions {
  /** The chain that every server must serve. */
  chainId: number
  urls: readonly string[]
  /** The setting that has the URLs, for messages. */
  setting: string
  log: Log
}

/** Access to one EVM chain through JSON-RPC servers. */
export class EvmRpc extends JsonRpc {
  constructor({ chainId, ...servers }: EvmOptions) {
    super({
      ...servers,
      network: `chain ${chainId}`,
      event: 'rpc_unusable',
      callMs: rpcCallMs,
      isFinal: (code) => !nodeErrors.includes(code),
      proof: {
        calls: [{ method: 'eth_chainId' }],
        findProblem: ([id]) => {
          const found = typeof id === 'string' ? Number(id) : Number.NaN
          if (found === chainId) return undefined
          if (!Number.isSafeInteger(found)) throw new ServerError('It returned no chain id.')
          return `It serves chain ${found} instead of ${chainId}. Correct the URL.`
        },
      },
    })
  }
}

/**
 * Returns whether a transaction succeeded and has enough confirmations; its own block is the first.
 * Throws NoServerError and RpcError.
 */
export async function isConfirmed(
  rpc: EvmRpc,
  tx: string,
  confirmations: number,
): Promise<boolean> {
  const receipt = recordOf(await rpc.request('eth_getTransactionReceipt', [tx]))
  const block = Number(receipt['blockNumber'] ?? Number.NaN)
  if (receipt['status'] !== '0x1' || !Number.isSafeInteger(block)) return false
  const newest = Number(await rpc.request('eth_blockNumber'))
  return newest - block + 1 >= confirmations
}
