import { isGeminiPath, toGeminiResponse } from './gemini/error-response.ts'
import { isMessagesPath, toAnthropicResponse } from './messages-api/error-response.ts'
import { isOpenRouterPath, toOpenRouterResponse } from './openrouter/error-response.ts'

/**
 * Converts an error response to the envelope of the API that its path belongs to. No error of
 * another envelope may leave these paths.
 */
export function toOwnEnvelope(
  path: string,
  response: Response,
  requestId: string,
): Response | Promise<Response> {
  if (isMessagesPath(path)) return toAnthropicResponse(response, requestId)
  if (isOpenRouterPath(path)) return toOpenRouterResponse(response)
  return isGeminiPath(path) ? toGeminiResponse(response) : response
}
