import type { Json } from '../kernel/schema.ts'

/** An API of others that the gateway has for its clients. Its folder describes it. */
export interface ClientApi {
  /** The start of its paths inside the server. */
  prefix: string
  /** The same for its clients, where they use another one. */
  publicPrefix?: string
  /** The starts of further paths of its clients, which `prefix` replaces. */
  starts?: readonly RegExp[]
  /** The start of paths that OpenAI's API has, too, and that its clients know in its format. */
  shared?: { start: RegExp; isSender(headers: Headers): boolean }
  /** Returns whether a path among those of OpenAI's API is its own. */
  isOwnPath?(path: string): boolean
  /** Returns an error of the gateway in its envelope. Default: OpenAI's. */
  toError?(body: Json, status: number, requestId: string): Json
  /** Returns the status of an error for its clients. */
  statusOf?(status: number, body: Json): number
  /** The header in which its clients read the id of a request. */
  requestIdHeader?: string
}
