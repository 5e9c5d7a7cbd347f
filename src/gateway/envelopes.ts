import { recordOf } from '../core/schema.ts'
import { offerIn } from '../payments/x402/offer.ts'
import { isCoherePath, toCohereResponse } from './cohere/error-response.ts'
import { isGeminiPath, toGeminiResponse } from './gemini/error-response.ts'
import { isMessagesPath, toAnthropicResponse } from './messages-api/error-response.ts'
import { isOpenRouterPath, toOpenRouterResponse } from './openrouter/error-response.ts'

/**
 * Converts an error response to the envelope of the API that its path belongs to. No error of
 * another envelope may leave these paths. The offer of a 402 stays beside the envelope.
 */
export async function toOwnEnvelope(
  path: string,
  response: Response,
  requestId: string,
): Promise<Response> {
  if (!response.headers.has('payment-required')) return convert(path, response, requestId)
  const offer = offerIn(recordOf(await response.clone().json()))
  const converted = await convert(path, response, requestId)
  const { status, headers } = converted
  return Response.json({ ...recordOf(await converted.json()), ...offer }, { status, headers })
}

function convert(
  path: string,
  response: Response,
  requestId: string,
): Response | Promise<Response> {
  if (isMessagesPath(path)) return toAnthropicResponse(response, requestId)
  if (isCoherePath(path)) return toCohereResponse(response, requestId)
  if (isOpenRouterPath(path)) return toOpenRouterResponse(response)
  return isGeminiPath(path) ? toGeminiResponse(response) : response
}
