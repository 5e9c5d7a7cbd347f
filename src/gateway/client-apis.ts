import type { Operation } from '../kernel/http/operation.ts'
import type { ErrorReply } from '../kernel/http/response.ts'
import { recordOf } from '../kernel/schema.ts'
import type { ClientApi } from './client-api.ts'
import { cohere, cohereV1 } from './cohere/client-api.ts'
import { gemini } from './gemini/client-api.ts'
import { anthropic } from './messages-api/client-api.ts'
import { mistral } from './mistral/client-api.ts'
import { openRouter } from './openrouter/client-api.ts'

/**
 * The APIs of others, beside the one of OpenAI: each is a folder, and its line here. The operations
 * are imported with the first request, to keep the start fast.
 */
export const clientApis: readonly (ClientApi & { load(): Promise<readonly Operation[]> })[] = [
  { ...anthropic, load: async () => (await import('./anthropic/operations.ts')).operations },
  { ...gemini, load: async () => (await import('./gemini/operations.ts')).operations },
  { ...mistral, load: async () => (await import('./mistral/operations.ts')).operations },
  { ...cohere, load: async () => (await import('./cohere/operations.ts')).operations },
  { ...cohereV1, load: async () => (await import('./cohere/operations.ts')).operationsV1 },
  { ...openRouter, load: async () => (await import('./openrouter/operations.ts')).operations },
]

/** The start of a path, and the start that it has inside the server. */
export type PathAlias = readonly [start: RegExp, prefix: string]

/** The starts of paths that are those of one API, whoever sends them. */
export const ownAliases: readonly PathAlias[] = clientApis.flatMap(({ starts = [], prefix }) =>
  starts.map((start): PathAlias => [start, prefix]),
)

/** Finds the alias of a path that its client knows in the format of its own API. */
export function findClientAlias(headers: Headers, path: string): PathAlias | undefined {
  const found = clientApis.find(
    ({ shared }) => shared?.start.test(path) === true && shared.isSender(headers),
  )
  return found?.shared && [found.shared.start, found.prefix]
}

const isBelow = (path: string, prefix: string): boolean => `${path}/`.startsWith(`${prefix}/`)

/** Returns the path that clients use for a path inside the server. */
export function publicPathOf(path: string): string {
  const { prefix = '', publicPrefix = prefix } =
    clientApis.find((api) => isBelow(path, api.prefix)) ?? {}
  return publicPrefix + path.slice(prefix.length)
}

const apiOf = (path: string): ClientApi | undefined =>
  clientApis.find(({ prefix, isOwnPath }) => isBelow(path, prefix) || isOwnPath?.(path))

/**
 * Returns an error of the gateway in the envelope of the API that its path belongs to. No error of
 * another envelope may leave these paths.
 */
export function inOwnEnvelope(path: string, error: ErrorReply, requestId: string): ErrorReply {
  const { toError, statusOf } = apiOf(path) ?? {}
  if (!toError) return error
  const body = recordOf(error.body)
  const status = statusOf?.(error.status, body) ?? error.status
  return { ...error, status, body: toError(body, status, requestId) }
}

/** Adds the id of a request where the clients of an API read it. */
export function setRequestId(path: string, { headers }: Response, requestId: string): void {
  const { requestIdHeader } = apiOf(path) ?? {}
  if (requestIdHeader) headers.set(requestIdHeader, requestId)
}
