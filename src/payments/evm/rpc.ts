import type { Log } from '../../core/log.ts'
import { isRecord, recordOf } from '../../core/schema.ts'
import { stopwatch } from '../../core/time.ts'
import { describeFailure, fetchJson } from '../../providers/fetch-json.ts'
import { healthOf, type ServerHealth } from '../health.ts'
import { rpcBytesMax, rpcCallMs, rpcRestMs, rpcWrongChainRestMs } from '../limits.ts'

/** An error that the chain's node returned, such as a reverted call. */
class RpcError extends Error {
  override readonly name = 'RpcError'

  constructor(
    message: string,
    readonly code: number,
    readonly data: unknown,
  ) {
    super(message)
  }
}

/** No server of the chain answered. The message contains no URL. */
export class RpcUnavailableError extends Error {
  override readonly name = 'RpcUnavailableError'
}

/** Returns whether an error means that no server answered. The chain's client wraps such errors. */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof RpcUnavailableError) return true
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

interface Endpoint extends ServerHealth {
  url: string
  isChecked: boolean
  isOfOtherNetwork: boolean
  restUntil: number
}

/** Errors of a node that another one may not have: limits, unknown methods, internal errors. */
const isOfNode = (code: number): boolean => [-32_005, -32_601, -32_603].includes(code)

/**
 * Access to one EVM chain through JSON-RPC servers, asked in their order. Each must return the
 * right chain id before it is used, and a failed one is asked last for a while.
 */
export class EvmRpc {
  readonly chainId: number
  private readonly endpoints: Endpoint[]
  private lastId = 0

  constructor(private readonly options: RpcOptions) {
    this.chainId = options.chainId
    this.endpoints = options.urls.map((url, at) => ({
      url,
      name: `${options.setting}[${at}] (${new URL(url).host})`,
      isChecked: false,
      isOfOtherNetwork: false,
      problem: undefined,
      restUntil: 0,
    }))
  }

  /**
   * Calls a method of the chain, such as `eth_blockNumber`. Throws RpcError for the error of a
   * node, and RpcUnavailableError when no server answers.
   */
  async request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    let refused: RpcError | undefined
    for (const endpoint of this.inOrder()) {
      try {
        await this.checkChain(endpoint)
        const result = await this.call(endpoint, method, params)
        endpoint.problem = undefined
        endpoint.restUntil = 0
        return result
      } catch (error) {
        if (error instanceof RpcError && !isOfNode(error.code)) throw error
        if (error instanceof RpcError) refused = error
        else this.rest(endpoint, error)
      }
    }
    if (refused) throw refused
    const problems = this.endpoints.map(({ name, problem }) => `${name}: ${problem}`)
    throw new RpcUnavailableError(
      `No server of chain ${this.chainId} answers. ${problems.join('; ')}`,
    )
  }

  /** Asks every server for its chain id, and returns the health of each. */
  async check(): Promise<ServerHealth[]> {
    await Promise.all(
      this.endpoints.map(async (endpoint) => {
        endpoint.isChecked = false
        await this.checkChain(endpoint).catch((error: unknown) => this.rest(endpoint, error))
      }),
    )
    return this.health()
  }

  /** Returns the health of each server as far as it is known. */
  health(): ServerHealth[] {
    return this.endpoints.map(healthOf)
  }

  /** Returns the servers to ask, those that failed lately last, without those of other chains. */
  private inOrder(): Endpoint[] {
    const now = stopwatch()
    const isReady = ({ restUntil }: Endpoint) => restUntil <= now
    const resting = this.endpoints.filter((one) => !isReady(one) && !one.isOfOtherNetwork)
    return [...this.endpoints.filter(isReady), ...resting]
  }

  private async checkChain(endpoint: Endpoint): Promise<void> {
    if (endpoint.isChecked) return
    const found = Number(await this.call(endpoint, 'eth_chainId', []))
    if (found !== this.chainId) throw new WrongChainError(found, this.chainId)
    endpoint.isChecked = true
    endpoint.problem = undefined
  }

  private rest(endpoint: Endpoint, error: unknown): void {
    const isWrong = error instanceof WrongChainError
    const problem = isWrong || error instanceof RpcError ? error.message : describeFailure(error)
    if (endpoint.problem !== problem) {
      this.options.log.warn('rpc_unusable', { server: endpoint.name, problem })
    }
    endpoint.problem = problem
    endpoint.isOfOtherNetwork = isWrong
    // Behind one name may be several nodes, so that the chain is checked again after a failure.
    endpoint.isChecked = false
    endpoint.restUntil = stopwatch() + (isWrong ? rpcWrongChainRestMs : rpcRestMs)
  }

  private async call(
    { url }: Endpoint,
    method: string,
    params: readonly unknown[],
  ): Promise<unknown> {
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

/** A server of another chain: money sent there would be credited here. */
class WrongChainError extends Error {
  constructor(found: number, expected: number) {
    super(`It serves chain ${found} instead of ${expected}. Correct the URL.`)
  }
}
