import type { Log } from '../../core/log.ts'
import { isRecord, recordOf } from '../../core/schema.ts'
import { fetchJson } from '../../providers/fetch-json.ts'
import type { ServerHealth } from '../health.ts'
import { rpcBytesMax, rpcCallMs, rpcWrongChainRestMs } from '../limits.ts'
import {
  NoServerError,
  OtherNetworkError,
  ServerPool,
  ServerResponseError,
} from '../server-pool.ts'

/** Errors of a node that another one may not have: limits, unknown methods, internal errors. */
const nodeErrors = [-32_005, -32_601, -32_603]

/** An error that the chain's node returned, such as a reverted call. */
class RpcError extends ServerResponseError {
  override readonly name = 'RpcError'

  constructor(
    message: string,
    readonly code: number,
    readonly data: unknown,
  ) {
    super(message, !nodeErrors.includes(code))
  }
}

/** Returns whether an error means that no server answered. The chain's client wraps such errors. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof NoServerError) return true
  return error instanceof Error && error.cause !== undefined && isUnavailable(error.cause)
}

interface RpcOptions {
  /** The chain that every server must serve. */
  chainId: number
  urls: readonly string[]
  /** The setting that has the URLs, for messages. */
  setting: string
  log: Log
}

/** Access to one EVM chain through JSON-RPC servers. */
export class EvmRpc {
  readonly chainId: number
  private readonly pool: ServerPool
  private lastId = 0

  constructor({ chainId, ...servers }: RpcOptions) {
    this.chainId = chainId
    this.pool = new ServerPool({
      ...servers,
      network: `chain ${chainId}`,
      event: 'rpc_unusable',
      otherNetworkRestMs: rpcWrongChainRestMs,
      checkServer: async (url) => {
        const found = Number(await this.call(url, 'eth_chainId', []))
        if (found === chainId) return
        const problem = `It serves chain ${found} instead of ${chainId}. Correct the URL.`
        throw new OtherNetworkError(problem)
      },
    })
  }

  /**
   * Calls a method of the chain, such as `eth_blockNumber`. Throws RpcError for the error of a
   * node, and NoServerError when no server answers.
   */
  request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return this.pool.use((url) => this.call(url, method, params))
  }

  /** Asks every server for its chain id, and returns the health of each. */
  check(): Promise<ServerHealth[]> {
    return this.pool.check()
  }

  /** Returns the health of each server as far as it is known. */
  health(): ServerHealth[] {
    return this.pool.health()
  }

  private async call(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
    const id = (this.lastId += 1)
    const request = new Request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    })
    const signal = AbortSignal.timeout(rpcCallMs)
    const response = recordOf(await fetchJson(request, { signal, bytesMax: rpcBytesMax }))
    const { error, result } = response
    if (isRecord(error)) {
      const code = typeof error['code'] === 'number' ? error['code'] : 0
      throw new RpcError(String(error['message']), code, error['data'])
    }
    if (result === undefined) throw new Error('A JSON-RPC response has no result.')
    return result
  }
}
