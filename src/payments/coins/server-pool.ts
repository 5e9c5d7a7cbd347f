import type { Log } from '../../core/log.ts'
import { isRecord, recordOf } from '../../core/schema.ts'
import { stopwatch } from '../../core/time.ts'
import { describeFailure, fetchJson } from '../../providers/fetch-json.ts'
import { healthOf, type ServerHealth } from '../health.ts'
import { rpcRestMs } from '../limits.ts'
import { chainBytesMax, chainCallMs } from './limits.ts'

interface Server extends ServerHealth {
  url: string
  isChecked: boolean
  restUntil: number
}

/** A server answered something that cannot be used. The message contains no URL. */
export class ServerError extends Error {}

interface PoolOptions {
  urls: readonly string[]
  /** The setting that has the URLs, for messages. */
  setting: string
  log: Log
  /** Throws ServerError where a server is of another network. */
  checkServer(url: string): Promise<void>
}

/** Servers of one network, asked in their order. One that failed is asked last for a while. */
export class ServerPool {
  private readonly servers: Server[]

  constructor(private readonly options: PoolOptions) {
    this.servers = options.urls.map((url, at) => ({
      url: url.replace(/\/$/, ''),
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

  /** Runs `work` with the first server that answers. Throws where none does. */
  async use<Result>(work: (url: string) => Promise<Result>): Promise<Result> {
    const now = stopwatch()
    const ready = this.servers.filter(({ restUntil }) => restUntil <= now)
    const resting = this.servers.filter((server) => !ready.includes(server))
    for (const server of [...ready, ...resting]) {
      try {
        await this.checkNetwork(server)
        const result = await work(server.url)
        server.problem = undefined
        return result
      } catch (error) {
        this.rest(server, error)
      }
    }
    const problems = this.servers.map(({ name, problem }) => `${name}: ${problem}`)
    throw new ServerError(`No server answers. ${problems.join('; ')}`)
  }

  private async checkNetwork(server: Server): Promise<void> {
    if (server.isChecked) return
    await this.options.checkServer(server.url)
    server.isChecked = true
    server.problem = undefined
  }

  private rest(server: Server, error: unknown): void {
    const problem = error instanceof ServerError ? error.message : describeFailure(error)
    if (server.problem !== problem) {
      this.options.log.warn('chain_server_unusable', { server: server.name, problem })
    }
    server.problem = problem
    server.isOfOtherNetwork = error instanceof OtherNetworkError
    server.isChecked = false
    server.restUntil = stopwatch() + rpcRestMs
  }
}

/** A server of another network: money sent there would be credited here. */
class OtherNetworkError extends ServerError {}

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
  const url = new URL(address)
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
