import { isRecord, type Json, recordOf } from '../../core/schema.ts'
import type { FindItem } from '../../state/response-items.ts'
import { invalidField } from '../fields.ts'
import { namespacedName, readInput } from './input.ts'

export interface ResponsesRequest {
  /** The chat request that serves it. */
  chat: Json
  isStream: boolean
  /** True if the client may send items of the response back by id. */
  isStored: boolean
  /** Fields of the request that every response repeats. */
  echo: Json
  /** Functions in a namespace, by their name in the chat. */
  namespaced: Map<string, NamespacedFunction>
}

/** A function's own name and its namespace. */
export interface NamespacedFunction {
  namespace: string
  name: string
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

/** Fields that need stored conversations or background work, with the error message of each. */
const unsupportedFields: [name: string, problem: string][] = [
  ['previous_response_id', 'Responses are not stored: send the whole conversation as "input".'],
  ['conversation', 'Conversations are not stored: send the whole conversation as "input".'],
  ['store', 'Responses are not stored: remove "store", or send false.'],
  ['background', 'Background responses are not supported: remove "background", or use a stream.'],
  ['prompt', 'Prompts are not stored: send "instructions" and "input".'],
]

/**
 * Parses a Responses request into a chat request. Unknown fields are ignored. Throws `bad_request`,
 * also for fields that need a stored conversation.
 */
export function parseResponsesRequest(raw: unknown, findItem: FindItem): ResponsesRequest {
  const body = recordOf(raw)
  for (const [name, problem] of unsupportedFields) {
    if (body[name]) throw invalidField(name, problem)
  }
  const isStream = body.stream ?? false
  if (typeof isStream !== 'boolean') throw invalidField('stream', 'stream must be true or false.')
  const { tools, namespaced, hasSearch } = readTools(body.tools)
  const choice = readToolChoice(body.tool_choice)
  const text = readText(body.text)
  const effort = readEffort(body.reasoning)
  const outputMax = readOutputMax(body.max_output_tokens)
  const shared = sharedFields.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))
  return {
    chat: {
      ...Object.fromEntries(shared),
      messages: readInput(body.input, body.instructions, findItem),
      ...(hasSearch && { web_search: true }),
      ...(isStream && { stream: true, stream_options: { include_usage: true } }),
      ...(outputMax !== undefined && { max_tokens: outputMax }),
      ...(tools.length > 0 && { tools }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...text,
      ...readLogprobs(body),
      ...(effort !== undefined && { reasoning_effort: effort }),
    },
    isStream,
    isStored: body.store !== false,
    echo: echoOf(body),
    namespaced,
  }
}

function readOutputMax(max: unknown): number | undefined {
  if (max === undefined || max === null) return undefined
  if (typeof max === 'number' && Number.isSafeInteger(max) && max > 0) return max
  throw invalidField('max_output_tokens', 'max_output_tokens must be an integer of at least 1.')
}

/** Returns whether a tool is OpenAI's web search, under any of its names. */
const isSearch = (tool: unknown): boolean =>
  isRecord(tool) && /^web_search(_preview)?(_[0-9_]+)?$/.test(String(tool.type))

function readTools(raw: unknown) {
  const namespaced: ResponsesRequest['namespaced'] = new Map()
  const all = toolListOf(raw)
  const others = all.filter((tool) => !isSearch(tool))
  const functions = others.flatMap((tool) => {
    if (!isRecord(tool) || tool.type !== 'namespace') return [readTool(tool)]
    const { name: namespace } = tool
    if (typeof namespace !== 'string') throw invalidField('tools', 'A namespace needs a name.')
    return toolListOf(tool.tools).map((inner) => {
      const { name, ...rest } = readTool(inner)
      const chatName = namespacedName(namespace, name)
      namespaced.set(chatName, { namespace, name })
      return { name: chatName, ...rest }
    })
  })
  return {
    tools: functions.map((called) => ({ type: 'function', function: called })),
    namespaced,
    hasSearch: others.length < all.length,
  }
}

function toolListOf(raw: unknown): unknown[] {
  const list: unknown = raw ?? []
  if (Array.isArray(list)) return list
  throw invalidField('tools', 'tools must be an array.')
}

function readTool(tool: unknown): { name: string } {
  if (!isRecord(tool) || tool.type !== 'function') {
    throw invalidField('tools', 'A tool must have the type function or web_search.')
  }
  const { name, description, parameters, strict } = tool
  if (typeof name !== 'string' || name === '') throw invalidField('tools', 'A tool needs a name.')
  return { name, ...withoutNull({ description, parameters, strict }) }
}

function readToolChoice(choice: unknown): unknown {
  // The model decides whether to search.
  if (choice === undefined || choice === null || isSearch(choice)) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (isRecord(choice) && choice.type === 'function' && typeof choice.name === 'string') {
    return { type: 'function', function: { name: choice.name } }
  }
  throw invalidField('tool_choice', 'tool_choice must be auto, none, required, or a function.')
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

const withoutNull = (fields: Json): Json =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))

const echoOf = (body: Json): Json => ({
  background: false,
  frequency_penalty: null,
  instructions: body.instructions ?? null,
  max_output_tokens: body.max_output_tokens ?? null,
  metadata: body.metadata ?? {},
  parallel_tool_calls: body.parallel_tool_calls ?? true,
  presence_penalty: null,
  previous_response_id: null,
  reasoning: body.reasoning ?? { effort: null, summary: null },
  store: false,
  temperature: body.temperature ?? null,
  text: body.text ?? { format: { type: 'text' } },
  tool_choice: body.tool_choice ?? 'auto',
  tools: body.tools ?? [],
  top_logprobs: body.top_logprobs ?? 0,
  top_p: body.top_p ?? null,
  truncation: 'disabled',
})
