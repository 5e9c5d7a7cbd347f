import { recordOf } from '../core/schema.ts'
import { outputTokenLimit } from './request-body.ts'
import { asString, errorResponse, parseRecord } from './response.ts'
import type { NativeRequest, UpstreamCall } from './upstream.ts'

type Send = (target: { path: string; signal: AbortSignal }, body: string) => Promise<Response>

/**
 * Returns a function that sends requests of the Responses API unchanged. It returns 404 for a
 * request that the upstream takes only as a chat. It asks only once for a model that the upstream
 * does not have there.
 */
export function createResponsesSender(
  send: Send,
): (call: UpstreamCall, native: NativeRequest) => Promise<Response> {
  const missing = new Set<string>()
  return async (call, native) => {
    const { model, signal } = call
    if (missing.has(model)) return onlyAsChat()
    const { path, body } = native.build(model, outputTokenLimit(call))
    const response = await send({ path, signal }, JSON.stringify(body))
    if (response.ok) return response
    const text = await response.text()
    const rejected = parseRejection(response.status, text)
    if (rejected === 'model') missing.add(model)
    return rejected ? onlyAsChat() : new Response(text, response)
  }
}

const onlyAsChat = (): Response => errorResponse(404, 'The upstream takes this only as a chat.')

/** Statuses of a server without the Responses API, or without the model in it. */
const missingStatuses = [404, 405, 501]

/**
 * Returns what the upstream rejects: the model, or one request, such as one with the reasoning of
 * another upstream; undefined for any other error.
 */
function parseRejection(status: number, text: string): 'model' | 'request' | undefined {
  const { code, param } = recordOf(parseRecord(text)?.error)
  if (code === 'invalid_encrypted_content') return 'request'
  if (missingStatuses.includes(status)) {
    return asString(param).startsWith('input') ? 'request' : 'model'
  }
  return status === 400 && param === 'model' ? 'model' : undefined
}
