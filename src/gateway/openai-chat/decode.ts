/** One file, because the fields of a request and its messages are read together. */
import { ApiError, type FieldNames } from '../../kernel/errors.ts'
import { choicesMax } from '../../kernel/limits.ts'
import {
  asString,
  isRecord,
  itemsOf,
  type Json,
  lookUp,
  recordOf,
  recordsIn,
  toText,
} from '../../kernel/schema.ts'
import { isMarked } from '../conversation/cache-mark.ts'
import type {
  AssistantMessage,
  CallPart,
  ChatRequest,
  MediaPart,
  Message,
  OutputFormat,
  Reasoning,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
} from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { isMedia } from '../conversation/contents.ts'
import { openAiNames, readSampling } from '../conversation/sampling.ts'
import { endsThought, takeCallSignature } from '../conversation/sealed-thought.ts'
import {
  argumentsText,
  completeTool,
  originalId,
  readAbout,
  readFunction,
} from '../conversation/tools.ts'
import { findCount, invalidField, readFlag, searchIn } from '../fields.ts'
import { rejectUnpricedFields } from '../paid/unpriced-fields.ts'
import { convertFunctionMessages, convertFunctions } from './functions.ts'
import { type MediaKind, mediaKinds, readMedia } from './media.ts'
import {
  callSignatureOf,
  joinDetails,
  readDetails,
  readThinkingPart,
  thinkingTextOf,
} from './thinking.ts'

/** A parsed chat request, with the client's options of its response. */
interface DecodedOpenAiChat extends DecodedChat {
  /** True if the last chunk of the stream has the usage. */
  wantsUsage: boolean
  /** True if the client knows functions but no tools. */
  hasFunctions: boolean
}

/** `developerRole` replaces the role `developer`, which is rejected without it. */
interface DecodeOptions {
  developerRole?: 'system' | undefined
}

/**
 * Parses a chat request (document 2, section 4), messages first, in the order of section 7. Throws
 * `no_messages`, `bad_role`, `bad_part`, `no_usable_messages`, `bad_request`.
 */
export function decodeChat(raw: unknown, { developerRole }: DecodeOptions): DecodedOpenAiChat {
  const body = recordOf(raw)
  const sentMessages = insertFile(convertFunctionMessages(body.messages), body.file_id)
  const { sent, messages, needsRepair } = decodeMessages(sentMessages, developerRole)
  const {
    model,
    models,
    provider,
    file_id,
    usage,
    functions,
    function_call,
    random_seed,
    ...named
  } = body
  const { web_search, web_search_options, plugins, ...fields } = named
  rejectUnpricedFields(body, 'chat')
  checkTools(body.tools)
  const fromFunctions = convertFunctions(body)
  const options = body.stream_options ?? undefined
  if (options !== undefined && !isRecord(options)) {
    throw invalidField('stream_options', 'stream_options must be an object.')
  }
  // Mistral's name.
  const seed = fields.seed == null && random_seed != null && { seed: random_seed }
  const own: Json = { ...fields, ...seed, ...mapFields(fields), ...fromFunctions, messages: sent }
  if (Array.isArray(own.tools)) own.tools = recordsIn(own.tools).map(completeTool)
  return {
    model,
    models,
    provider,
    isStream: readFlag(body, 'stream'),
    wantsUsage: options?.include_usage === true || includesUsage(usage),
    request: {
      messages,
      ...readFields(own, body),
      ...(!needsRepair && { raw: { api: 'chat', body: own } }),
    },
    search: readFlag(body, 'web_search') || isRecord(web_search_options) || hasWebPlugin(plugins),
    hasFunctions: fromFunctions !== undefined,
  }
}

/** Returns the names of the fields in a request that this module reads under another name. */
export function sentNames(raw: unknown): FieldNames {
  const { web_search, web_search_options, plugins, max_tokens, max_completion_tokens } =
    recordOf(raw)
  const isOptions = isRecord(web_search_options)
  return {
    ...(web_search !== true && {
      // Without a field, the suffix `:online` of a model asks for the search.
      web_search: isOptions
        ? 'web_search_options'
        : searchIn(hasWebPlugin(plugins) ? 'plugins' : 'model'),
    }),
    ...(max_tokens == null &&
      max_completion_tokens != null && { max_tokens: 'max_completion_tokens' }),
  }
}

/**
 * Inserts the file of the request's field `file_id` (document 2) into the last user message. Throws
 * `bad_request`.
 */
function insertFile(messages: unknown, fileId: unknown): unknown {
  if (fileId === undefined || fileId === null || !Array.isArray(messages)) return messages
  const at = messages.findLastIndex((message) => isRecord(message) && message.role === 'user')
  if (at < 0 || typeof fileId !== 'string') {
    throw invalidField('file_id', 'file_id must be a string, and the request needs a user message.')
  }
  const message: unknown = messages[at]
  const content: unknown = isRecord(message) ? message.content : undefined
  const textParts =
    typeof content === 'string' && content !== '' ? [{ type: 'text', text: content }] : []
  const parts: unknown[] = Array.isArray(content) ? content : textParts
  const withFile = [...parts, { type: 'file', file_id: fileId }]
  return messages.with(at, Object.assign({}, message, { content: withFile }))
}

/** Returns the fields under the names that all upstreams know. Throws `bad_request`. */
function mapFields({ tool_choice, reasoning, reasoning_effort }: Json): Json {
  if (reasoning !== undefined && reasoning !== null && !isRecord(reasoning)) {
    throw invalidField('reasoning', 'reasoning must be an object.')
  }
  const { effort, enabled, max_tokens: budget } = recordOf(reasoning)
  // OpenRouter's default effort.
  const word = enabled === true && budget == null ? 'medium' : undefined
  const mappedEffort = reasoning_effort ?? effort ?? (enabled === false ? 'none' : word)
  return {
    // Mistral's name.
    ...(tool_choice === 'any' && { tool_choice: 'required' }),
    ...(mappedEffort !== undefined && { reasoning_effort: mappedEffort }),
  }
}

/** The client runs tools of these types. */
const toolTypes = ['function', 'custom']

/** Throws `bad_request` for tools that run at the upstream: no hold covers their cost. */
function checkTools(tools: unknown): void {
  if (tools === undefined || tools === null) return
  if (!Array.isArray(tools)) throw invalidField('tools', 'tools must be an array.')
  if (tools.every((tool) => isRecord(tool) && toolTypes.includes(toText(tool.type)))) return
  throw invalidField('tools', 'A tool must have the type function. Send web_search for a search.')
}

/** OpenRouter's field for usage in a stream, which OpenAI rejects. */
const includesUsage = (usage: unknown): boolean => isRecord(usage) && usage.include === true

/** OpenRouter's field for web search. Plugins are not forwarded: no hold covers their cost. */
const hasWebPlugin = (plugins: unknown): boolean =>
  Array.isArray(plugins) && plugins.some((plugin) => isRecord(plugin) && plugin.id === 'web')

const maxDefined = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? (a ?? b) : Math.max(a, b)

/** Reads the fields beside the messages. Those without a place in `ChatRequest` are its `extra`. */
function readFields(own: Json, sent: Json): Omit<ChatRequest, 'messages' | 'raw'> {
  const choice = readToolChoice(own.tool_choice)
  const format = readFormat(own.response_format)
  const reasoning = readReasoning(own)
  const isSerial = own.parallel_tool_calls === false
  const logprobs = own.logprobs === true ? readCount(own.top_logprobs) : undefined
  const choices = findCount(sent, 'n', choicesMax) ?? 1
  const outputMax = maxDefined(
    findCount(sent, 'max_tokens', Number.MAX_SAFE_INTEGER),
    findCount(sent, 'max_completion_tokens', Number.MAX_SAFE_INTEGER),
  )
  // Other values reach the upstream as they are.
  const numbers = Object.entries(own).filter(([, value]) => typeof value === 'number')
  const sampling = readSampling(Object.fromEntries(numbers), openAiNames)
  const extra = extraOf(own, {
    response_format: format !== undefined || recordOf(own.response_format).type === 'text',
    parallel_tool_calls: isSerial,
    logprobs: logprobs !== undefined,
    top_logprobs: logprobs !== undefined,
  })
  return {
    tools: recordsIn(own.tools).map(readTool),
    ...(choice !== undefined && { toolChoice: choice }),
    ...(isSerial && { isSerial }),
    ...(outputMax !== undefined && { outputMax }),
    choices,
    sampling,
    stop: [own.stop].flat().filter((text) => typeof text === 'string'),
    ...(reasoning && { reasoning }),
    ...(format && { format }),
    ...(logprobs !== undefined && { logprobs }),
    ...(isMarked(own) && { isCached: true }),
    extra,
  }
}

const samplingFields: readonly string[] = Object.values(openAiNames)

/** Fields that always have a place of their own in `ChatRequest`, or in the options around it. */
const placed = new Set([
  'messages',
  'stream',
  'stream_options',
  'n',
  'tools',
  'tool_choice',
  'max_tokens',
  'max_completion_tokens',
  'cache_control',
  'stop',
  'reasoning_effort',
])

/** Returns the other fields. `isRead` says which of those that may be odd were read. */
function extraOf(own: Json, isRead: Record<string, boolean>): Json {
  const extra: Json = {}
  for (const [name, value] of Object.entries(own)) {
    const isSampling = samplingFields.includes(name) && typeof value === 'number'
    if (!placed.has(name) && !isSampling && lookUp(isRead, name) !== true) extra[name] = value
  }
  return extra
}

const readCount = (value: unknown): number => (typeof value === 'number' ? value : 0)

function readTool({ type, function: called, custom, cache_control }: Json): Tool {
  const isCustom = type === 'custom'
  const definition = recordOf(isCustom ? custom : called)
  const { parameters, format, ...about } = definition
  const isCached = isMarked({ cache_control }) || isMarked(definition)
  return {
    ...readFunction({ ...about, parameters: isCustom ? format : parameters }),
    ...(isCustom && { isCustom }),
    ...(isCached && { isCached }),
  }
}

const nameOf = (tool: unknown): string => {
  const { function: called, custom, name } = recordOf(tool)
  return asString(recordOf(called ?? custom).name) || asString(name)
}

function readToolChoice(choice: unknown): ToolChoice | undefined {
  if (choice === 'auto' || choice === 'none' || choice === 'required') return choice
  if (!isRecord(choice)) return undefined
  if (choice.type !== 'allowed_tools') return { mode: 'required', names: [nameOf(choice)] }
  const { mode, tools } = recordOf(choice.allowed_tools)
  return { mode: mode === 'required' ? 'required' : 'auto', names: itemsOf(tools).map(nameOf) }
}

function readFormat(format: unknown): OutputFormat | undefined {
  const { type, json_schema } = recordOf(format)
  if (type === 'json_object') return { type: 'object' }
  if (type !== 'json_schema' || !isRecord(json_schema)) return undefined
  const { schema } = json_schema
  return isRecord(schema) ? { type: 'schema', schema, ...readAbout(json_schema) } : undefined
}

function readReasoning({ reasoning_effort: effort, reasoning }: Json): Reasoning | undefined {
  const { max_tokens: budget } = recordOf(reasoning)
  const read = {
    ...(typeof effort === 'string' && { effort }),
    ...(typeof budget === 'number' && budget > 0 && { budget }),
  }
  return Object.keys(read).length > 0 ? read : undefined
}

interface DecodedMessages {
  /** The messages as they were sent, with roles that upstreams know. */
  sent: Json[]
  messages: Message[]
  /** True if upstreams refuse the messages as they were sent. */
  needsRepair: boolean
}

/**
 * Parses the messages of a chat request in the order of section 7: missing, roles, parts, none
 * usable. `developerRole` replaces the role `developer`. Throws `no_messages`, `bad_role`,
 * `bad_part`, `no_usable_messages`, `bad_request`.
 */
function decodeMessages(raw: unknown, developerRole: 'system' | undefined): DecodedMessages {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const roles = new RoleReader(developerRole)
  const turns = raw.map((message: unknown) => roles.read(message))
  const contents = new ContentReader()
  const messages = turns.flatMap((turn) => contents.read(turn))
  if (!contents.isUsable) throw new ApiError('no_usable_messages')
  const needsRepair = roles.needsRepair || contents.needsRepair
  return { sent: turns.map(({ sent }) => sent), messages, needsRepair }
}

/** A message with its role, and the ids of its calls. */
interface Turn {
  sent: Json
  role: Message['role']
  callIds: string[]
  /** The call that a tool message replies to. */
  callId: string
}

/**
 * Checks the roles of messages. A tool message needs an earlier call of an assistant
 * (docs/spec/gateway-decisions.md, "Roles"). Calls and results without an id get one, in their
 * order, and so does a call whose id an earlier one has: some servers begin anew in each turn.
 */
class RoleReader {
  needsRepair = false
  /** By the id that the client sent: its calls without a result, in the last turn that has it. */
  private readonly known = new Map<unknown, { turn: number; ids: string[] }>()
  private open: string[] = []
  private count = 0

  constructor(private readonly developerRole: 'system' | undefined) {}

  read(message: unknown): Turn {
    if (!isRecord(message)) throw new ApiError('bad_role', {})
    const { role, tool_call_id: id, tool_calls } = message
    this.count += 1
    const turn = { sent: message, callIds: [], callId: '' }
    switch (role) {
      case 'developer':
        if (!this.developerRole) throw new ApiError('bad_role', { isDeveloper: true })
        return { ...turn, sent: { ...message, role: this.developerRole }, role: this.developerRole }
      case 'tool':
        return { ...turn, role, callId: this.readReply(id) }
      case 'assistant':
        return {
          ...turn,
          role,
          callIds: recordsIn(tool_calls).map((call, at) => this.readCall(call, at)),
        }
      case 'system':
      case 'user':
        return { ...turn, role }
      default:
        throw new ApiError('bad_role', { isDeveloper: false })
    }
  }

  private readReply(id: unknown): string {
    if (!isMissing(id)) {
      const { ids = [] } = this.known.get(id) ?? {}
      const own = ids.length > 1 ? ids.shift() : ids[0]
      if (own === undefined) throw new ApiError('bad_role', { isDeveloper: false })
      return own
    }
    const next = this.open.shift()
    if (next === undefined) throw new ApiError('bad_role', { isDeveloper: false })
    return next
  }

  private readCall({ id }: Json, at: number): string {
    if (at === 0) this.open = []
    const newId = `call_${this.count}_${at}`
    if (isMissing(id) || this.known.has(id)) this.needsRepair = true
    if (isMissing(id)) {
      this.open.push(newId)
      return newId
    }
    const earlier = this.known.get(id)
    const own = earlier ? newId : this.original(typeof id === 'string' ? id : JSON.stringify(id))
    if (earlier?.turn === this.count) earlier.ids.push(own)
    else this.known.set(id, { turn: this.count, ids: [own] })
    return own
  }

  private original(id: string): string {
    const original = originalId(id)
    if (original !== id) this.needsRepair = true
    return original
  }
}

const isMissing = (id: unknown): boolean => id === undefined || id === null || id === ''

/** Fields of messages that the conversation has in another form, and those that say nothing. */
const placedInMessages = new Set([
  'role',
  'content',
  'tool_calls',
  'tool_call_id',
  'refusal',
  'cache_control',
  'reasoning',
  'reasoning_content',
  'reasoning_details',
  'thinking_blocks',
  'provider_specific_fields',
  'annotations',
])

/** Parses the contents of messages. */
class ContentReader {
  needsRepair = false
  isUsable = false

  read({ sent, role, callIds, callId }: Turn): Message[] {
    const isAssistant = role === 'assistant'
    const parts = this.readContent(sent.content, isAssistant)
    const extra = messageExtra(sent)
    if (isAssistant) return [this.readAssistant(sent, parts, callIds, extra)]
    const content = parts.filter((part) => part.type === 'text' || isMedia(part))
    if (role === 'tool') {
      if (content.some(isMedia)) this.needsRepair = true
      return [{ role, callId, content, ...(isMarked(sent) && { isCached: true }), ...extra }]
    }
    const last = content.at(-1)
    if (isMarked(sent) && last) last.isCached = true
    if (role === 'user') return [{ role, content, ...extra }]
    // Only users may send media to other APIs.
    const media = content.filter(isMedia)
    const system: Message = {
      role,
      content: content.filter((part) => part.type === 'text'),
      ...extra,
    }
    return media.length > 0 ? [system, { role: 'user', content: media }] : [system]
  }

  private readAssistant(
    sent: Json,
    parts: AssistantMessage['content'],
    ids: string[],
    extra: { extra?: Json },
  ): AssistantMessage {
    // The default of Mistral's clients, and fields of LiteLLM's and of streams: others refuse them.
    const isIndexed = recordsIn(sent.thinking_blocks).some(({ index }) => index !== undefined)
    if (sent.prefix === false || hasLiteLlmFields(sent) || isIndexed) this.needsRepair = true
    const details = joinDetails(readDetails(sent))
    const sentCalls = recordsIn(sent.tool_calls)
    const calls = sentCalls.map((call, at) => this.readCall(call, ids[at] ?? ''))
    const thoughts: ThinkingPart[] = []
    for (const { index: _, ...detail } of details) {
      const call = detail.isEncrypted && calls.find(({ id }) => id === originalId(detail.id ?? ''))
      if (call && detail.origin === 'gemini') call.signature ??= detail.signature ?? ''
      else thoughts.push({ type: 'thinking', ...detail })
    }
    // Mistral's clients have the signature of a call in the content.
    for (const { signature } of calls) if (signature) takeCallSignature(parts, signature)
    for (const call of calls) {
      const signature = call.signature ?? takeCallSignature(parts)
      if (signature !== undefined) call.signature = signature
    }
    const text = thinkingTextOf(sent)
    // The text of OpenAI's encrypted thoughts is their summary.
    const textless = thoughts.find(
      ({ isEncrypted, origin }) => !isEncrypted || origin === 'responses',
    )
    // Some clients keep the text and the signature in separate fields.
    if (text !== '' && !thoughts.some((thought) => thought.text !== '')) {
      if (textless) textless.text = text
      else thoughts.unshift({ type: 'thinking', text })
    }
    const refusal = asString(sent.refusal)
    const content = [
      ...thoughts,
      ...parts,
      ...(refusal === '' ? [] : [{ type: 'text' as const, text: refusal, isDeclined: true }]),
      ...calls,
    ]
    const last = content.at(-1)
    if (isMarked(sent) && last && last.type !== 'thinking') last.isCached = true
    return { role: 'assistant', content, ...extra }
  }

  private readCall(call: Json, id: string): CallPart {
    const { type, custom } = call
    const isCustom = type === 'custom' || isRecord(custom)
    const called = recordOf(isCustom ? custom : call.function)
    const { name, arguments: args, input } = called
    const signature = callSignatureOf(call)
    const isMisplaced = isRecord(args) || hasLiteLlmFields(call) || isMarked(called)
    if (isMisplaced) this.needsRepair = true
    return {
      type: 'call',
      id,
      name: asString(name),
      arguments: isCustom ? asString(input) : argumentsText(args),
      ...(isCustom && { isCustom }),
      ...(signature !== undefined && { signature }),
      ...((isMarked(call) || isMarked(called)) && { isCached: true }),
    }
  }

  private readContent(content: unknown, isAssistant: boolean): AssistantMessage['content'] {
    if (content === undefined || content === null) return []
    if (typeof content === 'string') {
      if (content === '') return []
      this.isUsable = true
      return [{ type: 'text', text: content }]
    }
    if (!Array.isArray(content)) {
      throw invalidField('messages', 'A content must be a string or an array of parts.')
    }
    const parts = content.flatMap((part: unknown) => this.readPart(part, isAssistant))
    // An empty list, and an empty text between other parts, are refused by some and say nothing.
    const isEmptied = parts.length > 0 && parts.length < content.length
    if (content.length === 0 || isEmptied) this.needsRepair = true
    return joinThoughts(parts)
  }

  private readPart(part: unknown, isAssistant: boolean): AssistantMessage['content'] {
    if (!isRecord(part)) throw new ApiError('bad_part')
    const kind = mediaKinds.find((known) => known === part.type)
    if (kind) return [this.readMedia(kind, part)]
    if (part.type === 'text') return this.readText(part)
    if (isAssistant && part.type === 'refusal') {
      return [{ type: 'text', text: asString(part.refusal), isDeclined: true }]
    }
    if (!isAssistant || part.type !== 'thinking') throw new ApiError('bad_part')
    // Mistral's form, which others refuse.
    this.needsRepair = true
    const thought = readThinkingPart(part)
    const isEmpty = thought.text === '' && thought.signature === undefined
    return isEmpty ? [] : [{ type: 'thinking', ...thought }]
  }

  private readText(part: Json): TextPart[] {
    const { text } = part
    if (typeof text !== 'string') throw invalidField('messages', 'A text part needs a "text".')
    if (text === '') return []
    this.isUsable = true
    return [{ type: 'text', text, ...(isMarked(part) && { isCached: true }) }]
  }

  private readMedia(kind: MediaKind, part: Json): MediaPart {
    const { media, isRepaired } = readMedia(kind, part)
    this.isUsable = true
    if (isRepaired) this.needsRepair = true
    return media
  }
}

/** Joins a thought with its signature, which a stream has in a part of its own. */
function joinThoughts(parts: AssistantMessage['content']): AssistantMessage['content'] {
  const joined: AssistantMessage['content'] = []
  for (const part of parts) {
    const last = joined.at(-1)
    const isOpen = last?.type === 'thinking' && last.signature === undefined
    if (isOpen && part.type === 'thinking' && endsThought(part)) {
      Object.assign(last, part, { text: last.text + part.text })
    } else joined.push(part)
  }
  return joined
}

const hasLiteLlmFields = ({ provider_specific_fields: fields }: Json): boolean => isRecord(fields)

function messageExtra(message: Json): { extra?: Json } {
  let extra: Json | undefined
  for (const [name, value] of Object.entries(message)) {
    const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
    const isDefault = name === 'prefix' && value === false
    if (placedInMessages.has(name) || isEmpty || isDefault) continue
    extra ??= {}
    extra[name] = value
  }
  return extra ? { extra } : {}
}
