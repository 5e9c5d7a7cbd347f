import { isRecord } from '../../core/shape.ts'
import { second } from '../../core/time.ts'
import type { House } from '../../house.ts'
import type { Call } from '../call.ts'
import { complete, type Listener } from '../chat/chat.ts'
import { streamResponse } from '../chat/streamed.ts'
import type { Spender } from '../key.ts'
import { readAsked } from './asked.ts'
import { streamOf } from './stream.ts'
import { Written } from './written.ts'

/**
 * A Responses answer, made of our own chat, which holds, serves and settles it: what is billed is
 * what the same chat is billed. Refuses bad_request, and what chat refuses.
 */
export async function create(
  house: House,
  spender: Spender,
  raw: unknown,
  call: Call,
  listener: Listener,
): Promise<Response> {
  const { chat, stream, echo, spaced } = readAsked(raw)
  const answer = await complete(house, spender, chat, call, listener)
  const { requestId } = call
  const created = Math.floor(house.clock.now() / second)
  const written = new Written({ echo, spaced, requestId, created })
  // A charged failure that is given again is told as it was.
  if (!answer.ok) return answer
  if (stream && answer.body) return streamResponse(streamOf(answer.body, written))
  const whole: unknown = await answer.json()
  if (isRecord(whole)) written.read(whole)
  const cost = answer.headers.get('x-service-cost')
  return Response.json(written.finish(), { headers: cost ? { 'x-service-cost': cost } : {} })
}
