import { type Json, parseRecord } from '../kernel/schema.ts'
import { offerIn } from '../money/payments/x402/headers.ts'
import { anthropicPrefix, isBelow } from './client-apis.ts'
import { coherePrefix, cohereV1Prefix, toCohereError } from './cohere/error-response.ts'
import { geminiPrefix, toGeminiError } from './gemini/error-response.ts'
import { isMessagesPath, statusOf, toAnthropicError } from './messages-api/error-response.ts'
import { openRouterPrefix, toOpenRouterError } from './openrouter/error-response.ts'

/** Converts the body of an error to the envelope of another API. */
type ToEnvelope = (body: Json, status: number, requestId: string) => Json

/**
 * Converts an error response to the envelope of the API that its path belongs to. No error of
 * another envelope may leave these paths. The offer of a 402 stays beside the envelope. Every
 * response to Anthropic's clients has the id that they read.
 */
export async function toOwnEnvelope(
  path: string,
  response: Response,
  requestId: string,
): Promise<Response> {
  const { headers } = response
  const isAnthropic = isAnthropicPath(path)
  if (isAnthropic) headers.set('request-id', requestId)
  const toEnvelope = response.status < 400 ? undefined : findEnvelope(path)
  if (!toEnvelope) return response
  const body = parseRecord(await response.text()) ?? {}
  const status = isAnthropic ? statusOf(response.status, body) : response.status
  const offer = headers.has('payment-required') ? offerIn(body) : {}
  headers.delete('content-length')
  return Response.json({ ...toEnvelope(body, status, requestId), ...offer }, { status, headers })
}

const isAnthropicPath = (path: string): boolean =>
  isMessagesPath(path) || isBelow(path, anthropicPrefix)

function findEnvelope(path: string): ToEnvelope | undefined {
  const isOfAny = (...prefixes: string[]) => prefixes.some((prefix) => isBelow(path, prefix))
  if (isAnthropicPath(path)) return toAnthropicError
  if (isOfAny(coherePrefix, cohereV1Prefix)) {
    return (body, _, requestId) => toCohereError(body, requestId)
  }
  if (isOfAny(geminiPrefix)) return toGeminiError
  if (!isOfAny(openRouterPrefix)) return undefined
  return (body, status) => ({ error: toOpenRouterError(body, status) })
}
