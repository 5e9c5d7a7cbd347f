/** One file, because the fields of a request and its items are read together. */
import { ApiError, type FieldNames } from '../../kernel/errors.ts'
import {
  asString,
  isRecord,
  itemsOf,
  type Json,
  recordOf,
  recordsIn,
  toText,
} from '../../kernel/schema.ts'
import type { FindItem } from '../../kernel/state/responses.ts'
import type {
  AssistantMessage,
  CallPart,
  ChatRequest,
  MediaPart,
  MediaSource,
  Message,
  OutputFormat,
  Reasoning,
  TextPart,
  ThinkingPart,
  ToolChoice,
} from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { hasContent } from '../conversation/contents.ts'
import { mediaTypeOf, parseDataUrl } from '../conversation/media.ts'
import { readSampling } from '../conversation/sampling.ts'
import { parseSeal, takeCallSignature } from '../conversation/sealed-thought.ts'
import { argumentsText, originalId, readAbout } from '../conversation/tools.ts'
import { invalidField, readFlag, searchIn } from '../fields.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { thoughtText } from './read.ts'
import { storingIsOff } from './stored-responses.ts'
import {
  type ClientTool,
  customArguments,
  functionName,
  isSearch,
  readTools,
  withoutNull,
} from './tools.ts'

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
  const isChanged = isStored || search || Boolean(body.previous_response_id)
  return {
    request: {
      messages,
      tools: functions,
      choices: 1,
      stop: [],
      ...options,
      ...(!isChanged && !items.some(hasUpload) && { raw: rawOf(body, items) }),
    },
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

/** The conversation of a Responses request. */
interface DecodedInput {
  messages: Message[]
  /** Tools that the client's tool search found. The model may call them from then on. */
  foundTools: Json[]
  /** The items of the request, with those that it references. */
  items: Json[]
}

/** The parts of a request around its input. */
interface InputContext {
  instructions: unknown
  findItem: FindItem
  /** The items of the stored conversation that the request continues. */
  before: Json[]
}

/** The ids of items that this gateway made. Upstreams reject some of them, and need none. */
const ownId = /^[a-z]+_[0-9a-f]{32}\d{1,4}$/
export const isOwnId = (id: unknown): boolean => typeof id === 'string' && ownId.test(id)

const invalidInput = (problem: string) => invalidField('input', problem)

const roles = ['user', 'assistant', 'system', 'developer'] as const

/**
 * Decodes the items of a Responses request into messages. Adjacent items of the model become one
 * message, in their order. A developer message becomes a system message
 * (docs/spec/gateway-decisions.md, "Roles"). An id may replace an item of an earlier response.
 * Throws `bad_request`, `no_usable_messages`.
 */
function decodeInput(
  input: unknown,
  { instructions, findItem, before }: InputContext,
): DecodedInput {
  const conversation = new Conversation()
  if (typeof instructions === 'string') conversation.addSystem(readContent(instructions))
  else if (instructions) throw invalidField('instructions', 'instructions must be a string.')
  for (const item of before) conversation.add(item)
  for (const item of itemsIn(input)) {
    const resolved = resolveReference(item, findItem)
    conversation.add(resolved)
    if (isRecord(resolved)) conversation.items.push(resolved)
  }
  if (!hasContent(conversation.messages)) throw new ApiError('no_usable_messages')
  return conversation
}

function itemsIn(input: unknown): readonly unknown[] {
  if (typeof input === 'string') {
    return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: input }] }]
  }
  const items = itemsOf(input)
  if (items.length > 0) return items
  throw invalidInput('Send "input": a string, or an array with at least one item.')
}

/** Returns the item that a reference names, or the item itself. */
function resolveReference(item: unknown, findItem: FindItem): unknown {
  if (!isRecord(item)) return item
  const { id, role, type = null } = item
  // OpenAI allows references without a type.
  const isReference = type === 'item_reference' || (type === null && !role && id !== undefined)
  if (!isReference) return item
  const found = typeof id === 'string' ? findItem(id) : undefined
  if (found) return found
  // The conversation goes on without a thought that expired, or was not stored.
  if (typeof id === 'string' && id.startsWith('rs_')) return { type: 'reasoning' }
  throw invalidInput(
    'No item with this id is stored; items expire after an hour. Send the whole item, and ' +
      '"store": false with a client that sends ids.',
  )
}

const itemTypes = [
  'message',
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'tool_search_call',
  'tool_search_output',
  'reasoning',
]

type ContentPart = TextPart | MediaPart

/** Gathers the messages of items. */
class Conversation implements DecodedInput {
  readonly messages: Message[] = []
  readonly foundTools: Json[] = []
  readonly items: Json[] = []
  /** The ids of the calls so far, which outputs refer to. */
  private readonly callIds = new Set<unknown>()
  /** Thoughts that belong to the next item of the model. */
  private thoughts: ThinkingPart[] = []

  add(item: unknown): void {
    if (!isRecord(item)) throw invalidInput('An item must be an object.')
    switch (item.type ?? 'message') {
      case 'message':
        return this.addMessage(item)
      case 'function_call':
      case 'custom_tool_call':
      case 'tool_search_call':
        return this.addCall(item)
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.addOutput(item, readContent(item.output))
      case 'tool_search_output': {
        const tools = recordsIn(item.tools)
        this.foundTools.push(...tools)
        return this.addOutput(item, readContent(JSON.stringify(tools)))
      }
      case 'reasoning':
        return void this.thoughts.push(...readThought(item))
      default:
        throw invalidInput(`An item must have one of the types ${itemTypes.join(', ')}.`)
    }
  }

  addSystem(parts: ContentPart[]): void {
    const texts = parts.filter((part) => part.type === 'text')
    if (texts.length > 0) this.messages.push({ role: 'system', content: texts })
    // Most models take only text in system messages.
    this.addUser(parts.filter((part) => part.type !== 'text'))
  }

  private addUser(parts: ContentPart[]): void {
    if (parts.length > 0) this.messages.push({ role: 'user', content: parts })
  }

  private addMessage({ role, content }: Json): void {
    const known = roles.find((one) => one === role)
    if (!known) throw invalidInput(`The role of a message must be one of ${roles.join(', ')}.`)
    const parts = readContent(content)
    if (known === 'assistant') return this.addOfModel(parts)
    // A thought without a text or a call after it is of a response that was cut.
    this.thoughts = []
    if (known === 'user') this.addUser(parts)
    else this.addSystem(parts)
  }

  /** Adds parts of the model with its thoughts before them. */
  private addOfModel(parts: AssistantMessage['content']): void {
    if (parts.length === 0) return
    const content = [...this.thoughts, ...parts]
    this.thoughts = []
    const last = this.messages.at(-1)
    if (last?.role === 'assistant') last.content.push(...content)
    else this.messages.push({ role: 'assistant', content })
  }

  private addCall(item: Json): void {
    const call = readCall(item)
    this.callIds.add(item.call_id)
    const signature = takeCallSignature(this.thoughts)
    this.addOfModel([{ ...call, ...(signature !== undefined && { signature }) }])
  }

  private addOutput({ call_id, type }: Json, content: ContentPart[]): void {
    if (typeof call_id !== 'string' || !this.callIds.has(call_id)) {
      throw invalidInput(`A ${toText(type)} needs the call_id of an earlier call.`)
    }
    this.messages.push({ role: 'tool', callId: originalId(call_id), content })
  }
}

/** Reads a reasoning item; nothing where the API hides it. */
function readThought({ id, encrypted_content, ...thought }: Json): ThinkingPart[] {
  const text = thoughtText(thought)
  const seal = parseSeal(asString(encrypted_content), 'responses')
  // The writer seals a thought that no model signed, too, so that clients send it back.
  const isSigned = seal.signature !== ''
  if (text === '' && !isSigned) return []
  return [
    {
      type: 'thinking',
      text,
      ...(isSigned && seal),
      ...(isSigned && seal.origin === 'responses' && { isEncrypted: true }),
      ...(typeof id === 'string' && !isOwnId(id) && { id }),
    },
  ]
}

/** Reads a call of a tool as the call of its function. */
function readCall(item: Json): CallPart {
  const { type, call_id, name, namespace, arguments: args, input } = item
  if (typeof call_id === 'string' && type === 'tool_search_call') {
    const text = typeof args === 'string' ? args : JSON.stringify(args ?? {})
    return toCall(call_id, functionName({ type: 'tool_search', execution: null }), text)
  }
  if (typeof call_id === 'string' && type === 'custom_tool_call') {
    if (typeof name === 'string' && typeof input === 'string') {
      return toCall(call_id, functionName({ type: 'custom', name }), customArguments(input))
    }
    throw invalidInput('A custom_tool_call needs the strings call_id, name and input.')
  }
  if (typeof call_id !== 'string' || typeof name !== 'string' || typeof args !== 'string') {
    throw invalidInput('A function_call needs the strings call_id, name and arguments.')
  }
  const own = typeof namespace === 'string' ? { name, namespace } : { name }
  return toCall(call_id, functionName({ type: 'function', ...own }), args)
}

const toCall = (callId: string, name: string, args: string): CallPart => ({
  type: 'call',
  id: originalId(callId),
  name,
  arguments: argumentsText(args),
})

/** Reads a content without its empty texts. Adjacent texts without media are one. */
function readContent(content: unknown): ContentPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  if (!Array.isArray(content))
    throw invalidInput('A content must be a string or an array of parts.')
  const parts = content.map(readPart).filter((part) => part.type !== 'text' || part.text !== '')
  const texts = parts.flatMap((part) => (part.type === 'text' && !part.isDeclined ? part.text : []))
  const isText = texts.length > 0 && texts.length === parts.length
  return isText ? [{ type: 'text', text: texts.join('') }] : parts
}

function readPart(part: unknown): ContentPart {
  if (!isRecord(part)) throw invalidInput('A part must be an object.')
  const { type } = part
  if (type === 'input_text' || type === 'output_text' || type === 'refusal') {
    const isDeclined = type === 'refusal'
    const text = isDeclined ? part.refusal : part.text
    if (typeof text === 'string') return { type: 'text', text, ...(isDeclined && { isDeclined }) }
    throw invalidInput(`A part of the type ${type} needs a text.`)
  }
  if (type === 'input_image') return readImage(part)
  if (type === 'input_file') return readFile(part)
  if (type === 'input_audio') return readAudio(part)
  throw invalidInput(
    'A part must be an input_text, input_image, input_file, input_audio, output_text or refusal.',
  )
}

function readImage({ image_url, file_id, detail }: Json): MediaPart {
  const more = typeof detail === 'string' && detail !== '' ? { detail } : {}
  if (typeof file_id === 'string') return { type: 'image', source: { fileId: file_id }, ...more }
  if (typeof image_url !== 'string') throw invalidInput('An input_image needs an image_url.')
  return { type: 'image', source: parseDataUrl(image_url) ?? { url: image_url }, ...more }
}

function readFile({ file_id, file_data, filename }: Json): MediaPart {
  const named = typeof filename === 'string' ? { filename } : {}
  if (typeof file_id === 'string') return { type: 'file', source: { fileId: file_id }, ...named }
  if (typeof file_data === 'string') {
    return { type: 'file', source: fileSource(file_data, asString(filename)), ...named }
  }
  throw invalidInput('An input_file needs file_data, or the file_id of an uploaded file.')
}

/** Returns the source of a file: a data: URL, an address, or base64 without a type. */
function fileSource(data: string, filename: string): MediaSource {
  if (/^https?:/i.test(data)) return { url: data }
  const label = /\.pdf$/i.test(filename) ? 'application/pdf' : 'application/octet-stream'
  return parseDataUrl(data) ?? { data, mediaType: mediaTypeOf(data, label) }
}

function readAudio({ input_audio }: Json): MediaPart {
  const { data, format } = recordOf(input_audio)
  if (typeof data !== 'string' || typeof format !== 'string') {
    throw invalidInput('An input_audio needs the strings data and format.')
  }
  return { type: 'audio', source: { data, mediaType: mediaTypeOf(data, `audio/${format}`) } }
}
