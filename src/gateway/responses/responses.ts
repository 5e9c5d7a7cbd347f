import type { AppContext } from '../../context.ts'
import { sha256 } from '../../core/ids.ts'
import { isRecord, type Json } from '../../core/schema.ts'
import { unixSeconds } from '../../core/time.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { createChatCompletion, type TranscriberFactory } from '../chat/chat.ts'
import { streamResponse } from '../chat/stream.ts'
import { errorEnvelope, isGatewayError } from '../error-response.ts'
import { parseResponsesRequest } from './request.ts'
import { ResponseWriter } from './response-writer.ts'
import { streamEvents } from './stream.ts'

/**
 * Creates a response from a chat completion, which is held, served and charged as such. Throws
 * `bad_request`; errors of the chat become the response.
 */
export async function createResponse(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  createTranscriber: TranscriberFactory,
): Promise<Response> {
  const { account } = spender
  const items = ctx.state.responseItems
  const state = { findItem: items.finder(account), canSearch: ctx.searcher !== undefined }
  const { chat, isStream, echo, tools, isStored } = parseResponsesRequest(raw, state)
  const completion = await createChatCompletion(ctx, spender, chat, call, createTranscriber).catch(
    respondToChatError,
  )
  if (!completion.ok) return completion
  // A replay under the same Idempotency-Key has the same ids.
  const name = sha256(`${account} ${call.idempotencyKey ?? call.requestId}`).slice(0, 32)
  const created = unixSeconds(ctx.clock.now())
  const onItem = (item: Json): void => {
    if (isStored) items.add(account, item)
  }
  const writer = new ResponseWriter({ echo, tools, name, created, onItem })
  if (isStream && completion.body) return streamResponse(streamEvents(completion.body, writer))
  const body: unknown = await completion.json()
  if (isRecord(body)) writer.read(body)
  const cost = completion.headers.get('x-service-cost')
  return Response.json(writer.finish(), { headers: cost ? { 'x-service-cost': cost } : {} })
}

/** Returns the response to an error of the chat, whose `messages` are the `input` here. */
function respondToChatError(error: unknown): Response {
  if (!isGatewayError(error)) throw error
  const { status, headers, body } = errorEnvelope(error)
  const { param } = body.error
  const own = { ...body.error, param: param === 'messages' ? 'input' : param }
  return Response.json({ error: own }, { status, headers })
}
