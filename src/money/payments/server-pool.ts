import { describeFailure, fetchJson } from '../../kernel/fetch.ts'
import type { Log } from '../../kernel/log.ts'
import { isRecord } from '../../kernel/schema.ts'
import { stopwatch } from '../../kernel/time.ts'
import { chainBytesMax, chainCallMs, rpcRestMs } from './limits.ts'

/** The health of one server of a chain. */
export interface ServerHealth {
  /** Its setting, place and host. URLs may contain keys. */
  name: string
  /** The reason of its last failure; undefined for one that serves the right network. */
  problem: string | undefined
  isOfOtherNetwork: boolean
}

/** Returns the health of a server without its URL. */
const healthOf = ({ name, problem, isOfOtherNetwork }: ServerHealth): ServerHealth => ({
  name,
  problem,
  isOfOtherNetwork,
})

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
class NoServerError extends ServerError {}

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

export interface PoolOptions {
  urls: readonly string[]
  /** The setting that has the URLs, for messages. */
  setting: string
  log: Log
  /** The network, for the message of NoServerError. */
  network?: string
  /** The name of the log entry for a server that cannot be used. */
  event?: string
  /** Throws OtherNetworkError or ServerError for a server that must not be used. */
  checkServer(url: string): Promise<void>
}

/**
 * Servers of one network, asked in their order. Each is checked before it is used, and again after
 * a failure. One that failed, or is of another network, is asked last for a while. A server can
 * change its network at any time, so each work proves it again for what it reads.
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
        recover(server)
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

  /** Returns the servers in the order to ask them: those that failed lately last. */
  private inOrder(): Server[] {
    const now = stopwatch()
    const isResting = ({ restUntil }: Server) => restUntil > now
    return [...this.servers.filter((one) => !isResting(one)), ...this.servers.filter(isResting)]
  }

  private async checkNetwork(server: Server): Promise<void> {
    if (server.isChecked) return
    await this.options.checkServer(server.url)
    server.isChecked = true
    recover(server)
  }

  private rest(server: Server, error: unknown): void {
    const { log, event = 'chain_server_unusable' } = this.options
    const isReadable = error instanceof ServerError || error instanceof ServerResponseError
    const problem = isReadable ? error.message : describeFailure(error)
    if (server.problem !== problem) log.warn(event, { server: server.name, problem })
    server.problem = problem
    server.isOfOtherNetwork = error instanceof OtherNetworkError
    // Behind one name may be several nodes, so that the network is checked again after a failure.
    server.isChecked = false
    server.restUntil = stopwatch() + rpcRestMs
  }
}

function recover(server: Server): void {
  server.problem = undefined
  server.isOfOtherNetwork = false
  server.restUntil = 0
}

/** Returns the problem of a server that serves another network than the named one. */
export const otherNetworkProblem = (network: string): string =>
  `It serves another network than ${network}. Correct the URL.`

/** Fetches JSON from a server of a chain, or of rates. */
export const getJson = (url: string): Promise<unknown> =>
  fetchJson(new Request(url), {
    signal: AbortSignal.timeout(chainCallMs),
    bytesMax: chainBytesMax,
  })

/** Returns a list of a server. Throws ServerError, because garbage must not count as nothing. */
export function requireList(value: unknown, name: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new ServerError(`A server returned no ${name}.`)
}

/** Returns an object of a server. Throws ServerError for anything else. */
export function requireRecord(value: unknown, name: string): Record<string, unknown> {
  if (isRecord(value)) return value
  throw new ServerError(`A server returned no ${name}.`)
}
