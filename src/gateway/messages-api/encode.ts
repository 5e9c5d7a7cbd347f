/** One file, because the fields of a request and its messages are written together. */
import { asString, isRecord, type Json, pickFields, recordsIn } from '../../kernel/schema.ts'
import { markOf, withoutTtl } from '../conversation/cache-mark.ts'
import type {
  AssistantMessage,
  CallPart,
  ChatRequest,
  MediaPart,
  Message,
  OutputFormat,
  Sampling,
  TextPart,
  Tool,
  ToolMessage,
} from '../conversation/chat-request.ts'
import type { EncodedRequest, Target, UpstreamCodec } from '../conversation/codec.ts'
import { isSystem } from '../conversation/contents.ts'
import { mediaTypeOf } from '../conversation/media.ts'
import { unknownFields } from '../conversation/sampling.ts'
import { parseSeal } from '../conversation/sealed-thought.ts'
import {
  allowedTools,
  argumentsOf,
  completeSchema,
  portableId,
  schemaOf,
  withOwnIds,
} from '../conversation/tools.ts'
import { rejectChoices, rejectCustomTools, unsupportedMedia } from '../conversation/unsupported.ts'
import { samplingNames } from './decode.ts'
import { budgetWithin, featuresOf, type ModelFeatures, toThinking } from './model-features.ts'
import { canFormat, responseTool, toFormatSchema } from './output-format.ts'
import { createReader, readWhole } from './read.ts'

declare module '../conversation/chat-request.ts' {
  interface Apis {
    messages: true
  }
}

/** Anthropic's Messages API as that of an upstream. */
export const messagesCodec: UpstreamCodec = {
  api: 'messages',
  keyHeaders: (key) => ({ 'x-api-key': key }),
  encode,
  ignoredFields,
  readWhole,
  createReader,
}

function encode(request: ChatRequest, target: Target): EncodedRequest {
  const own = request.raw?.api === 'messages' ? request.raw : undefined
  return {
    path: '/messages',
    body: own ? encodeOwn(own.body, target) : encodeChat(request, target),
    headers: { 'anthropic-version': '2023-06-01', ...own?.headers },
  }
}

/** Returns OpenAI's names of the fields without an equivalent. */
function ignoredFields(request: ChatRequest): string[] {
  const { raw, logprobs, format } = request
  if (raw?.api === 'messages') return []
  return [
    ...unknownFields(request, samplingNames),
    ...(logprobs === undefined ? [] : ['logprobs']),
    ...(logprobs ? ['top_logprobs'] : []),
    // Without a schema, the API has no format.
    ...(format?.type === 'object' ? ['response_format'] : []),
  ]
}

/** Fields of a client's own request that cost nothing beside its tokens. Betas are in a header. */
const ownFields = new Set([
  'cache_control',
  'context_management',
  'diagnostics',
  'messages',
  'metadata',
  'output_config',
  'output_format',
  'stop_sequences',
  'system',
  'temperature',
  'thinking',
  'tool_choice',
  'tools',
  'top_k',
  'top_p',
])

/** Returns a client's own request, without what would cost more than the hold covers. */
function encodeOwn(body: Json, { model, isStream, outputMax }: Target): Json {
  const { system, tools, messages, thinking, max_tokens: sent, ...others } = body
  const max_tokens = typeof sent === 'number' ? Math.min(sent, outputMax) : outputMax
  const turns = Array.isArray(messages) ? recordsIn(messages).flatMap(toOwnMessage) : messages
  const within =
    isRecord(thinking) && thinking.type === 'enabled'
      ? limitThinking(thinking, { turns, max_tokens, isLower: max_tokens !== sent })
      : thinking
  return {
    ...withoutTtl(pickFields(others, ownFields)),
    model,
    max_tokens,
    ...(isStream && { stream: true }),
    ...(system !== undefined && { system: mapRecords(withoutEmpty(system), withoutTtl) }),
    ...(tools !== undefined && { tools: mapRecords(tools, toOwnTool) }),
    messages: turns,
    ...(within !== undefined && { thinking: within }),
  }
}

/** Returns a thinking with a budget within the limit; undefined where there can be none. */
function limitThinking(
  thinking: Json,
  { turns, max_tokens, isLower }: { turns: unknown; max_tokens: number; isLower: boolean },
): Json | undefined {
  if (hasUnsignedCall(turns)) return undefined
  if (!isLower || typeof thinking.budget_tokens !== 'number') return thinking
  const budget_tokens = budgetWithin(thinking.budget_tokens, max_tokens)
  return budget_tokens === undefined ? undefined : { ...thinking, budget_tokens }
}

const mapRecords = (list: unknown, change: (item: Json) => Json): unknown =>
  Array.isArray(list) ? recordsIn(list).map(change) : list

const toOwnTool = (tool: Json): Json =>
  withoutTtl({
    ...tool,
    ...(tool.input_schema !== undefined && { input_schema: completeSchema(tool.input_schema) }),
  })

/** Corrects a message. One of nothing but thinking of another model is left out. */
function toOwnMessage(message: Json): Json[] {
  const content = withoutEmpty(message.content)
  if (!Array.isArray(content)) return isBlank(content) ? [] : [message]
  const blocks = recordsIn(content).filter((block) => !isOfOther(block))
  return blocks.length === 0 ? [] : [{ ...message, content: blocks.map(toOwnBlock) }]
}

/** Returns whether a text is one that the API rejects: without a visible character. */
const isBlank = (text: unknown): boolean => typeof text === 'string' && text.trim() === ''

/** Returns a content without blank texts. */
const withoutEmpty = (content: unknown): unknown =>
  Array.isArray(content)
    ? recordsIn(content).filter(({ type, text }) => type !== 'text' || !isBlank(asString(text)))
    : content

/** Returns whether a block is the thinking of another model. */
function isOfOther({ type, signature, data }: Json): boolean {
  if (type !== 'thinking' && type !== 'redacted_thinking') return false
  const seal = asString(type === 'thinking' ? signature : data)
  return seal === '' || parseSeal(seal, 'messages').origin !== 'messages'
}

/** Corrects a block and the blocks in it: results and documents contain blocks. */
function toOwnBlock(block: Json): Json {
  const { content, source, type, id, tool_use_id } = block
  return withoutTtl({
    ...block,
    ...(type === 'tool_use' && { id: takenId(id) }),
    ...(type === 'tool_result' && { tool_use_id: takenId(tool_use_id) }),
    ...(Array.isArray(content) && { content: mapRecords(withoutEmpty(content), toOwnBlock) }),
    ...(isRecord(source) && { source: toOwnSource(source) }),
  })
}

/** Returns the id of a call as the API takes it. */
const takenId = (id: unknown): unknown =>
  typeof id === 'string' && !/^[\w-]+$/.test(id) ? portableId(id) : id

function toOwnSource(source: Json): Json {
  const { type, data, content } = source
  if (Array.isArray(content)) {
    return { ...source, content: mapRecords(withoutEmpty(content), toOwnBlock) }
  }
  if (type !== 'base64' || typeof data !== 'string') return source
  return { ...source, media_type: mediaTypeOf(data, asString(source.media_type)) }
}

/** Encodes a chat of another API. */
function encodeChat(request: ChatRequest, { model, isStream, outputMax }: Target): Json {
  rejectChoices(request.choices)
  rejectCustomTools(request.tools)
  const features = featuresOf(model)
  const own = features.isKnown ? features.outputMax : outputMax
  const max_tokens = Math.min(request.outputMax ?? outputMax, outputMax, own)
  const { system, turns } = encodeConversation(withOwnIds(request.messages))
  const format = toFormat(request.format, features)
  const tools = toTools(request, { features, isStream, format })
  const choice = toToolChoice(request, { features, format, hasTools: tools.length > 0 })
  const { thinking, effort } = thinkingOf(request, { features, max_tokens, choice, turns })
  const isThinking = thinking !== undefined && thinking.type !== 'disabled'
  const stop = request.stop.filter((text) => text.trim() !== '')
  const config = {
    ...(effort !== undefined && { effort }),
    ...(format?.schema !== undefined && { format: { type: 'json_schema', schema: format.schema } }),
  }
  return {
    model,
    max_tokens,
    ...(isStream && { stream: true }),
    ...(system.length > 0 && { system }),
    messages: turns,
    ...(tools.length > 0 && { tools }),
    ...(choice && { tool_choice: choice }),
    ...(thinking && { thinking }),
    ...(Object.keys(config).length > 0 && { output_config: config }),
    ...toSampling(request.sampling, features, isThinking),
    ...(stop.length > 0 && { stop_sequences: stop }),
    ...markOf(request.isCached),
  }
}

/** The form in which a model writes JSON: of a schema, or as the input of a tool. */
interface Format {
  schema?: unknown
  tool?: Json
}

function toFormat(format: OutputFormat | undefined, { hasFormat }: ModelFeatures) {
  if (format?.type !== 'schema') return undefined
  const { schema } = format
  const found: Format =
    hasFormat && canFormat(schema)
      ? { schema: toFormatSchema(schema) }
      : { tool: toTool({ name: responseTool, description: responseText, parameters: schema }) }
  return found
}

const responseText = 'Respond with a JSON object.'

function toTools(
  request: ChatRequest,
  chat: { features: ModelFeatures; isStream: boolean; format: Format | undefined },
): Json[] {
  const { tools, toolChoice } = request
  const { features, isStream, format } = chat
  const named = allowedTools(request)
  // The API has a field for one forced tool. Without the others the cache would not match.
  const isForced = isRecord(toolChoice) && toolChoice.mode === 'required' && named.length === 1
  const allowed = isForced && features.canForceTools && !format?.tool ? tools : named
  // The choice `none` does not hold for the tool of the response.
  const isNone = format?.tool !== undefined && toolChoice === 'none'
  const own = (isNone ? [] : allowed).map((tool) => ({
    ...toTool(tool),
    ...(isStream && { eager_input_streaming: true }),
    ...(features.hasFormat && tool.isStrict !== undefined && { strict: tool.isStrict }),
  }))
  return format?.tool ? [...own, format.tool] : own
}

function toTool(tool: Tool): Json {
  const { name, description, isCached } = tool
  return {
    name,
    ...(description !== undefined && { description }),
    input_schema: schemaOf(tool),
    ...markOf(isCached),
  }
}

function toToolChoice(
  { toolChoice = 'auto', isSerial }: ChatRequest,
  chat: { features: ModelFeatures; format: Format | undefined; hasTools: boolean },
): Json | undefined {
  const { features, format, hasTools } = chat
  if (!hasTools) return undefined
  const serial = isSerial || format?.tool ? { disable_parallel_tool_use: true } : {}
  const auto = { type: 'auto', ...serial }
  if (format?.tool) return features.canForceTools ? { type: 'any', ...serial } : auto
  if (toolChoice === 'none') return { type: 'none' }
  const { mode, names } = isRecord(toolChoice) ? toolChoice : { mode: toolChoice, names: [] }
  if (mode === 'auto' || !features.canForceTools) return auto
  const [name, ...others] = names
  const isOne = name !== undefined && others.length === 0
  return isOne ? { type: 'tool', name, ...serial } : { type: 'any', ...serial }
}

/** Returns the fields of the thinking. The API rejects it with a forced call. */
function thinkingOf(
  { reasoning = {} }: ChatRequest,
  chat: { features: ModelFeatures; max_tokens: number; choice: Json | undefined; turns: Turn[] },
): ReturnType<typeof toThinking> {
  const { features, max_tokens, choice, turns } = chat
  const isForced = choice?.type === 'any' || choice?.type === 'tool'
  const isOff = isForced || hasUnsignedCall(turns)
  return isOff && reasoning.effort !== 'none' ? {} : toThinking(reasoning, features, max_tokens)
}

/** Returns the sampling that a model takes. Claude takes one of temperature and top_p. */
function toSampling(sampling: Sampling, features: ModelFeatures, isThinking: boolean): Json {
  const { temperature, topP: top_p, topK: top_k } = sampling
  if (isThinking || !features.hasSampling) return {}
  const hasTopP = top_p !== undefined && !(features.isClaude && temperature !== undefined)
  return {
    ...(temperature !== undefined && { temperature: Math.min(Math.max(temperature, 0), 1) }),
    ...(hasTopP && { top_p }),
    ...(top_k !== undefined && { top_k }),
  }
}

/** A message of the Messages API. Roles alternate. */
interface Turn {
  role: 'user' | 'assistant'
  content: Json[]
}

/**
 * Converts messages to `system` and the turns of the Messages API. All system messages are in
 * `system`, but a conversation of nothing else is the turn of a user, which the API requires.
 */
function encodeConversation(messages: readonly Message[]): { system: Json[]; turns: Turn[] } {
  const system: Json[] = []
  const turns: Turn[] = []
  for (const message of messages) {
    if (isSystem(message)) {
      system.push(...message.content.flatMap(toTextBlock))
    } else if (message.role === 'assistant') {
      addTurn(turns, 'assistant', message.content.flatMap(toAssistantBlock))
    } else {
      const content =
        message.role === 'tool' ? [toToolResult(message)] : message.content.flatMap(toBlock)
      addTurn(turns, 'user', content)
    }
  }
  for (const turn of turns) turn.content = ordered(turn)
  const last = turns.at(-1)
  if (last?.role === 'assistant') trimEnd(last.content)
  return turns.length > 0 ? { system, turns } : { system: [], turns: userTurn(system) }
}

const userTurn = (content: Json[]): Turn[] =>
  content.length > 0 ? [{ role: 'user', content }] : []

/** Adds blocks to the last turn if it has the role, else as a turn. */
function addTurn(turns: Turn[], role: Turn['role'], content: Json[]): void {
  if (content.length === 0) return
  const last = turns.at(-1)
  if (last?.role !== role) turns.push({ role, content })
  else for (const block of content) last.content.push(block)
}

const isResult = ({ type }: Json): boolean => type === 'tool_result'
const isCall = ({ type }: Json): boolean => type === 'tool_use'
const isThinking = ({ type }: Json): boolean => type === 'thinking' || type === 'redacted_thinking'

/**
 * Returns blocks in the order that the API requires: results before all else, calls after the text
 * that follows a thought. Thoughts stay where they are.
 */
function ordered({ role, content }: Turn): Json[] {
  if (role === 'user') {
    return [...content.filter(isResult), ...content.filter((block) => !isResult(block))]
  }
  const sorted: Json[] = []
  let calls: Json[] = []
  for (const block of content) {
    if (isCall(block)) calls.push(block)
    else if (isThinking(block)) {
      sorted.push(...calls, block)
      calls = []
    } else sorted.push(block)
  }
  return [...sorted, ...calls]
}

/** Trims the end of a text that the model continues: the API rejects white space there. */
function trimEnd(content: Json[]): void {
  const last = content.at(-1)
  if (last?.type === 'text') last.text = asString(last.text).trimEnd()
}

/**
 * Returns whether the last turn has the results of calls whose thoughts are not sent. With a budget
 * for thinking, the API rejects it.
 */
function hasUnsignedCall(messages: unknown): boolean {
  const turns = recordsIn(messages)
  const blocksOf = (turn: Json | undefined): Json[] => recordsIn(turn?.content)
  if (!blocksOf(turns.at(-1)).some(isResult)) return false
  return !blocksOf(turns.findLast(({ role }) => role === 'assistant')).some(isThinking)
}

/** The API rejects texts without a visible character. */
const toTextBlock = (part: TextPart): Json[] =>
  part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, ...markOf(part.isCached) }]

function toAssistantBlock(part: AssistantMessage['content'][number]): Json[] {
  switch (part.type) {
    case 'text':
      return toTextBlock(part)
    case 'call':
      return [toToolUse(part)]
    case 'thinking': {
      const { text, signature, isEncrypted, origin } = part
      // The API rejects thoughts of other models.
      if (origin !== 'messages' || !signature) return []
      return isEncrypted
        ? [{ type: 'redacted_thinking', data: signature }]
        : [{ type: 'thinking', thinking: text, signature }]
    }
    default:
      // The API takes media from users and tools only.
      return []
  }
}

function toToolUse(call: CallPart): Json {
  const { id, name, isCached } = call
  return {
    type: 'tool_use',
    id: portableId(id),
    name,
    input: argumentsOf(call),
    ...markOf(isCached),
  }
}

/** Converts a result. Only the result as a whole may have a cache mark, not the blocks in it. */
function toToolResult({ callId, content, isError, isCached }: ToolMessage): Json {
  const hasMark = isCached === true || content.some((part) => part.isCached)
  const blocks = content.flatMap((part) => toBlock({ ...part, isCached: false }))
  // An error must have a text.
  if (blocks.length === 0 && isError) blocks.push({ type: 'text', text: 'Error' })
  const [first] = blocks
  const isText = blocks.length === 1 && first?.type === 'text'
  return {
    type: 'tool_result',
    tool_use_id: portableId(callId),
    ...markOf(hasMark),
    ...(blocks.length > 0 && { content: isText ? first.text : blocks }),
    ...(isError === true && { is_error: true }),
  }
}

const toBlock = (part: TextPart | MediaPart): Json[] =>
  part.type === 'text' ? toTextBlock(part) : [toMediaBlock(part)]

function toMediaBlock(part: MediaPart): Json {
  const { type, source } = part
  // The gateway has replaced uploads by their content.
  if (type === 'audio' || type === 'video' || 'fileId' in source) throw unsupported()
  if ('url' in source) {
    const block = type === 'image' ? 'image' : 'document'
    return { type: block, source: { type: 'url', url: source.url }, ...titleOf(part) }
  }
  const { data } = source
  const mediaType = mediaTypeOf(data, source.mediaType)
  if (type === 'image' || mediaType.startsWith('image/')) {
    // "image/*" names no type.
    const media_type = /^image\/\w/.test(mediaType) ? mediaType : 'image/jpeg'
    return { type: 'image', source: { type: 'base64', media_type, data }, ...markOf(part.isCached) }
  }
  return { type: 'document', source: toDocumentSource(data, mediaType), ...titleOf(part) }
}

const titleOf = (part: MediaPart): Json => ({
  ...(part.type === 'file' && part.filename && { title: part.filename }),
  ...markOf(part.isCached),
})

const textTypes = /^(text\/|application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|toml|sql)$)/

/** The API takes PDF and plain text. A file without a type is a PDF, as for OpenAI. */
function toDocumentSource(data: string, mediaType: string): Json {
  if (textTypes.test(mediaType)) {
    const text = Buffer.from(data, 'base64').toString()
    return { type: 'text', media_type: 'text/plain', data: text }
  }
  const isUnnamed = mediaType === '' || mediaType === 'application/octet-stream'
  if (!isUnnamed && mediaType !== 'application/pdf') throw unsupported()
  return { type: 'base64', media_type: 'application/pdf', data }
}

const unsupported = () => unsupportedMedia('text, images and PDF files')
