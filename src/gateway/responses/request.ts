import { isRecord, recordOf } from '../../core/schema.ts'
import { invalidField } from '../fields.ts'
import { readInput, type FindItem, namespacedName } from './input.ts'

type Json = Record<string, unknown>

/** A Responses request, read. */
export interface ResponsesRequest {
  /** The chat request that answers it. */
  chat: Json
  stream: boolean
  /** Whether what is answered may be sent back by its id. */
  isRemembered: boolean
  /** The fields of the request that every answer repeats. */
  echo: Json
  /** The functions that stand in a namespace, by their name in the chat. */
  spaced: Map<string, NamespacedFunction>
}

/** A function's own name, and the namespace it stands in. */
export interface NamespacedFunction {
  namespace: string
  name: string
}

/** Fields that mean the same to a chat; they are read there. */
const alike = [
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

/** Fields that need what is not here: conversations that are kept, and work without a client. */
const kept: [name: string, why: string][] = [
  ['previous_response_id', 'Answers are not stored here: send the whole conversation as "input".'],
  ['conversation', 'Conversations are not stored here: send the whole of one as "input".'],
  ['store', 'Answers are not stored here: leave "store" out, or send false.'],
  ['background', 'There are no answers in the background: leave it out, or stream.'],
  ['prompt', 'Prompts are not stored here: send "instructions" and "input".'],
]

/**
 * Reads a Responses request into a chat request. Fields that are not known are ignored, those that
 * would need a stored conversation are refused. Refuses bad_request.
 */
export function parseResponsesRequest(raw: unknown, recall: FindItem): ResponsesRequest {
  const body: Json = recordOf(raw)
  for (const [name, why] of kept) if (body[name]) throw invalidField(name, why)
  const { instructions, max_output_tokens: most } = body
  const stream = body.stream ?? false
  if (typeof stream !== 'boolean') throw invalidField('stream', 'stream is true or false.')
  const { tools, spaced, searches } = readTools(body.tools)
  const choice = readChoice(body.tool_choice)
  const text = readText(body.text)
  const effort = readEffort(body.reasoning)
  const outputMax = readMost(most)
  const same = alike.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]]))
  return {
    chat: {
      ...Object.fromEntries(same),
      messages: readInput(body.input, instructions, recall),
      ...(searches && { web_search: true }),
      ...(stream && { stream, stream_options: { include_usage: true } }),
      ...(outputMax !== undefined && { max_tokens: outputMax }),
      ...(tools.length > 0 && { tools }),
      ...(choice !== undefined && { tool_choice: choice }),
      ...text,
      ...readLogprobs(body),
      ...(effort !== undefined && { reasoning_effort: effort }),
    },
    stream,
    isRemembered: body.store !== false,
    echo: echoOf(body),
    spaced,
  }
}

function readMost(most: unknown): number | undefined {
  if (most === undefined || most === null) return undefined
  if (typeof most === 'number' && Number.isSafeInteger(most) && most > 0) return most
  throw invalidField('max_output_tokens', 'max_output_tokens is a whole number from 1 on.')
}

/** OpenAI's own search, in its several names, is ours. */
const isSearch = (tool: unknown): boolean =>
  isRecord(tool) && /^web_search(_preview)?(_[0-9_]+)?$/.test(String(tool.type))

function readTools(raw: unknown): { tools: Json[]; spaced: ResponsesRequest['spaced']; searches: boolean } {
  const spaced: ResponsesRequest['spaced'] = new Map()
  const all = listOf(raw)
  const own = all.filter((tool) => !isSearch(tool))
  const tools = own.flatMap((tool) => {
    if (!isRecord(tool) || tool.type !== 'namespace') return [readTool(tool)]
    const { name: namespace } = tool
    if (typeof namespace !== 'string') throw invalidField('tools', 'A namespace has a name.')
    return listOf(tool.tools).map((inner) => {
      const { name, ...rest } = readTool(inner)
      const own = namespacedName(namespace, name)
      spaced.set(own, { namespace, name })
      return { name: own, ...rest }
    })
  })
  return {
    tools: tools.map((called) => ({ type: 'function', function: called })),
    spaced,
    searches: own.length < all.length,
  }
}

function listOf(raw: unknown): unknown[] {
  const list: unknown = raw ?? []
  if (Array.isArray(list)) return list
  throw invalidField('tools', 'tools is a list.')
}

function readTool(tool: unknown): { name: string } {
  if (!isRecord(tool) || tool.type !== 'function') {
    throw invalidField('tools', 'A tool is of the type function or web_search: others are not run here.')
  }
  const { name, description, parameters, strict } = tool
  if (typeof name !== 'string' || name === '') throw invalidField('tools', 'A tool has a name.')
  return { name, ...defined({ description, parameters, strict }) }
}

function readChoice(choice: unknown): unknown {
  // Whether to search is the model's choice.
  if (choice === undefined || choice === null || isSearch(choice)) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (isRecord(choice) && choice.type === 'function' && typeof choice.name === 'string') {
    return { type: 'function', function: { name: choice.name } }
  }
  throw invalidField('tool_choice', 'tool_choice is auto, none, required, or names a function.')
}

function readText(raw: unknown): Json {
  const text = raw ?? {}
  if (!isRecord(text)) throw invalidField('text', 'text is an object.')
  const verbosity = defined({ verbosity: text.verbosity })
  const format = text.format ?? { type: 'text' }
  const type = isRecord(format) ? format.type : undefined
  if (type === 'text') return verbosity
  if (type === 'json_object') return { ...verbosity, response_format: { type } }
  if (!isRecord(format) || type !== 'json_schema' || !isRecord(format.schema)) {
    throw invalidField('text', 'text.format is of the type text, json_object, or json_schema with one.')
  }
  const { name, description, schema, strict } = format
  const json_schema = defined({ name, description, schema, strict })
  return { ...verbosity, response_format: { type, json_schema } }
}

function readEffort(reasoning: unknown): unknown {
  if (reasoning === undefined || reasoning === null) return undefined
  if (isRecord(reasoning)) return reasoning.effort ?? undefined
  throw invalidField('reasoning', 'reasoning is an object.')
}

/** How likely each token was, and how many others are told beside it. */
function readLogprobs({ include, top_logprobs }: Json): Json {
  const isIncluded = Array.isArray(include) && include.includes('message.output_text.logprobs')
  return isIncluded || top_logprobs ? { logprobs: true, ...defined({ top_logprobs }) } : {}
}

const defined = (fields: Json): Json =>
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
