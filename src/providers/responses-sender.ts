import { type Json, recordOf } from '../core/schema.ts'
import { outputTokenLimit } from './request-body.ts'
import { asString, errorResponse, parseRecord, recordsIn } from './response.ts'
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
    const rejected = parseRejection(response.status, text, body)
    if (rejected === 'model') missing.add(model)
    return rejected ? onlyAsChat() : new Response(text, response)
  }
}

const onlyAsChat = (): Response => errorResponse(404, 'The upstream takes this only as a chat.')

/** Statuses of a server without the Responses API, or without the model in it. */
const missingStatuses = [404, 405, 501]

/** Fields that a chat does not have. Some models, or accounts, do not support them. */
const fieldsOfResponses =
  /^(include|max_tool_calls|metadata|reasoning\.\w*(summary|context)|stream_options|truncation)\b/

/**
 * Returns what the upstream rejects: the model, or only this request, whose chat it may take;
 * undefined for any other error.
 */
function parseRejection(
  status: number,
  text: string,
  { tools }: Json,
): 'model' | 'request' | undefined {
  const { code, param } = recordOf(parseRecord(text)?.error)
  const field = asString(param)
  if (missingStatuses.includes(status)) return field.startsWith('input') ? 'request' : 'model'
  if (status !== 400) return undefined
  if (field === 'model') return 'model'
  const hasTool = recordsIn(tools).some(({ type }) => type !== 'function')
  const isOfTool = field.startsWith('tools') && hasTool
  // The reasoning of another upstream, which a chat does not contain.
  const isSealed = code === 'invalid_encrypted_content'
  return isSealed || isOfTool || fieldsOfResponses.test(field) ? 'request' : undefined
}
