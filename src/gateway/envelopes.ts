import type { ErrorReply } from '../kernel/http/response.ts'
import { type Json, recordOf } from '../kernel/schema.ts'
import { anthropicPrefix, isBelow } from './client-apis.ts'
import { coherePrefix, cohereV1Prefix, toCohereError } from './cohere/error-response.ts'
import { geminiPrefix, toGeminiError } from './gemini/error-response.ts'
import { isMessagesPath, statusOf, toAnthropicError } from './messages-api/error-response.ts'
import { openRouterPrefix, toOpenRouterError } from './openrouter/error-response.ts'

/** Converts the body of an error to the envelope of another API. */
type ToEnvelope = (body: Json, status: number, requestId: string) => Json

/**
 * Returns an error of the gateway in the envelope of the API that its path belongs to. No error of
 * another envelope may leave these paths.
 */
export function inOwnEnvelope(path: string, error: ErrorReply, requestId: string): ErrorReply {
  const toEnvelope = envelopeOf(path)
  if (!toEnvelope) return error
  const body = recordOf(error.body)
  const status = isAnthropicPath(path) ? statusOf(error.status, body) : error.status
  return { ...error, status, body: toEnvelope(body, status, requestId) }
}

/** Adds the id of a request where Anthropic's clients read it. */
export function setRequestId(path: string, { headers }: Response, requestId: string): void {
  if (isAnthropicPath(path)) headers.set('request-id', requestId)
}

const isAnthropicPath = (path: string): boolean =>
  isMessagesPath(path) || isBelow(path, anthropicPrefix)

function envelopeOf(path: string): ToEnvelope | undefined {
  const isOfAny = (...prefixes: string[]) => prefixes.some((prefix) => isBelow(path, prefix))
  if (isAnthropicPath(path)) return toAnthropicError
  if (isOfAny(coherePrefix, cohereV1Prefix)) {
    return (body, _, requestId) => toCohereError(body, requestId)
  }
  if (isOfAny(geminiPrefix)) return toGeminiError
  if (!isOfAny(openRouterPrefix)) return undefined
  return (body, status) => ({ error: toOpenRouterError(body, status) })
}
