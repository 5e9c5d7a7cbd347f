import type { Json } from '../../kernel/schema.ts'
import type { ChatResponse } from '../conversation/chat-event.ts'
import type { ChatRequest } from '../conversation/chat-request.ts'
import { encodeChat } from './encode.ts'
import { writeChoice } from './message.ts'

/** A model without a name or a limit. */
const anywhere = {
  model: '',
  isStream: false,
  outputMax: Number.MAX_SAFE_INTEGER,
  stopsItself: true,
}

const bodies = new WeakMap<ChatRequest, Json>()

/**
 * Returns a request in OpenAI's format, in which its size is measured, and which guardrails and
 * traces get. It is written once for each request.
 */
export function chatBodyOf(request: ChatRequest): Json {
  if (request.raw?.api === 'chat') return request.raw.body
  const known = bodies.get(request)
  if (known) return known
  const { model: _, ...body } = encodeChat(request, anywhere, {}).body
  bodies.set(request, body)
  return body
}

/** Returns the choices of a response in OpenAI's format, for guardrails and traces. */
export const choicesOf = ({ choices }: ChatResponse): Json[] =>
  choices.map((choice, index) => writeChoice(choice, index, 'openai'))
