import { itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { contentTextOf, countOf, reasoningOf } from '../chat/completion.ts'
import { asString, recordsIn } from '../providers/response.ts'

/** The end of a chat, as far as `finish_reason` depends on it. */
export interface ChatEnd {
  finish: unknown
  /** The stop sequence that vLLM and others report. */
  stop: unknown
  hasCalls: boolean
}

/** Converts a whole chat completion to a response of Cohere's chat API. */
export function toCohereChat(completion: Json, id: string): Json {
  const choice = recordOf(itemsOf(completion.choices)[0])
  const message = recordOf(choice.message)
  const calls = recordsIn(message.tool_calls)
  const [thinking, text] = [reasoningOf(message), contentTextOf(message)]
  const { finish_reason: finish, stop_reason: stop } = choice
  return {
    id,
    finish_reason: finishReasonOf({ finish, stop, hasCalls: calls.length > 0 }),
    message: {
      role: 'assistant',
      content: [
        ...(thinking ? [{ type: 'thinking', thinking }] : []),
        ...(text ? [{ type: 'text', text }] : []),
      ],
      ...(calls.length > 0 && { tool_calls: calls.map((call, index) => toToolCall(call, index)) }),
    },
    usage: toUsage(recordOf(completion.usage)),
  }
}

/** Returns a call with an id, which some upstreams leave out. */
export function toToolCall({ id, function: called }: Json, index: number): Json {
  const { name, arguments: args } = recordOf(called)
  return {
    id: asString(id) || `call_${index}`,
    type: 'function',
    function: { name: asString(name), arguments: asString(args) },
  }
}

export function finishReasonOf({ finish, stop, hasCalls }: ChatEnd): string {
  if (finish === 'length') return 'MAX_TOKENS'
  if (finish === 'content_filter') return 'ERROR'
  if (hasCalls) return 'TOOL_CALL'
  return typeof stop === 'string' ? 'STOP_SEQUENCE' : 'COMPLETE'
}

/** Converts a chat's usage, with its cost in USD if known. */
export function toUsage(usage: Json): Json {
  const tokens = {
    input_tokens: countOf(usage.prompt_tokens),
    output_tokens: countOf(usage.completion_tokens),
  }
  return {
    billed_units: tokens,
    tokens,
    cached_tokens: countOf(recordOf(usage.prompt_tokens_details).cached_tokens),
    ...(typeof usage.cost === 'number' && { cost: usage.cost }),
  }
}
