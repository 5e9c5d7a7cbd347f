import type { AppContext } from '../../context.ts'
import { sha256 } from '../../core/ids.ts'
import { isRecord } from '../../core/schema.ts'
import { unixSeconds } from '../../core/time.ts'
import type { Call } from '../call.ts'
import { complete, type Listener } from '../chat/chat.ts'
import { streamResponse } from '../chat/streamed.ts'
import { isOurs, wordsOf } from '../envelope.ts'
import type { Spender } from '../key.ts'
import { readAsked } from './asked.ts'
import { streamOf } from './stream.ts'
import { Written } from './written.ts'

/**
 * A Responses answer, made of our own chat, which holds, serves and settles it: what is billed is
 * what the same chat is billed. Refuses bad_request, and what chat refuses.
 */
export async function create(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  listener: Listener,
): Promise<Response> {
  const { account } = spender
  const asked = readAsked(raw, ctx.state.responseItems.finder(account))
  const { chat, stream, echo, spaced, isRemembered } = asked
  const answer = await complete(ctx, spender, chat, call, listener).catch(refusedHere)
  // Given again under its Idempotency-Key it is the same answer, with the same ids.
  const name = sha256(`${account} ${call.ref ?? call.requestId}`).slice(0, 32)
  const created = unixSeconds(ctx.clock.now())
  const keep = (item: Record<string, unknown>): void =>
    isRemembered ? ctx.state.responseItems.add(account, item) : undefined
  const written = new Written({ echo, spaced, name, created, keep })
  if (!answer.ok) return answer
  if (stream && answer.body) return streamResponse(streamOf(answer.body, written))
  const whole: unknown = await answer.json()
  if (isRecord(whole)) written.read(whole)
  const cost = answer.headers.get('x-service-cost')
  return Response.json(written.finish(), { headers: cost ? { 'x-service-cost': cost } : {} })
}

/** What the chat refused: its messages are the input here. */
function refusedHere(error: unknown): Response {
  if (!isOurs(error)) throw error
  const { status, headers, body } = wordsOf(error)
  const { param } = body.error
  const told = { ...body.error, param: param === 'messages' ? 'input' : param }
  return Response.json({ error: told }, { status, headers })
}
