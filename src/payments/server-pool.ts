import type { Log } from '../core/log.ts'
import { isRecord, recordOf } from '../core/schema.ts'
import { stopwatch } from '../core/time.ts'
import { describeFailure, fetchJson } from '../providers/fetch-json.ts'
import { healthOf, type ServerHealth } from './health.ts'
import { chainBytesMax, chainCallMs, rpcRestMs } from './limits.ts'

interface Server extends ServerHealth {
  url: string
  isChecked: boolean
  restUntil: number
}

/** A server answered something that cannot be used. The message contains no URL. */
export class ServerError extends Error {}

/** A server of another network: money sent there would be credited here. */
export class OtherNetworkError extends ServerError {}

/** No server of the network answered. */
export class NoServerError extends ServerError {}

/** An error that a server returned. The server itself can be used. */
export class ServerResponseError extends Error {
  /** `isFinal`: other servers of the network would return it, too. */
  constructor(
    message: string,
    readonly isFinal: boolean,
  ) {
    super(message)
  }
}

interface PoolOptions {
  urls: readonly string[]
  /** The setting that has the URLs, for messages. */
  setting: string
  log: Log
  /** The network, for the message of NoServerError. */
  network?: string
  /** The name of the log entry for a server that cannot be used. */
  event?: string
  /** Time that a server of another network is not asked; that of a failed one by default. */
  otherNetworkRestMs?: number
  /** Throws ServerError where a server is of another network. */
  checkServer(url: string): Promise<void>
}

/**
 * Servers of one network, asked in their order. Each is checked before it is used, and again after
 * a failure. One that failed is asked last for a while.
 */
export class ServerPool {
  private readonly servers: Server[]

  constructor(private readonly options: PoolOptions) {
    this.servers = options.urls.map((url, at) => ({
      url,
      name: `${options.setting}[${at}] (${new URL(url).host})`,
      isChecked: false,
      problem: undefined,
      isOfOtherNetwork: false,
      restUntil: 0,
    }))
  }

  /** Asks every server for its network, and returns the health of each. */
  async check(): Promise<ServerHealth[]> {
    await Promise.all(
      this.servers.map(async (server) => {
        server.isChecked = false
        await this.checkNetwork(server).catch((error: unknown) => this.rest(server, error))
      }),
    )
    return this.health()
  }

  /** Returns the health of each server as far as it is known. */
  health(): ServerHealth[] {
    return this.servers.map(healthOf)
  }

  /** Runs `work` with the first server that responds. Throws ServerResponseError, NoServerError. */
  async use<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
    let answered: ServerResponseError | undefined
    for (const server of this.inOrder()) {
      try {
        await this.checkNetwork(server)
        const result = await work(server.url)
        server.problem = undefined
        server.restUntil = 0
        return result
      } catch (error) {
        if (!(error instanceof ServerResponseError)) this.rest(server, error)
        else if (error.isFinal) throw error
        else answered = error
      }
    }
    if (answered) throw answered
    const { network } = this.options
    const problems = this.servers.map(({ name, problem }) => `${name}: ${problem}`)
    throw new NoServerError(
      `No server${network === undefined ? '' : ` of ${network}`} answers. ${problems.join('; ')}`,
    )
  }

  /** Returns the servers to ask, those that failed lately last, without those of other networks. */
  private inOrder(): Server[] {
    const now = stopwatch()
    const ready = this.servers.filter(({ restUntil }) => restUntil <= now)
    const resting = this.servers.filter((one) => one.restUntil > now && !one.isOfOtherNetwork)
    return [...ready, ...resting]
  }

  private async checkNetwork(server: Server): Promise<void> {
    if (server.isChecked) return
    await this.options.checkServer(server.url)
    server.isChecked = true
    server.problem = undefined
  }

  private rest(server: Server, error: unknown): void {
    const { log, event = 'chain_server_unusable', otherNetworkRestMs = rpcRestMs } = this.options
    const isReadable = error instanceof ServerError || error instanceof ServerResponseError
    const problem = isReadable ? error.message : describeFailure(error)
    if (server.problem !== problem) log.warn(event, { server: server.name, problem })
    server.problem = problem
    server.isOfOtherNetwork = error instanceof OtherNetworkError
    // Behind one name may be several nodes, so that the network is checked again after a failure.
    server.isChecked = false
    const restMs = server.isOfOtherNetwork ? otherNetworkRestMs : rpcRestMs
    server.restUntil = stopwatch() + restMs
  }
}

export const otherNetwork = (network: string): ServerError =>
  new OtherNetworkError(`It serves another network than ${network}. Correct the URL.`)

const limits = () => ({ signal: AbortSignal.timeout(chainCallMs), bytesMax: chainBytesMax })

export const getJson = (url: string): Promise<unknown> => fetchJson(new Request(url), limits())

/** Calls a JSON-RPC method. A user and a password in the URL become a header. */
export async function callRpc(
  address: string,
  method: string,
  params: readonly unknown[],
): Promise<unknown> {
  const url = new URL(address.replace(/\/$/, ''))
  const user = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = url.password = ''
  const request = new Request(url.href, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(user !== ':' && { authorization: `Basic ${Buffer.from(user).toString('base64')}` }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { error, result } = recordOf(await fetchJson(request, limits()))
  if (isRecord(error)) throw new ServerError(`${method}: ${String(error['message'])}`)
  return result
}
