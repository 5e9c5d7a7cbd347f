import { isRecord, itemsOf, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

/** OpenAI's names of tools and tool calls before November 2023, which few upstreams still know. */

/**
 * Converts the fields `functions` and `function_call` to `tools` and `tool_choice`; undefined for a
 * request without functions. Throws `bad_request`.
 */
export function convertFunctions({ functions, function_call, tools }: Json): Json | undefined {
  const list: unknown = functions ?? []
  if (!Array.isArray(list)) throw invalidField('functions', 'functions must be an array.')
  const choice = function_call ?? undefined
  if (list.length === 0 && choice === undefined) return undefined
  if (list.length === 0) throw invalidField('function_call', 'function_call needs "functions".')
  if (itemsOf(tools).length > 0) {
    throw invalidField('functions', 'Send your functions in "tools" only.')
  }
  if (!list.every((item) => isRecord(item) && typeof item.name === 'string')) {
    throw invalidField('functions', 'A function needs a name.')
  }
  return {
    tools: list.map((called: unknown) => ({ type: 'function', function: called })),
    ...(choice !== undefined && { tool_choice: convertChoice(choice) }),
  }
}

function convertChoice(choice: unknown): unknown {
  if (choice === 'auto' || choice === 'none') return choice
  const { name } = recordOf(choice)
  if (typeof name === 'string') return { type: 'function', function: { name } }
  throw invalidField('function_call', 'function_call must be auto, none, or { "name": … }.')
}

const isOlder = (message: unknown): boolean =>
  isRecord(message) && (message.role === 'function' || isRecord(message.function_call))

/**
 * Converts assistant messages with a `function_call`, and their replies with the role `function`. A
 * reply without an earlier call stays, so that its role is rejected.
 */
export function convertFunctionMessages(messages: unknown): unknown {
  if (!Array.isArray(messages) || !messages.some(isOlder)) return messages
  let lastId: string | undefined
  return messages.map((message: unknown, at) => {
    if (!isRecord(message)) return message
    const { function_call: called, name, ...rest } = message
    if (rest.role === 'assistant' && isRecord(called)) {
      lastId = `call_${at}`
      const call = { id: lastId, type: 'function', function: called }
      return { ...rest, tool_calls: [call] }
    }
    if (rest.role !== 'function' || lastId === undefined) return message
    return { ...rest, role: 'tool', tool_call_id: lastId }
  })
}

/** Converts the tool calls of a completion, or of a chunk, to one `function_call` per choice. */
export function toFunctionCalls(response: Json): Json {
  if (!Array.isArray(response.choices)) return response
  const choices = response.choices.map((choice: unknown) => {
    if (!isRecord(choice)) return choice
    const { message, delta, finish_reason: reason } = choice
    return {
      ...choice,
      ...(isRecord(message) && { message: toFunctionCall(message) }),
      ...(isRecord(delta) && { delta: toFunctionCall(delta) }),
      ...(reason === 'tool_calls' && { finish_reason: 'function_call' }),
    }
  })
  return { ...response, choices }
}

/** Replaces the tool calls by the first one: clients with functions take no further one. */
function toFunctionCall({ tool_calls, ...message }: Json): Json {
  const first = recordsIn(tool_calls).find(({ index = 0 }) => index === 0)
  return first ? { ...message, function_call: first.function } : message
}
