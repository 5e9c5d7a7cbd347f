import type { FieldNames } from '../../kernel/errors.ts'
import { isRecord, itemsOf, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import type { FindItem } from '../../kernel/state/responses.ts'
import type {
  ChatRequest,
  OutputFormat,
  Reasoning,
  ToolChoice,
} from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { readSampling } from '../conversation/sampling.ts'
import { readAbout } from '../conversation/tools.ts'
import { invalidField, readFlag, searchIn } from '../fields.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { decodeInput } from './decode-input.ts'
import { storingIsOff } from './stored-responses.ts'
import { type ClientTool, functionName, isSearch, readTools, withoutNull } from './tools.ts'

/** A Responses request as a chat, and what its response depends on. */
interface DecodedResponses extends DecodedChat {
  /** True if the client may send items of the response back by id. */
  isReferable: boolean
  /** True if the response is stored, with `input`. */
  isStored: boolean
  /** The items of the request, with those that it references. */
  input: Json[]
  /** Fields of the request that every response repeats. */
  echo: Json
  /** The client's tools by the function that stands for each in the chat. */
  tools: Map<string, ClientTool>
}

/** The state of the server that a request depends on. */
export interface ResponsesContext {
  findItem: FindItem
  /** True if this server has a search engine. */
  canSearch: boolean
  /** True if this server stores responses. */
  canStore: boolean
  /** The items of the conversation that `previous_response_id` names. */
  before: Json[]
}

export const samplingNames = { temperature: 'temperature', topP: 'top_p' } as const

/** Fields that OpenAI's chat has, too. */
const chatFields = ['user', 'service_tier', 'prompt_cache_key', 'safety_identifier']

/** Returns the names of a request's fields by those of the chat. */
export const fieldNames = (raw: unknown): FieldNames => ({
  messages: 'input',
  max_tokens: 'max_output_tokens',
  response_format: 'text.format',
  reasoning_effort: 'reasoning.effort',
  ...(recordOf(raw).web_search !== true && { web_search: searchIn('tools') }),
})

/** All fields that have an effect in a chat. */
const knownFields = new Set([
  ...chatFields,
  'model',
  'models',
  'provider',
  'web_search',
  ...Object.values(samplingNames),
  'parallel_tool_calls',
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

const isDefault = (value: unknown): boolean =>
  value == null || value === false || value === 'disabled'

/** Returns the fields of a request that have a value and are not among those with an effect. */
export const unreadFields = (body: Json, known: ReadonlySet<string>): string[] =>
  Object.keys(body).filter((name) => !isDefault(body[name]) && !known.has(name))

/** Fields that need objects of OpenAI or background work, with the error message of each. */
const unsupportedFields: [name: string, problem: string][] = [
  ['conversation', 'Conversations are not objects here: send "previous_response_id" or "input".'],
  ['background', 'Background responses are not supported: remove "background", or use a stream.'],
  ['prompt', 'Prompts are not stored: send "instructions" and "input".'],
]

/**
 * Decodes a Responses request, or one that counts its tokens. Unknown fields are ignored, and so is
 * a tool for web search where this server has none: agents such as Codex always send one. Throws
 * `bad_request`, also for fields that this server does not support, and `no_usable_messages`.
 */
export function decodeResponses(
  raw: unknown,
  { findItem, canSearch, canStore, before }: ResponsesContext,
): DecodedResponses {
  const body = recordOf(raw)
  const store = readStore(body, canStore)
  for (const [name, problem] of unsupportedFields) {
    if (body[name]) throw invalidField(name, problem)
  }
  const isStream = readFlag(body, 'stream')
  const isStored = canStore && store !== false
  const { instructions, model, models, provider } = body
  const { messages, foundTools, items } = decodeInput(body.input, {
    instructions,
    findItem,
    before,
  })
  const { functions, byFunction, hasSearch } = readTools(body.tools, foundTools)
  const options = readOptions(body)
  const isSearchRequired = isSearch(body.tool_choice)
  const search = readFlag(body, 'web_search') || isSearchRequired || (hasSearch && canSearch)
  const isChanged =
    isStored || search || Boolean(body.previous_response_id) || items.some(hasUpload)
  return {
    request: {
      messages,
      tools: functions,
      choices: 1,
      stop: [],
      ...options,
      ...(!isChanged && { raw: rawOf(body, items) }),
    },
    // Its ids and the names of its tools are those of this gateway.
    isWritten: isChanged,
    model,
    models,
    provider,
    search,
    isStream,
    isReferable: store !== false,
    isStored,
    input: items,
    // The codec names those that an upstream with this API does not get.
    ignored: { passed: [], written: unreadFields(body, knownFields) },
    echo: echoOf(body),
    tools: byFunction,
  }
}

/** Returns the request for upstreams with this API, with the items that it references. */
const rawOf = (body: Json, input: Json[]): NonNullable<ChatRequest['raw']> => ({
  api: 'responses',
  body: typeof body.input === 'string' ? body : { ...body, input },
})

const hasUpload = ({ content, output }: Json): boolean =>
  [...recordsIn(content), ...recordsIn(output)].some(({ file_id }) => typeof file_id === 'string')

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

/** Reads the fields that say how the model responds. */
function readOptions(
  body: Json,
): Omit<ChatRequest, 'messages' | 'tools' | 'choices' | 'stop' | 'raw'> {
  const toolChoice = readToolChoice(body.tool_choice)
  const { format, verbosity } = readText(body.text)
  const reasoning = readReasoning(body.reasoning)
  const outputMax = readOutputMax(body.max_output_tokens)
  const logprobs = readLogprobs(body)
  const shared = chatFields.map((name) => [name, body[name]])
  const extra = withoutNull({ ...Object.fromEntries(shared), verbosity })
  rejectUnpricedFields(extra, 'chat')
  const isParallel = readBoolean(body, 'parallel_tool_calls')
  return {
    sampling: readSampling(body, samplingNames),
    extra,
    ...(toolChoice !== undefined && { toolChoice }),
    ...(isParallel !== undefined && { isSerial: !isParallel }),
    ...(outputMax !== undefined && { outputMax }),
    ...(format && { format }),
    ...(reasoning && { reasoning }),
    ...(logprobs !== undefined && { logprobs }),
  }
}

function readBoolean(body: Json, name: string): boolean | undefined {
  return (body[name] ?? undefined) === undefined ? undefined : readFlag(body, name)
}

function readOutputMax(max: unknown): number | undefined {
  if (max === undefined || max === null) return undefined
  if (typeof max === 'number' && Number.isSafeInteger(max) && max > 0) return max
  throw invalidField('max_output_tokens', 'max_output_tokens must be an integer of at least 1.')
}

function readText(raw: unknown): { format?: OutputFormat; verbosity?: unknown } {
  const text = raw ?? {}
  if (!isRecord(text)) throw invalidField('text', 'text must be an object.')
  const { verbosity } = text
  const format = text.format ?? { type: 'text' }
  const type = isRecord(format) ? format.type : undefined
  if (type === 'text') return { verbosity }
  if (type === 'json_object') return { format: { type: 'object' }, verbosity }
  if (!isRecord(format) || type !== 'json_schema' || !isRecord(format.schema)) {
    const problem =
      'text.format must have the type text, json_object, or json_schema with a schema.'
    throw invalidField('text', problem)
  }
  return { format: { type: 'schema', schema: format.schema, ...readAbout(format) }, verbosity }
}

function readReasoning(raw: unknown): Reasoning | undefined {
  if (raw === undefined || raw === null) return undefined
  if (!isRecord(raw)) throw invalidField('reasoning', 'reasoning must be an object.')
  const effort = raw.effort ?? undefined
  if (effort !== undefined && typeof effort !== 'string') {
    throw invalidField('reasoning.effort', 'reasoning.effort must be a string.')
  }
  const summary = raw.summary ?? raw.generate_summary
  const reasoning = {
    ...(effort !== undefined && { effort }),
    ...(typeof summary === 'string' && { summary }),
  }
  return Object.keys(reasoning).length > 0 ? reasoning : undefined
}

function readLogprobs({ include, top_logprobs }: Json): number | undefined {
  const isIncluded = itemsOf(include).includes('message.output_text.logprobs')
  if (!isIncluded && !top_logprobs) return undefined
  const count = top_logprobs ?? 0
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 0) return count
  throw invalidField('top_logprobs', 'top_logprobs must be a whole number of at least 0.')
}

/** Reads the choice of tools. Throws `bad_request`. */
function readToolChoice(choice: unknown): ToolChoice | undefined {
  // The model decides whether to search.
  if (choice === undefined || choice === null || isSearch(choice)) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  const { type, mode, tools } = recordOf(choice)
  if (type !== 'allowed_tools') return { mode: 'required', names: [chosenName(choice)] }
  const names = itemsOf(tools)
    .filter((tool) => !isSearch(tool))
    .map(chosenName)
  if (names.length === 0) return undefined
  return { mode: mode === 'required' ? mode : 'auto', names }
}

/** Returns the name of the function that stands for a chosen tool. */
function chosenName(tool: unknown): string {
  const { type, name, namespace } = recordOf(tool)
  if ((type === 'function' || type === 'custom') && typeof name === 'string') {
    const own = typeof namespace === 'string' ? { name, namespace } : { name }
    return functionName({ type: 'function', ...own })
  }
  const problem = 'tool_choice must be auto, none, required, a function or a custom tool.'
  throw invalidField('tool_choice', problem)
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
