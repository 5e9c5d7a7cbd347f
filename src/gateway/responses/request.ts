import type { FieldNames } from '../../kernel/errors.ts'
import { isRecord, type Json, recordOf } from '../../kernel/schema.ts'
import type { FindItem } from '../../kernel/state/response-items.ts'
import { invalidField, readFlag, searchIn } from '../fields.ts'
import { readInput } from './input.ts'
import { type StoredConversation, storingIsOff } from './stored-responses.ts'
import { type ClientTool, isSearch, readToolChoice, readTools, withoutNull } from './tools.ts'

export interface ResponsesRequest {
  /** The chat request that serves it. */
  chat: Json
  isStream: boolean
  /** True if the client may send items of the response back by id. */
  isReferable: boolean
  /** True if the response is stored, with `input`. */
  isStored: boolean
  /** The items of the request, with those that it references. */
  input: Json[]
  /** Fields of the request without an effect. */
  ignored: string[]
  /** Fields of the request that every response repeats. */
  echo: Json
  /** The client's tools by the function that stands for each in the chat. */
  tools: Map<string, ClientTool>
}

/** The state of the server that a request depends on. */
export interface ResponsesState {
  findItem: FindItem
  /** True if this server has a search engine. */
  canSearch: boolean
  /** True if this server stores responses. */
  canStore: boolean
  /** The conversation that `previous_response_id` names. */
  conversation: StoredConversation | undefined
}

/** Fields with the same meaning in a chat request, which parses them. */
const sharedFields = [
  'model',
  'models',
  'provider',
  'web_search',
  'temperature',
  'top_p',
  'user',
  'service_tier',
  'parallel_tool_calls',
  'prompt_cache_key',
  'safety_identifier',
]

/** Returns the names of a request's fields by those of the chat. */
export const fieldNames = (raw: unknown): FieldNames => ({
  messages: 'input',
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
  ...(recordOf(raw).web_search !== true && { web_search: searchIn('tools') }),
})

/** All fields that have an effect, with those of the chat. */
const knownFields = new Set([
  ...sharedFields,
  'input',
  'instructions',
  'include',
  'max_output_tokens',
  'metadata',
  'previous_response_id',
  'reasoning',
  'store',
  'stream',
  'stream_options',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
])

/** Returns the fields of a request that have a value and are not among those with an effect. */
export const ignoredFields = (body: Json, known: ReadonlySet<string>): string[] =>
  Object.entries(body).flatMap(([name, value]) => {
    const isDefault = value == null || value === false || value === 'disabled'
    return isDefault || known.has(name) ? [] : [name]
  })

/** Fields that need objects of OpenAI or background work, with the error message of each. */
const unsupportedFields: [name: string, problem: string][] = [
  ['conversation', 'Conversations are not objects here: send "previous_response_id" or "input".'],
  ['background', 'Background responses are not supported: remove "background", or use a stream.'],
  ['prompt', 'Prompts are not stored: send "instructions" and "input".'],
]

/**
 * Parses a Responses request into a chat request. Unknown fields are ignored, and so is a tool for
 * web search where this server has none: agents such as Codex always send one. Throws
 * `bad_request`, also for fields that this server does not support.
 */
export function parseResponsesRequest(
  raw: unknown,
  { findItem, canSearch, canStore, conversation }: ResponsesState,
): ResponsesRequest {
  const body = recordOf(raw)
  const store = readStore(body, canStore)
  for (const [name, problem] of unsupportedFields) {
    if (body[name]) throw invalidField(name, problem)
  }
  const isStream = readFlag(body, 'stream')
  const { messages, foundTools, items } = readInput(body.input, {
    instructions: body.instructions,
    findItem,
    before: conversation?.items ?? [],
  })
  const { functions, byFunction, hasSearch } = readTools(body.tools, foundTools)
  const isSearchRequired = isSearch(body.tool_choice)
  const choice = readToolChoice(body.tool_choice)
  const text = readText(body.text)
  const effort = readEffort(body.reasoning)
  const outputMax = readOutputMax(body.max_output_tokens)
  const shared = sharedFields.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))
  return {
    chat: {
      ...Object.fromEntries(shared),
      messages,
      ...((isSearchRequired || (hasSearch && canSearch)) && { web_search: true }),
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
      ...(outputMax !== undefined && { max_tokens: outputMax }),
      ...(functions.length > 0 && { tools: functions }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...text,
      ...readLogprobs(body),
      ...(effort !== undefined && { reasoning_effort: effort }),
    },
    isStream,
    isReferable: store !== false,
    isStored: canStore && store !== false,
    input: items,
    ignored: ignoredFields(body, knownFields),
    echo: echoOf(body),
    tools: byFunction,
  }
}

/** Reads `store`. Throws `bad_request` where this server stores no responses. */
function readStore({ store, previous_response_id }: Json, canStore: boolean): boolean | undefined {
  if (store !== undefined && store !== null && typeof store !== 'boolean') {
    throw invalidField('store', 'store must be true or false.')
  }
  if (store && !canStore) throw invalidField('store', `${storingIsOff} Remove "store".`)
  if (previous_response_id && !canStore) {
    throw invalidField('previous_response_id', `${storingIsOff} Send the conversation as "input".`)
  }
  return store ?? undefined
}

function readOutputMax(max: unknown): number | undefined {
  if (max === undefined || max === null) return undefined
  if (typeof max === 'number' && Number.isSafeInteger(max) && max > 0) return max
  throw invalidField('max_output_tokens', 'max_output_tokens must be an integer of at least 1.')
}

function readText(raw: unknown): Json {
  const text = raw ?? {}
  if (!isRecord(text)) throw invalidField('text', 'text must be an object.')
  const verbosity = withoutNull({ verbosity: text.verbosity })
  const format = text.format ?? { type: 'text' }
  const type = isRecord(format) ? format.type : undefined
  if (type === 'text') return verbosity
  if (type === 'json_object') return { ...verbosity, response_format: { type } }
  if (!isRecord(format) || type !== 'json_schema' || !isRecord(format.schema)) {
    const problem =
      'text.format must have the type text, json_object, or json_schema with a schema.'
    throw invalidField('text', problem)
  }
  const { name, description, schema, strict } = format
  const json_schema = withoutNull({ name, description, schema, strict })
  return { ...verbosity, response_format: { type, json_schema } }
}

function readEffort(reasoning: unknown): unknown {
  if (reasoning === undefined || reasoning === null) return undefined
  if (isRecord(reasoning)) return reasoning.effort ?? undefined
  throw invalidField('reasoning', 'reasoning must be an object.')
}

function readLogprobs({ include, top_logprobs }: Json): Json {
  const isIncluded = Array.isArray(include) && include.includes('message.output_text.logprobs')
  return isIncluded || top_logprobs ? { logprobs: true, ...withoutNull({ top_logprobs }) } : {}
}

const echoOf = (body: Json): Json => ({
  background: false,
  frequency_penalty: null,
  instructions: body.instructions ?? null,
  max_output_tokens: body.max_output_tokens ?? null,
  metadata: body.metadata ?? {},
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  presence_penalty: null,
  previous_response_id: body.previous_response_id ?? null,
  reasoning: body.reasoning ?? { effort: null, summary: null },
  temperature: body.temperature ?? null,
  text: body.text ?? { format: { type: 'text' } },
  tool_choice: body.tool_choice ?? 'auto',
  tools: body.tools ?? [],
  top_logprobs: body.top_logprobs ?? 0,
  top_p: body.top_p ?? null,
  truncation: 'disabled',
})
