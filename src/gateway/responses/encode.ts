import {
  asString,
  isRecord,
  itemsOf,
  type Json,
  pickFields,
  recordOf,
  recordsIn,
} from '../../kernel/schema.ts'
import type {
  AssistantMessage,
  CallPart,
  ChatRequest,
  MediaPart,
  Message,
  OutputFormat,
  RawRequest,
  Reasoning,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  ToolMessage,
} from '../conversation/chat-request.ts'
import type { EncodedRequest, Target, UpstreamCodec } from '../conversation/codec.ts'
import { effortOf } from '../conversation/effort.ts'
import { audioFormatOf, dataUrlOf, defaultFilename, labelByContent } from '../conversation/media.ts'
import { unknownFields } from '../conversation/sampling.ts'
import { parseSeal } from '../conversation/sealed-thought.ts'
import {
  completeTool,
  idWithin,
  objectText,
  portableId,
  schemaOf,
  withOwnIds,
} from '../conversation/tools.ts'
import { rejectChoices, unsupportedMedia } from '../conversation/unsupported.ts'
import { isOwnId } from './decode-input.ts'
import { samplingNames, unreadFields } from './decode.ts'
import { readWhole, ResponsesReader } from './read.ts'
import { isSearch } from './tools.ts'

/** Fields of a client's request that the upstream receives: they cost nothing beside the tokens. */
const freeFields = new Set([
  'include',
  'input',
  'instructions',
  'max_tool_calls',
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'reasoning',
  'safety_identifier',
  'stream_options',
  'temperature',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
  'top_p',
  'truncation',
  'user',
])

/** Fields of this gateway, and those that it sets itself. */
const ownFields = [
  'model',
  'models',
  'provider',
  'web_search',
  'store',
  'stream',
  'previous_response_id',
  'max_output_tokens',
]
const knownFields = new Set([...freeFields, ...ownFields])

/** Options of reasoning; the mode `pro` is not among them, because it has a price of its own. */
const reasoningFields = new Set(['context', 'effort', 'generate_summary', 'summary'])

/** Fields of OpenAI's chat with the same meaning here. */
const sharedFields = new Set(['metadata', 'prompt_cache_key', 'safety_identifier', 'user'])

/** Returns the names, in a chat, of what this API has no field for. */
const ignoredInChat = ({ stop, sampling, extra }: ChatRequest): string[] => [
  ...(stop.length > 0 ? ['stop'] : []),
  ...unknownFields({ sampling, extra: {} }, samplingNames),
  ...unreadFields(extra, new Set([...sharedFields, 'verbosity'])),
]

declare module '../conversation/chat-request.ts' {
  interface Apis {
    responses: true
  }
}

/** OpenAI's Responses API as that of an upstream. */
export const responsesCodec: UpstreamCodec = {
  api: 'responses',
  encode,
  ignoredFields: (request) => {
    const raw = rawOf(request)
    return raw ? unreadFields(raw.body, knownFields) : ignoredInChat(request)
  },
  readWhole,
  createReader: () => new ResponsesReader(),
}

const rawOf = ({ raw }: ChatRequest): RawRequest | undefined =>
  raw?.api === 'responses' ? raw : undefined

/**
 * Encodes a chat for an upstream with this API: a request of this API unchanged, except for what
 * would cost more than the hold covers. Nothing is stored there.
 */
function encode(request: ChatRequest, target: Target): EncodedRequest {
  const { model, isStream, outputMax, stopsItself } = target
  const raw = rawOf(request)
  const isFree = request.outputMax === undefined && stopsItself
  const body = {
    ...(raw ? passedBody(raw.body, model) : writtenBody(request, model)),
    model,
    ...(!isFree && { max_output_tokens: Math.min(request.outputMax ?? outputMax, outputMax) }),
    ...(isStream && { stream: true }),
    store: false,
  }
  return { path: '/responses', body }
}

const encryptedReasoning = 'reasoning.encrypted_content'

/**
 * Returns whether a model reasons: by the request, or by its name. Its reasoning is not stored, so
 * it comes encrypted, for the next request. Other models reject a request for the encrypted form.
 */
const canReason = (model: string, reasoning: Json | undefined): boolean =>
  (reasoning !== undefined && reasoning.effort !== 'none') ||
  /(?:^|\/)(?:o\d|gpt-5(?!.*-chat))/.test(model)

function passedBody(sent: Json, model: string): Json {
  const { tools, reasoning, input } = sent
  const include = new Set(itemsOf(sent.include))
  if (canReason(model, isRecord(reasoning) ? reasoning : undefined)) include.add(encryptedReasoning)
  return {
    ...pickFields(sent, freeFields),
    ...(include.size > 0 && { include: [...include] }),
    input: Array.isArray(input) ? passedItems(recordsIn(input)) : input,
    ...(Array.isArray(tools) && {
      tools: recordsIn(tools.filter((tool) => !isSearch(tool))).map(completeTool),
    }),
    ...(isRecord(reasoning) && { reasoning: pickFields(reasoning, reasoningFields) }),
  }
}

const isReasoning = ({ type }: Json): boolean => type === 'reasoning'

/** Returns whether an item is a thought of a model of this API that the upstream can read. */
function isReadable(item: Json): boolean {
  const sealed = asString(item.encrypted_content)
  return sealed !== '' && parseSeal(sealed, 'responses').origin === 'responses'
}

/**
 * Returns items as they were sent, without reasoning that the upstream could not read. OpenAI
 * requires that reasoning beside items with its ids, so they have none then. It accepts encrypted
 * reasoning only under its own id, or without one.
 */
function passedItems(input: Json[]): Json[] {
  const items = input.filter((item) => !isReasoning(item) || isReadable(item))
  const hasAll = items.length === input.length
  return items.map((item) => {
    const { id, ...rest } = item
    return labelImages(!isOwnId(id) && (hasAll || isReasoning(item)) ? item : rest)
  })
}

/** Returns an item with the types that its images have by their content. */
function labelImages(item: Json): Json {
  const labelled = (list: unknown): Json[] =>
    recordsIn(list).map((part) =>
      typeof part.image_url === 'string'
        ? { ...part, image_url: labelByContent(part.image_url) }
        : part,
    )
  const { content, output } = item
  return {
    ...item,
    ...(Array.isArray(content) && { content: labelled(content) }),
    ...(Array.isArray(output) && { output: labelled(output) }),
  }
}

function writtenBody(request: ChatRequest, model: string): Json {
  const { messages, tools, toolChoice, isSerial, sampling, extra, logprobs } = request
  rejectChoices(request.choices)
  const { temperature, topP } = sampling
  const reasoning = request.reasoning && writeReasoning(request.reasoning)
  const text = writeText(request.format, extra.verbosity)
  const input = writeInput(withOwnIds(messages))
  const isThinking = canReason(model, reasoning) || input.some(isReasoning)
  const include = [
    ...(isThinking ? [encryptedReasoning] : []),
    ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
  ]
  return {
    ...pickFields(extra, sharedFields),
    input,
    ...(tools.length > 0 && { tools: tools.map(writeTool) }),
    ...(toolChoice && tools.length > 0 && { tool_choice: writeChoice(toolChoice, tools) }),
    ...(isSerial !== undefined && tools.length > 0 && { parallel_tool_calls: !isSerial }),
    ...(temperature !== undefined && { temperature }),
    ...(topP !== undefined && { top_p: topP }),
    ...(reasoning && { reasoning }),
    ...(Object.keys(text).length > 0 && { text }),
    ...(logprobs && { top_logprobs: logprobs }),
    ...(include.length > 0 && { include }),
  }
}

function writeReasoning(reasoning: Reasoning): Json {
  const { summary } = reasoning
  const effort = effortOf(reasoning)
  return { ...(effort !== undefined && { effort }), ...(summary && { summary }) }
}

function writeText(format: OutputFormat | undefined, verbosity: unknown): Json {
  const more = verbosity == null ? {} : { verbosity }
  if (!format) return more
  if (format.type === 'object') return { format: { type: 'json_object' }, ...more }
  const { name = 'response', description, schema, isStrict } = format
  const written = {
    type: 'json_schema',
    name,
    ...(description !== undefined && { description }),
    schema,
    ...(isStrict !== undefined && { strict: isStrict }),
  }
  return { format: written, ...more }
}

function writeTool(tool: Tool): Json {
  const { name, description, parameters, isStrict, isCustom } = tool
  const described = { name, ...(description !== undefined && { description }) }
  if (isCustom) {
    return { type: 'custom', ...described, ...(parameters && { format: writeFormat(parameters) }) }
  }
  return {
    type: 'function',
    ...described,
    parameters: schemaOf(tool),
    // Functions are strict here by default, and nowhere else.
    strict: isStrict ?? false,
  }
}

/** Returns the format of a custom tool. OpenAI's chat has its grammar in an object. */
const writeFormat = ({ grammar, ...format }: Json): Json => ({ ...format, ...recordOf(grammar) })

function writeChoice(choice: ToolChoice, tools: Tool[]): unknown {
  if (typeof choice === 'string') return choice
  const { mode, names } = choice
  const chosen = names.map((name) => {
    const isCustom = tools.some((tool) => tool.name === name && tool.isCustom)
    return { type: isCustom ? 'custom' : 'function', name }
  })
  const [only, ...others] = chosen
  if (only && others.length === 0 && mode === 'required') return only
  return { type: 'allowed_tools', mode, tools: chosen }
}

function writeInput(messages: readonly Message[]): Json[] {
  const customIds = new Set<string>()
  return messages.flatMap((message) => {
    switch (message.role) {
      case 'assistant':
        for (const part of message.content) {
          if (part.type === 'call' && part.isCustom) customIds.add(part.id)
        }
        return writeOfModel(message)
      case 'tool':
        return [writeResult(message, customIds.has(message.callId))]
      default: {
        const content = writeParts(message.content)
        return content.length > 0 ? [{ type: 'message', role: message.role, content }] : []
      }
    }
  })
}

/** Returns the items of a model in their order. Adjacent texts are one message. */
function writeOfModel({ content }: AssistantMessage): Json[] {
  const items: Json[] = []
  let texts: Json[] | undefined
  const last = content.findLastIndex(({ type }) => type === 'text' || type === 'call')
  // OpenAI rejects a thought that nothing follows.
  for (const part of content.slice(0, last + 1)) {
    if (part.type === 'text') {
      if (part.text === '') continue
      if (!texts) {
        texts = []
        items.push({ type: 'message', role: 'assistant', content: texts })
      }
      texts.push(writeOutput(part))
      continue
    }
    // The API has no media of a model in its input.
    if (part.type !== 'thinking' && part.type !== 'call') continue
    const written = part.type === 'call' ? writeCall(part) : writeThought(part)
    if (!written) continue
    items.push(written)
    texts = undefined
  }
  return items
}

const writeOutput = ({ text, isDeclined }: TextPart): Json =>
  isDeclined ? { type: 'refusal', refusal: text } : { type: 'output_text', text }

/** Returns an encrypted thought of a model of this API. Others cannot be read here. */
function writeThought({ id, text, signature, origin }: ThinkingPart): Json | undefined {
  if (!signature || origin !== 'responses') return undefined
  return {
    type: 'reasoning',
    ...(id !== undefined && { id }),
    summary: text === '' ? [] : [{ type: 'summary_text', text }],
    encrypted_content: signature,
  }
}

/** Returns an id as the API takes it: at most 64 characters. */
const takenId = (id: string): string => idWithin(portableId(id), 64)

function writeCall(call: CallPart): Json {
  const { name } = call
  const call_id = takenId(call.id)
  return call.isCustom
    ? { type: 'custom_tool_call', call_id, name, input: call.arguments }
    : { type: 'function_call', call_id, name, arguments: objectText(call) }
}

function writeResult({ callId, content, isError }: ToolMessage, isCustom: boolean): Json {
  const isText = content.every((part) => part.type === 'text')
  const texts = content.map((part) => (part.type === 'text' ? part.text : '')).join('\n\n')
  // The API has no field for a failed call.
  const failed: TextPart[] = isError ? [{ type: 'text', text: 'Error:' }] : []
  return {
    type: isCustom ? 'custom_tool_call_output' : 'function_call_output',
    call_id: takenId(callId),
    output: isText ? `${isError ? 'Error: ' : ''}${texts}` : writeParts([...failed, ...content]),
  }
}

const writeParts = (parts: (TextPart | MediaPart)[]): Json[] =>
  parts.flatMap((part) => {
    if (part.type !== 'text') return [writeMedia(part)]
    return part.text === '' ? [] : [{ type: 'input_text', text: part.text }]
  })

function writeMedia({ type, source, filename, detail }: MediaPart): Json {
  const url = 'data' in source ? dataUrlOf(source) : undefined
  const address = 'url' in source ? source.url : undefined
  if (type === 'image' && (url ?? address) !== undefined) {
    return { type: 'input_image', image_url: url ?? address, ...(detail && { detail }) }
  }
  if (type === 'file' && 'data' in source) {
    const name = filename ?? defaultFilename(source.mediaType)
    return { type: 'input_file', filename: name, file_data: url }
  }
  if (type === 'file' && address !== undefined) return { type: 'input_file', file_url: address }
  if (type === 'audio' && 'data' in source) {
    const { data, mediaType } = source
    return { type: 'input_audio', input_audio: { data, format: audioFormatOf(mediaType) } }
  }
  throw unsupportedMedia('text, images, audio and files')
}
