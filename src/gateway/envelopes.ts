import type { Json } from '../kernel/schema.ts'
import { offerIn } from '../money/payments/x402/offer.ts'
import { coherePrefix, toCohereError } from './cohere/error-response.ts'
import { geminiPrefix, toGeminiError } from './gemini/error-response.ts'
import { isMessagesPath, statusOf, toAnthropicError } from './messages-api/error-response.ts'
import { isOpenRouterPath, toOpenRouterError } from './openrouter/error-response.ts'
import { parseRecord } from './providers/response.ts'

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
  const isMessages = isMessagesPath(path)
  if (isMessages) headers.set('request-id', requestId)
  const toEnvelope = findEnvelope(path)
  if (!toEnvelope || response.status < 400) return response
  const body = parseRecord(await response.text()) ?? {}
  const status = isMessages ? statusOf(response.status, body) : response.status
  const offer = headers.has('payment-required') ? offerIn(body) : {}
  headers.delete('content-length')
  return Response.json({ ...toEnvelope(body, status, requestId), ...offer }, { status, headers })
}

function findEnvelope(path: string): ToEnvelope | undefined {
  const isBelow = (prefix: string): boolean => `${path}/`.startsWith(`${prefix}/`)
  if (isMessagesPath(path)) return toAnthropicError
  if (isBelow(coherePrefix)) return (body, _, requestId) => toCohereError(body, requestId)
  if (isBelow(geminiPrefix)) return toGeminiError
  if (!isOpenRouterPath(path)) return undefined
  return (body, status) => ({ error: toOpenRouterError(body, status) })
}
