import { coherePrefix, cohereV1Prefix } from './cohere/error-response.ts'
import { geminiPrefix } from './gemini/error-response.ts'
import { openRouterPrefix } from './openrouter/error-response.ts'

/** The prefix inside the server of the models and files in Anthropic's format. */
export const anthropicPrefix = '/anthropic'
/** The prefix inside the server of the models, files and transcriptions in Mistral's format. */
export const mistralPrefix = '/mistral'

/** The start of a path, and the start that it has inside the server. */
export type PathAlias = readonly [start: RegExp, prefix: string]

const models = /^(\/v1)?(?=\/models(\/|$))/
const modelsAndFiles = /^(\/v1)?(?=\/(models|files)(\/|$))/
const modelsFilesAndTranscriptions = /^(\/v1)?(?=\/(models|files)(\/|$)|\/audio\/transcriptions$)/

export const isMistralClient = (headers: Headers): boolean =>
  headers.get('user-agent')?.startsWith('mistral-client-') === true

/** Paths that several APIs have in a format of their own, by the clients of an API. */
const clients: readonly { alias: PathAlias; isSender(headers: Headers): boolean }[] = [
  {
    alias: [modelsAndFiles, anthropicPrefix],
    isSender: (headers) => headers.has('anthropic-version'),
  },
  {
    alias: [models, geminiPrefix],
    isSender: (headers) => headers.has('x-goog-api-key') || headers.has('x-goog-api-client'),
  },
  {
    alias: [modelsFilesAndTranscriptions, mistralPrefix],
    isSender: isMistralClient,
  },
  {
    alias: [models, coherePrefix],
    isSender: (headers) => /^cohere(-ai)?$/.test(headers.get('x-fern-sdk-name') ?? ''),
  },
]

/** Finds the alias of a path that its client knows in the format of its own API. */
export const findClientAlias = (headers: Headers, path: string): PathAlias | undefined =>
  modelsFilesAndTranscriptions.test(path)
    ? clients.find(({ alias: [start], isSender }) => start.test(path) && isSender(headers))?.alias
    : undefined

/** The prefixes that only this server uses, and those of its clients. */
const publicPrefixes = {
  [openRouterPrefix]: '/api/v1',
  [anthropicPrefix]: '/v1',
  [mistralPrefix]: '/v1',
  [cohereV1Prefix]: '/v1',
}

/** Returns whether a path is a prefix, or below it. */
export const isBelow = (path: string, prefix: string): boolean =>
  `${path}/`.startsWith(`${prefix}/`)

/** Returns the path that clients use for a path inside the server. */
export function publicPathOf(path: string): string {
  const found = Object.entries(publicPrefixes).find(([prefix]) => isBelow(path, prefix))
  return found ? found[1] + path.slice(found[0].length) : path
}
