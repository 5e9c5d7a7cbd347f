import type { FieldNames } from '../../kernel/errors.ts'
import { isRecord, itemsOf, type Json, lookUp, recordOf } from '../../kernel/schema.ts'
import { effortOfBudget, findCount, invalidField, readFlag, rejectOthers } from '../fields.ts'
import { addDocuments, readMessages } from './messages.ts'

/** Fields with the same meaning in a chat request, which parses them. */
const sharedFields = [
  ['model', 'model'],
  ['models', 'models'],
  ['provider', 'provider'],
  ['temperature', 'temperature'],
  ['p', 'top_p'],
  ['k', 'top_k'],
  ['seed', 'seed'],
  ['frequency_penalty', 'frequency_penalty'],
  ['presence_penalty', 'presence_penalty'],
  ['stop_sequences', 'stop'],
] as const

/** The names of a request's fields by those of the chat. */
export const fieldNames: FieldNames = {
  reasoning_effort: 'thinking',
  ...Object.fromEntries(sharedFields.map(([name, inChat]) => [inChat, name])),
}

/** Fields that change the filter, the priority, or citations, which chats do not have. */
const ignoredFields = ['safety_mode', 'priority', 'citation_options']

const knownFields = new Set<string>([
  ...sharedFields.map(([name]) => name),
  ...ignoredFields,
  'documents',
  'messages',
  'stream',
  'tools',
  'tool_choice',
  'strict_tools',
  'max_tokens',
  'response_format',
  'thinking',
])

export interface CohereRequest {
  /** The chat request that serves it. */
  chat: Json
  isStream: boolean
  /** Fields that have no effect where the chat is sent. */
  ignored: string[]
}

/**
 * Parses a request of Cohere's chat API into a chat request. A field that would change the response
 * and has no equivalent is an error (docs/spec/gateway-decisions.md, "Cohere"). Throws
 * `no_messages`, `bad_request`.
 */
export function parseCohereChat(raw: unknown): CohereRequest {
  const body = recordOf(raw)
  rejectOthers(body, knownFields)
  const isStream = readFlag(body, 'stream')
  const outputMax = findCount(body, 'max_tokens', Number.MAX_SAFE_INTEGER)
  const shared = sharedFields.flatMap(([name, chatName]) =>
    body[name] == null ? [] : [[chatName, body[name]]],
  )
  return {
    chat: {
      ...Object.fromEntries(shared),
      messages: addDocuments(readMessages(body.messages), body.documents),
      ...readTools(body),
      ...(outputMax !== undefined && { max_tokens: outputMax }),
      ...readFormat(body.response_format),
      ...readThinking(body.thinking),
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
    },
    isStream,
    ignored: ignoredFields.filter((name) => body[name] != null),
  }
}

const choices: Record<string, string> = { REQUIRED: 'required', NONE: 'none' }

/** Tools have the form of OpenAI; `strict_tools` is a field of each there. */
function readTools({ tools, tool_choice: choice, strict_tools: strict }: Json): Json {
  const list = itemsOf(tools)
  if ((tools != null && !Array.isArray(tools)) || !list.every(isRecord)) {
    throw invalidField('tools', 'tools must be an array of objects.')
  }
  const tool_choice = lookUp(choices, choice)
  if (choice != null && tool_choice === undefined) {
    throw invalidField('tool_choice', 'tool_choice must be REQUIRED or NONE, or left out.')
  }
  if (list.length === 0) {
    if (tool_choice !== 'required') return {}
    throw invalidField('tool_choice', 'This tool_choice needs at least one tool.')
  }
  const called = list.map((tool) =>
    strict === true ? { ...tool, function: { ...recordOf(tool.function), strict } } : tool,
  )
  return { tools: called, ...(tool_choice !== undefined && { tool_choice }) }
}

function readFormat(raw: unknown): Json {
  const { type = 'text', json_schema: schema } = recordOf(raw)
  if (type === 'text') return {}
  if (type !== 'json_object') {
    throw invalidField(
      'response_format',
      'The type of response_format must be text or json_object.',
    )
  }
  if (!isRecord(schema)) return { response_format: { type } }
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', schema } } }
}

/** Without a budget, the model decides. */
function readThinking(raw: unknown): Json {
  const { type, token_budget: budget } = recordOf(raw)
  if (type === undefined) return {}
  if (type === 'disabled') return { reasoning_effort: 'none' }
  const isValid = budget == null || (typeof budget === 'number' && budget >= 1)
  if (type !== 'enabled' || !isValid) {
    throw invalidField('thinking', 'thinking must be disabled, or enabled with a token_budget.')
  }
  if (typeof budget !== 'number') return {}
  return { reasoning_effort: effortOfBudget(budget) }
}
