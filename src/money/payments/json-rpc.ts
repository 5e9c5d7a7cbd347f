import { fetchJson, FetchJsonError } from '../../kernel/fetch.ts'
import type { Log } from '../../kernel/log.ts'
import { isRecord, recordOf } from '../../kernel/schema.ts'
import { messageOf } from '../../kernel/text.ts'
import { chainBytesMax, chainCallMs, rpcCallMs } from './limits.ts'
import {
  OtherNetworkError,
  type PoolOptions,
  ServerError,
  type ServerHealth,
  ServerPool,
  ServerResponseError,
} from './server-pool.ts'

/** A call of JSON-RPC 2.0. */
export interface RpcCall {
  method: string
  params?: readonly unknown[]
}

/** An error that a node returned, such as a reverted call. */
class RpcError extends ServerResponseError {
  override readonly name = 'RpcError'

  constructor(
    message: string,
    readonly code: number,
    readonly data: unknown,
    isFinal: boolean,
  ) {
    super(message, isFinal)
  }
}

/** The proof that a server is of a network. */
interface NetworkProof {
  calls: readonly RpcCall[]
  /**
   * Returns the problem of a server of another network, from the results of the calls. Throws
   * ServerError where they prove nothing.
   */
  findProblem(results: unknown[]): string | undefined
}

interface RpcOptions extends Omit<PoolOptions, 'checkServer'> {
  proof: NetworkProof
  /** Checks more than the network before a server is used. Throws ServerError. */
  checkServer?(request: JsonRpc['request']): Promise<void>
  /** Time limit of one call. */
  callMs?: number
  /** Returns whether other servers would return an error of this code, too. */
  isFinal?(code: number): boolean
}

/** Statuses of a server that does not refuse batches, but this client. */
const clientStatuses = [401, 403, 429]

/**
 * Access to one network through JSON-RPC servers. Every call is in a batch with the calls that
 * prove the network, so that one backend of a server answers both (docs/decisions/0094).
 */
export class JsonRpc {
  private readonly pool: ServerPool
  /** URLs of servers that refuse batches. */
  private readonly unbatched = new Set<string>()
  private lastId = 0

  constructor(private readonly options: RpcOptions) {
    const { checkServer } = options
    this.pool = new ServerPool({
      ...options,
      checkServer: async (url) => {
        await this.callProven(url, [])
        await checkServer?.((method, params = []) => this.callOne(url, { method, params }))
      },
    })
  }

  /**
   * Calls a method. Throws RpcError for the error of a node, and NoServerError when no server of
   * the network responds.
   */
  request(method: string, params: readonly unknown[] = []): Promise<unknown> {
    return this.pool.use((url) => this.callOne(url, { method, params }))
  }

  /** Asks every server for its network, and returns the health of each. */
  check(): Promise<ServerHealth[]> {
    return this.pool.check()
  }

  /** Returns the health of each server as far as it is known. */
  health(): ServerHealth[] {
    return this.pool.health()
  }

  private async callOne(url: string, call: RpcCall): Promise<unknown> {
    const [result] = await this.callProven(url, [call])
    return result
  }

  /** Makes calls of a server, and throws OtherNetworkError where it proves another network. */
  private async callProven(url: string, calls: readonly RpcCall[]): Promise<unknown[]> {
    const { calls: proof } = this.options.proof
    const all = [...proof, ...calls]
    const replies = this.unbatched.has(url) ? undefined : await this.sendBatch(url, all)
    if (replies) {
      this.requireNetwork(replies.slice(0, proof.length))
      return replies.slice(proof.length).map(this.resultOf)
    }
    // Between two proofs, a server that changes its network once does not go unnoticed.
    const alone: unknown[] = []
    for (const call of calls.length > 0 ? [...all, ...proof] : all)
      alone.push(await this.send(url, this.bodyOf(call)))
    this.unbatched.add(url)
    this.requireNetwork(alone.slice(0, proof.length))
    if (calls.length > 0) this.requireNetwork(alone.slice(all.length))
    return alone.slice(proof.length, all.length).map(this.resultOf)
  }

  private requireNetwork(replies: unknown[]): void {
    const fields = replies.map(recordOf)
    const failed = fields.find(({ error }) => isRecord(error))
    if (failed) {
      const { message } = recordOf(failed['error'])
      throw new ServerError(`It does not say which network it serves: ${String(message)}`)
    }
    const problem = this.options.proof.findProblem(fields.map(({ result }) => result))
    if (problem !== undefined) throw new OtherNetworkError(problem)
  }

  /** Returns the replies in the order of the calls; undefined where a server refuses batches. */
  private async sendBatch(url: string, calls: readonly RpcCall[]): Promise<unknown[] | undefined> {
    const bodies = calls.map(this.bodyOf)
    try {
      const replies = await this.send(url, bodies)
      if (!Array.isArray(replies)) return undefined
      const byId = new Map(replies.map((reply: unknown) => [recordOf(reply)['id'], reply]))
      return bodies.map(({ id }) => byId.get(id))
    } catch (error) {
      const status = error instanceof FetchJsonError ? (error.status ?? 0) : 0
      if (status >= 400 && status < 500 && !clientStatuses.includes(status)) return undefined
      throw error
    }
  }

  private readonly bodyOf = ({ method, params = [] }: RpcCall) => ({
    jsonrpc: '2.0',
    id: (this.lastId += 1),
    method,
    params,
  })

  private readonly resultOf = (reply: unknown): unknown => {
    const { error, result } = recordOf(reply)
    if (isRecord(error)) {
      const code = typeof error['code'] === 'number' ? error['code'] : 0
      const isFinal = this.options.isFinal?.(code) ?? false
      throw new RpcError(String(error['message']), code, error['data'], isFinal)
    }
    if (result === undefined) throw new Error('A JSON-RPC response has no result.')
    return result
  }

  /** Sends a body. A user and a password in the URL become a header. */
  private send(address: string, body: object): Promise<unknown> {
    const url = new URL(address)
    const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
    url.username = url.password = ''
    const request = new Request(url.href, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(user !== ':' && { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
      },
      body: JSON.stringify(body),
    })
    const signal = AbortSignal.timeout(this.options.callMs ?? chainCallMs)
    return fetchJson(request, { signal, bytesMax: chainBytesMax })
  }
}

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
