import type { AppContext } from '../../context.ts'
import { sha256 } from '../../core/ids.ts'
import { isRecord } from '../../core/schema.ts'
import { unixSeconds } from '../../core/time.ts'
import type { Call } from '../call.ts'
import { createChatCompletion, type TranscriberFactory } from '../chat/chat.ts'
import { streamResponse } from '../chat/stream.ts'
import { isGatewayError, errorEnvelope } from '../error-response.ts'
import type { Spender } from '../authentication.ts'
import { parseResponsesRequest } from './request.ts'
import { streamOf } from './stream.ts'
import { ResponseWriter } from './response-writer.ts'

/**
 * A Responses answer, made of our own chat, which holds, serves and settles it: what is billed is
 * what the same chat is billed. Refuses bad_request, and what chat refuses.
 */
export async function createResponse(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  listener: TranscriberFactory,
): Promise<Response> {
  const { account } = spender
  const asked = parseResponsesRequest(raw, ctx.state.responseItems.finder(account))
  const { chat, stream, echo, spaced, isRemembered } = asked
  const answer = await createChatCompletion(ctx, spender, chat, call, listener).catch(refusedHere)
  // Given again under its Idempotency-Key it is the same answer, with the same ids.
  const name = sha256(`${account} ${call.ref ?? call.requestId}`).slice(0, 32)
  const created = unixSeconds(ctx.clock.now())
  const keep = (item: Record<string, unknown>): void =>
    isRemembered ? ctx.state.responseItems.add(account, item) : undefined
  const written = new ResponseWriter({ echo, spaced, name, created, keep })
  if (!answer.ok) return answer
  if (stream && answer.body) return streamResponse(streamOf(answer.body, written))
  const whole: unknown = await answer.json()
  if (isRecord(whole)) written.read(whole)
  const cost = answer.headers.get('x-service-cost')
  return Response.json(written.finish(), { headers: cost ? { 'x-service-cost': cost } : {} })
}

/** What the chat refused: its messages are the input here. */
function refusedHere(error: unknown): Response {
  if (!isGatewayError(error)) throw error
  const { status, headers, body } = errorEnvelope(error)
  const { param } = body.error
  const told = { ...body.error, param: param === 'messages' ? 'input' : param }
  return Response.json({ error: told }, { status, headers })
}
