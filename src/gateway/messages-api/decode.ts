/** One file, because the fields of a request, its messages and its tools are read together. */
import { ApiError, type FieldNames } from '../../kernel/errors.ts'
import { searchesPerRequestMax } from '../../kernel/limits.ts'
import { isRecord, itemsOf, type Json, lookUp, recordOf, toText } from '../../kernel/schema.ts'
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
  Tool,
  ToolChoice,
  ToolMessage,
  UserMessage,
} from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { isSystem, mediaIn } from '../conversation/contents.ts'
import { effortOfBudget } from '../conversation/effort.ts'
import { mediaTypeOf, parseDataUrl } from '../conversation/media.ts'
import { readSampling } from '../conversation/sampling.ts'
import { parseSeal, signCalls } from '../conversation/sealed-thought.ts'
import { originalId } from '../conversation/tools.ts'
import { findCount, invalidField, readFlag, searchIn } from '../fields.ts'
import { threadUnsupported } from './client-api.ts'

/** A request of the Messages API, with the options of its response. */
interface DecodedMessages extends DecodedChat {
  /** False if the client does not want the text of the thinking. */
  showsThinking: boolean
  stopSequences: string[]
}

export const samplingNames = { temperature: 'temperature', topP: 'top_p', topK: 'top_k' } as const

/** Fields with the same meaning in a chat request of this gateway. */
export const sharedFields = [
  'model',
  'models',
  'provider',
  'web_search',
  ...Object.values(samplingNames),
] as const

/** Returns the names of a request's fields by those of the chat. */
export const fieldNames = (raw: unknown): FieldNames => ({
  stop: 'stop_sequences',
  response_format: 'output_config.format',
  reasoning_effort: recordOf(raw).thinking == null ? 'output_config.effort' : 'thinking',
  ...(recordOf(raw).web_search !== true && { web_search: searchIn('tools') }),
})

/** Fields that this module reads. */
const readFields = [
  'messages',
  'system',
  'max_tokens',
  'stream',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'context_management',
]

/** Fields that change the price, the cache or the records of Anthropic, never the response. */
export const ignoredFields = ['metadata', 'service_tier', 'cache_control', 'diagnostics', 'betas']

const knownFields = new Set<string>([...sharedFields, ...readFields, ...ignoredFields])

/** Betas that cost nothing beside the tokens. Anthropic rejects the fields of those not sent. */
const freeBetas =
  /^(claude-code|context-management|effort|fine-grained-tool-streaming|interleaved-thinking|mid-conversation-system|output-128k|pdfs|prompt-caching|prompt-caching-scope|structured-outputs|thinking-token-count|token-efficient-tools)-\d{4}-\d\d-\d\d$/

/**
 * Decodes a request of Anthropic's Messages API. A field that would change the response and has no
 * equivalent is an error (docs/spec/gateway-decisions.md, "Anthropic Messages"). Throws
 * `no_messages`, `bad_request`.
 */
export function decodeMessages(raw: unknown, headers = new Headers()): DecodedMessages {
  const body = recordOf(raw)
  if (body.thread) throw threadError()
  for (const [name, value] of Object.entries(body)) {
    if (knownFields.has(name) || isUnset(value)) continue
    throw invalidField(name.slice(0, 100), `${name.slice(0, 100)} is not supported. Remove it.`)
  }
  const isStream = readFlag(body, 'stream')
  checkContextManagement(body.context_management)
  const outputMax = findCount(body, 'max_tokens', Number.MAX_SAFE_INTEGER)
  const stop = readStopSequences(body.stop_sequences)
  const messages = readConversation(body.messages, body.system)
  const { hasSearch, ...tools } = readTools(body.tools, body.tool_choice)
  const search = readFlag(body, 'web_search') || hasSearch
  const hasUploads = mediaIn(messages).some(({ source }) => 'fileId' in source)
  return {
    request: {
      messages,
      ...tools,
      ...(outputMax !== undefined && { outputMax }),
      choices: 1,
      sampling: readSampling(body, samplingNames),
      stop,
      ...readOutputConfig(body),
      ...(isRecord(body.cache_control) && { isCached: true }),
      extra: {},
      // The gateway replaces uploads, and adds its own search. Anthropic needs more than a system.
      ...(!search &&
        !hasUploads &&
        !messages.every(isSystem) && {
          raw: { api: 'messages', body, headers: readHeaders(headers) },
        }),
    },
    model: body.model,
    models: body.models,
    provider: body.provider,
    search,
    isStream,
    showsThinking: recordOf(body.thinking).display !== 'omitted',
    stopSequences: stop,
  }
}

const threadError = () =>
  new ApiError('bad_request', {
    problem: 'Conversations are not stored. Remove "thread", and send all messages.',
    param: 'thread',
    code: threadUnsupported,
  })

const isUnset = (value: unknown): boolean =>
  value === null || value === undefined || (Array.isArray(value) && value.length === 0)

/** Clearing thinking only saves tokens, so models of others may ignore it. */
function checkContextManagement(raw: unknown): void {
  for (const edit of itemsOf(recordOf(raw).edits)) {
    const type = toText(recordOf(edit).type)
    if (type.startsWith('clear_thinking_')) continue
    throw invalidField('context_management', `context_management does not support ${type}.`)
  }
}

function readStopSequences(raw: unknown): string[] {
  const list: unknown = raw ?? []
  const isList = Array.isArray(list) && list.every((mark) => typeof mark === 'string')
  if (!isList) throw invalidField('stop_sequences', 'stop_sequences must be an array of strings.')
  return list
}

/**
 * Reads the fields for reasoning and for the format of the output. Anthropic's default effort is
 * high. Agents send it with every model, and models without reasoning reject an effort.
 */
function readOutputConfig({ thinking, output_config, output_format }: Json): {
  reasoning?: Reasoning
  format?: OutputFormat
} {
  const { effort, format = output_format, ...others } = recordOf(output_config)
  for (const [name, value] of Object.entries(others)) {
    if (isUnset(value)) continue
    throw invalidField('output_config', `output_config.${name} is not supported. Remove it.`)
  }
  const budget = readBudget(thinking)
  const { type = 'disabled', display } = recordOf(thinking)
  const reasoning = {
    ...(budget !== undefined && { effort: effortOfBudget(budget), budget }),
    ...(!isUnset(effort) && effort !== 'high' && { effort: readEffort(effort) }),
    ...(type !== 'disabled' && display !== 'omitted' && { summary: 'auto' }),
  }
  return {
    ...(Object.keys(reasoning).length > 0 && { reasoning }),
    ...(!isUnset(format) && { format: readFormat(format) }),
  }
}

function readEffort(effort: unknown): string {
  if (typeof effort === 'string') return effort
  throw invalidField('output_config', 'output_config.effort must be a string.')
}

/** Returns the budget of thinking tokens; undefined where the model decides. */
function readBudget(raw: unknown): number | undefined {
  if (raw === undefined || raw === null) return undefined
  const { type, budget_tokens: budget } = recordOf(raw)
  if (type === 'adaptive' || type === 'disabled' || type === 'between_tools') return undefined
  if (type !== 'enabled' || typeof budget !== 'number') {
    throw invalidField('thinking', 'thinking must be adaptive, disabled, or enabled with a budget.')
  }
  return budget
}

function readFormat(format: unknown): OutputFormat {
  const { type, schema } = recordOf(format)
  if (type !== 'json_schema' || !isRecord(schema)) {
    throw invalidField('output_config', 'The output format must be a json_schema with a schema.')
  }
  return { type: 'schema', name: 'output', schema, ...(isStrict(schema) && { isStrict: true }) }
}

/** Returns whether all objects of a schema require all their fields, as strict upstreams demand. */
function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (!isRecord(schema)) return true
  const { type, properties, required, additionalProperties } = schema
  const names = Object.keys(recordOf(properties))
  const isClosed = additionalProperties === false && itemsOf(required).length === names.length
  return (type !== 'object' || isClosed) && Object.values(schema).every(isStrict)
}

/** Returns the headers that belong to the API. */
function readHeaders(headers: Headers): Record<string, string> {
  const betas = (headers.get('anthropic-beta') ?? '').split(',').map((beta) => beta.trim())
  const free = betas.filter((beta) => freeBetas.test(beta)).join(',')
  return {
    'anthropic-version': headers.get('anthropic-version') ?? '2023-06-01',
    ...(free && { 'anthropic-beta': free }),
  }
}

const invalidMessage = (problem: string) => invalidField('messages', problem)

type Content = (TextPart | MediaPart)[]

/**
 * Reads `system` and `messages` of a request. All system messages become the first message, the
 * only place that most models accept. Throws `no_messages`, `bad_request`.
 */
function readConversation(raw: unknown, system: unknown): Message[] {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const callIds = new Set<unknown>()
  const systemTexts = readSystem(system)
  const messages = raw.flatMap((message: unknown): Message[] => {
    if (!isRecord(message)) throw invalidMessage('A message must be an object.')
    const { role, content } = message
    if (role === 'user') return readUser(content, callIds)
    if (role === 'assistant') return readAssistant(content, callIds)
    if (role !== 'system') {
      throw invalidMessage('The role of a message must be user, assistant or system.')
    }
    systemTexts.push(...readSystem(content))
    return []
  })
  return systemTexts.length > 0 ? [{ role: 'system', content: systemTexts }, ...messages] : messages
}

function readSystem(system: unknown): TextPart[] {
  if (system === undefined || system === null || system === '') return []
  if (typeof system !== 'string' && !Array.isArray(system)) {
    throw invalidField('system', 'system must be a string or an array of text blocks.')
  }
  return readContent(system).map((part) => {
    if (part.type === 'text') return part
    throw invalidField('system', 'system must contain only text.')
  })
}

function readUser(content: unknown, callIds: Set<unknown>): (UserMessage | ToolMessage)[] {
  if (typeof content === 'string') return [{ role: 'user', content: readContent(content) }]
  const blocks = blocksOf(content)
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => readToolResult(block, callIds))
  const parts = blocks.filter(({ type }) => type !== 'tool_result').flatMap(readBlock)
  return parts.length > 0 || results.length === 0
    ? [...results, { role: 'user', content: parts }]
    : results
}

function readToolResult(block: Json, callIds: Set<unknown>): ToolMessage {
  const { tool_use_id: id, content, is_error: isError } = block
  if (typeof id !== 'string' || !callIds.has(originalId(id))) {
    throw invalidMessage('A tool_result needs the tool_use_id of an earlier tool_use.')
  }
  return {
    role: 'tool',
    callId: originalId(id),
    content: content === undefined || content === null ? [] : readContent(content),
    ...(isError === true && { isError }),
    ...markOf(block),
  }
}

function readAssistant(content: unknown, callIds: Set<unknown>): AssistantMessage[] {
  if (typeof content === 'string') return [{ role: 'assistant', content: readText(content) }]
  const parts: AssistantMessage['content'] = []
  for (const block of blocksOf(content)) {
    if (block.type === 'tool_use') {
      parts.push(readToolUse(block, callIds))
    } else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      parts.push(...readThinking(block))
    } else {
      parts.push(...readBlock(block).map(toAssistantText))
    }
  }
  return parts.length > 0 ? [{ role: 'assistant', content: signCalls(parts) }] : []
}

function toAssistantText(part: TextPart | MediaPart): TextPart {
  if (part.type === 'text') return part
  throw invalidMessage('An assistant message must have text, thinking and tool_use blocks.')
}

function readToolUse(block: Json, callIds: Set<unknown>): CallPart {
  const { id, name, input } = block
  if (typeof id !== 'string' || typeof name !== 'string' || !isRecord(input)) {
    throw invalidMessage('A tool_use needs the strings id and name, and an object as input.')
  }
  const original = originalId(id)
  callIds.add(original)
  const call = { type: 'call' as const, id: original, name, arguments: JSON.stringify(input) }
  return { ...call, ...markOf(block) }
}

/** Reads a thought. One without a signature is not for the models that sign theirs. */
function readThinking({ type, thinking, signature, data }: Json): ThinkingPart[] {
  if (type === 'redacted_thinking') {
    if (typeof data !== 'string' || data === '') return []
    return [{ type: 'thinking', text: '', ...parseSeal(data, 'messages'), isEncrypted: true }]
  }
  const text = typeof thinking === 'string' ? thinking : ''
  const isSigned = typeof signature === 'string' && signature !== ''
  const seal = isSigned ? parseSeal(signature, 'messages') : undefined
  // The seal of a thought without a signature is empty.
  if (!seal?.signature) return text === '' ? [] : [{ type: 'thinking', text }]
  return [{ type: 'thinking', text, ...seal }]
}

/** Reads a content of text and media. Throws `bad_request`. */
const readContent = (content: unknown): Content =>
  typeof content === 'string' ? readText(content) : blocksOf(content).flatMap(readBlock)

/** Returns the blocks of a content that is no string. Throws `bad_request`. */
function blocksOf(content: unknown): Json[] {
  if (!Array.isArray(content)) {
    throw invalidMessage('A content must be a string or an array of blocks.')
  }
  return content.map((block: unknown) => {
    if (isRecord(block)) return block
    throw invalidMessage('A content block must be an object.')
  })
}

/** Returns a text as parts: none for an empty one, which providers reject. */
const readText = (text: string): TextPart[] => (text === '' ? [] : [{ type: 'text', text }])

/** Reads a mark for prompt caching. Its `ttl` is left out: an hour costs more. */
const markOf = ({ cache_control: mark }: Json): { isCached?: boolean } =>
  isRecord(mark) ? { isCached: true } : {}

/** Reads a block. A mark is on the last of its parts. */
function readBlock(block: Json): Content {
  const parts = partsOf(block)
  const last = parts.at(-1)
  return last ? [...parts.slice(0, -1), { ...last, ...markOf(block) }] : []
}

const partTypes = 'text, image, document or search_result'

function partsOf(block: Json): Content {
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw invalidMessage('A text block needs a "text".')
      return readText(block.text)
    case 'image':
      return [readImage(block)]
    case 'document':
      return readDocument(block)
    case 'search_result':
      return readText(readSearchResult(block))
    default:
      throw invalidMessage(
        `A content block of the type ${toText(block.type)} is not supported here. Send ${partTypes}.`,
      )
  }
}

/** Reads a source of data; undefined for another type of source. */
function readSource({ type, media_type, data, url, file_id }: Json): MediaSource | undefined {
  if (type === 'file') return { fileId: readFileId(file_id) }
  if (type === 'url' && typeof url === 'string') return parseDataUrl(url) ?? { url }
  if (type !== 'base64' || typeof data !== 'string') return undefined
  return { data, mediaType: mediaTypeOf(data, toText(media_type)) }
}

function readFileId(id: unknown): string {
  if (typeof id === 'string') return id
  throw invalidMessage('A file_id must be a string.')
}

function readImage({ source: raw }: Json): MediaPart {
  const source = readSource(recordOf(raw))
  if (source === undefined) {
    throw invalidMessage('The source of an image must have the type base64, url or file.')
  }
  return { type: 'image', source }
}

function readDocument({ source: raw, title, context, citations }: Json): Content {
  if (recordOf(citations).enabled === true) throw citationsError()
  const own = recordOf(raw)
  const notes = typeof context === 'string' ? readText(context) : []
  const name = typeof title === 'string' && title !== '' ? title : undefined
  if (own.type === 'text' && typeof own.data === 'string') {
    return [...notes, ...readText(name ? `File "${name}":\n${own.data}` : own.data)]
  }
  if (own.type === 'content') {
    return [...notes, ...readText(name ? `File "${name}":` : ''), ...readContent(own.content)]
  }
  const source = readSource(own)
  if (source === undefined) {
    throw invalidMessage(
      'The source of a document must have the type base64, url, text, content or file.',
    )
  }
  // An upload has a name of its own.
  const filename = 'fileId' in source ? undefined : (name ?? 'document.pdf')
  return [...notes, { type: 'file', source, ...(filename !== undefined && { filename }) }]
}

const citationsError = () =>
  invalidMessage('Citations of documents are not supported. Remove "citations".')

function readSearchResult({ source, title, content, citations }: Json): string {
  if (recordOf(citations).enabled === true) throw citationsError()
  const texts = readContent(content).map((part) => {
    if (part.type === 'text') return part.text
    throw invalidMessage('A search_result must contain text.')
  })
  return `${toText(title)}\n${toText(source)}\n${texts.join('\n\n')}`
}

const invalidTool = (problem: string) => invalidField('tools', problem)

interface ReadTools extends Pick<ChatRequest, 'tools' | 'toolChoice' | 'isSerial'> {
  /** True if Anthropic's web search is among the tools. */
  hasSearch: boolean
}

/** Reads the tools of a request and the choice among them. Throws `bad_request`. */
function readTools(raw: unknown, choice: unknown): ReadTools {
  const list: unknown = raw ?? []
  if (!Array.isArray(list)) throw invalidTool('tools must be an array.')
  const all = list.map((tool: unknown) => {
    if (isRecord(tool)) return tool
    throw invalidTool('A tool must be an object.')
  })
  const searches = all.filter(isSearch)
  for (const search of searches) checkSearch(search)
  const tools = all.filter((tool) => !isSearch(tool)).map(readTool)
  return {
    tools,
    ...readToolChoice(choice, tools.length > 0, searches),
    hasSearch: searches.length > 0,
  }
}

/** Returns whether a tool is Anthropic's web search, in any of its versions. */
const isSearch = ({ type }: Json): boolean => /^web_search_\d+$/.test(toText(type))

/** Throws `bad_request` for options of a search that have no effect here. */
function checkSearch(tool: Json): void {
  for (const name of ['allowed_domains', 'blocked_domains', 'user_location']) {
    const value = tool[name] ?? []
    if (Array.isArray(value) && value.length === 0) continue
    throw invalidTool(`web_search does not support ${name}. Remove it.`)
  }
  const { max_uses: max = searchesPerRequestMax } = tool
  if (typeof max === 'number' && max >= searchesPerRequestMax) return
  if (max !== null) {
    throw invalidTool(`max_uses of web_search must be at least ${searchesPerRequestMax}.`)
  }
}

function readTool(tool: Json): Tool {
  const { type, name, description, input_schema: parameters, strict, input_examples } = tool
  if (type !== undefined && type !== null && type !== 'custom') {
    throw invalidTool(
      `A tool of the type ${toText(type)} is not supported. Send it with a name and an input_schema.`,
    )
  }
  if (typeof name !== 'string' || name === '' || !isRecord(parameters)) {
    throw invalidTool('A tool needs a name and an input_schema.')
  }
  const examples = Array.isArray(input_examples)
    ? input_examples.map((example) => `\nExample: ${JSON.stringify(example)}`).join('')
    : ''
  const text = `${typeof description === 'string' ? description : ''}${examples}`
  return {
    name,
    ...(text !== '' && { description: text }),
    parameters,
    ...(typeof strict === 'boolean' && { isStrict: strict }),
    ...(isRecord(tool.cache_control) && { isCached: true }),
  }
}

function readToolChoice(
  raw: unknown,
  hasTools: boolean,
  searches: Json[],
): Pick<ChatRequest, 'toolChoice' | 'isSerial'> {
  if (raw === undefined || raw === null) return {}
  if (!isRecord(raw)) throw invalidChoice()
  const { type, name, disable_parallel_tool_use: isSerial } = raw
  // The gateway's own search is not among the tools: the model decides whether to search.
  if (searches.some((search) => search.name === name)) return {}
  const toolChoice = toolChoiceOf(type, name)
  if (!hasTools) {
    if (toolChoice === 'auto' || toolChoice === 'none' || searches.length > 0) return {}
    throw invalidField('tool_choice', 'This tool_choice needs at least one tool.')
  }
  return { toolChoice, ...(isSerial === true && { isSerial }) }
}

const choices: Record<string, 'auto' | 'required' | 'none'> = {
  auto: 'auto',
  any: 'required',
  none: 'none',
}

function toolChoiceOf(type: unknown, name: unknown): ToolChoice {
  if (type === 'tool' && typeof name === 'string') return { mode: 'required', names: [name] }
  const choice = lookUp(choices, type)
  if (choice === undefined) throw invalidChoice()
  return choice
}

const invalidChoice = () =>
  invalidField(
    'tool_choice',
    'tool_choice must have the type auto, any, none, or tool with a name.',
  )
