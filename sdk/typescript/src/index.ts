import { type AgentApi, agentApi } from './agent-api.ts'
import { Call } from './call.ts'
import { type Gateway, gateway } from './gateway.ts'
import type { CallOptions, Input, Operation, Transport } from './transport.ts'

export type { Call } from './call.ts'
export { BerthError } from './error.ts'
export type { CallOptions } from './transport.ts'
export type * as agent from './agent-api.ts'
export type * as gateway from './gateway.ts'

export interface BerthOptions {
  /** The address of the server. Default: `http://localhost:3000`. */
  url?: string
  /** The address of the Agent API. Default: `/api` of `url`. */
  agentUrl?: string
  /** The address of the gateway. Default: `/v1` of `url`. */
  gatewayUrl?: string
  /** The API key. Only calls that need none work without it. */
  key?: string | undefined
  /** Attempts after the first one. Default: 2. */
  retries?: number
  /** Milliseconds until a response must begin. Default: 600,000. */
  timeoutMs?: number
  /** Sends each request. Default: the `fetch` of the runtime. */
  fetch?: Transport['fetch']
}

/** A client of one server. */
export class Berth {
  /** Apps, jobs, Explore, packs and the account. */
  readonly agent: AgentApi
  /** Models: chat, images, audio, video and embeddings. */
  readonly gateway: Gateway

  constructor(options: BerthOptions = {}) {
    const url = withoutSlash(options.url ?? 'http://localhost:3000')
    const transport = {
      key: options.key,
      retries: options.retries ?? 2,
      timeoutMs: options.timeoutMs ?? 600_000,
      fetch: options.fetch ?? ((request: Request) => fetch(request)),
    }
    const { agentUrl = `${url}/api`, gatewayUrl = `${url}/v1` } = options
    this.agent = bind(agentApi, { ...transport, baseUrl: withoutSlash(agentUrl) }) as AgentApi
    this.gateway = bind(gateway, { ...transport, baseUrl: withoutSlash(gatewayUrl) }) as Gateway
  }
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '')

type Method = (input?: Input, options?: CallOptions) => Call<unknown, unknown>

/** Returns a function for each operation of a table. */
const bind = (table: Readonly<Record<string, Operation>>, transport: Transport): unknown =>
  Object.fromEntries(
    Object.entries(table).map(([name, operation]): [string, Method] => [
      name,
      (input = {}, options) => new Call(transport, operation, input, options),
    ]),
  )
