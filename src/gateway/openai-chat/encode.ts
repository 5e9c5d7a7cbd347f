/** One file, because the fields of a request and its messages are written together. */
import { isRecord, type Json, pickFields, recordOf, recordsIn } from '../../kernel/schema.ts'
import { isMarked, markOf, withoutTtl } from '../conversation/cache-mark.ts'
import type {
  AssistantMessage,
  CallPart,
  ChatRequest,
  Message,
  OutputFormat,
  TextPart,
  ThinkingPart,
  Tool,
  ToolChoice,
  ToolMessage,
  UserMessage,
} from '../conversation/chat-request.ts'
import type { EncodedRequest, Target, UpstreamCodec } from '../conversation/codec.ts'
import { isMedia } from '../conversation/contents.ts'
import { effortOf } from '../conversation/effort.ts'
import { openAiNames, writeSampling } from '../conversation/sampling.ts'
import { objectText, schemaOf } from '../conversation/tools.ts'
import { type Family, familyOf } from './families.ts'
import { writeMedia } from './media.ts'
import { createChatReader, readWholeChat } from './read.ts'
import {
  blocksField,
  callDetail,
  type Detail,
  extraContentOf,
  numbered,
  readDetails,
  textOf,
  textParts,
  thinkingPart,
  thinkingTextOf,
  writeDetails,
} from './thinking.ts'

/** Differences of an upstream's HTTP API from OpenAI's current one. */
export interface ChatDialect {
  /** Its name for the output token limit; when undefined, the client's names are kept. */
  outputName?: 'max_completion_tokens' | 'max_tokens' | undefined
  /** It rejects `stream_options` and always sends the usage. */
  rejectsStreamOptions?: boolean | undefined
  /** Its family; by default that of an unknown upstream. */
  family?: Family
}

const unknownUpstream = familyOf('')

/** Creates the codec of an upstream with OpenAI's chat API. */
export const createChatCodec = (dialect: ChatDialect): UpstreamCodec => ({
  api: 'chat',
  encode: (request, target) => encodeChat(request, target, dialect),
  ignoredFields: (request) => ignoredFields(request, dialect.family ?? unknownUpstream),
  readWhole: readWholeChat,
  createReader: createChatReader,
})

/**
 * Encodes a chat. Listed fields of a client with this API pass unchanged, others are left out,
 * because they may cost more than the hold.
 */
export function encodeChat(
  request: ChatRequest,
  target: Target,
  dialect: ChatDialect,
): EncodedRequest {
  const family = dialect.family ?? unknownUpstream
  const own = ownBodyOf(request)
  const body = own ?? bodyOf(request, family)
  const messages =
    own && !needsRewrite(own.messages, family)
      ? own.messages
      : encodeMessages(request.messages, family)
  const picked = nameSeed(joinEffort(pickFields({ ...body, messages }, family.fields)), family)
  const { cache_control, ...unmarked } = allowTools(picked, family)
  const sent: Json = {
    ...unmarked,
    ...(family.hasCacheMarks && cache_control !== undefined && { cache_control }),
    ...streamField(picked, target),
  }
  const json = {
    ...sent,
    ...outputLimit(sent, target, dialect),
    model: target.model,
    ...streamOptions(sent, dialect),
  }
  return { path: '/chat/completions', body: withDefaultCacheTtl(json, family) }
}

/** Returns the client's own body, where it has this API. */
const ownBodyOf = ({ raw }: ChatRequest): Json | undefined =>
  raw?.api === 'chat' ? raw.body : undefined

/** Fields that the codec sets itself. */
const ownFields = ['model', 'messages', 'stream', 'stream_options']

/** Returns the fields of a request that have a value and that the family does not know. */
function ignoredFields(request: ChatRequest, family: Family): string[] {
  const body = ownBodyOf(request) ?? bodyOf(request, family)
  return Object.keys(body).filter(
    (name) =>
      !family.fields.has(name) && !ownFields.includes(name) && (body[name] ?? null) !== null,
  )
}

/** Writes the fields of a request beside its messages. */
function bodyOf(request: ChatRequest, family: Family): Json {
  const { tools, toolChoice, sampling, stop, format, logprobs, reasoning, extra } = request
  // A client of this API has the budget in its own field.
  const hasOwnBudget = isRecord(extra.reasoning)
  const effort = hasOwnBudget ? reasoning?.effort : effortOf(reasoning)
  return {
    ...extra,
    ...(tools.length > 0 && { tools: tools.map((tool) => writeTool(tool, family)) }),
    ...(toolChoice !== undefined && { tool_choice: writeToolChoice(toolChoice, tools) }),
    ...(request.isSerial && { parallel_tool_calls: false }),
    ...(request.outputMax !== undefined && { max_tokens: request.outputMax }),
    ...(request.choices > 1 && { n: request.choices }),
    ...writeSampling(sampling, openAiNames),
    ...(stop.length > 0 && { stop: stop.slice(0, family.stopsMax) }),
    ...(effort !== undefined && { reasoning_effort: effort }),
    ...(format && { response_format: writeFormat(format) }),
    ...(logprobs !== undefined && { logprobs: true }),
    ...(logprobs !== undefined && logprobs > 0 && { top_logprobs: logprobs }),
    ...markOf(request.isCached),
  }
}

function writeTool(tool: Tool, { hasCacheMarks }: Family): Json {
  const { name, description, parameters, isStrict, isCustom, isCached } = tool
  const about = { name, ...(description !== undefined && { description }) }
  const mark = hasCacheMarks ? markOf(isCached) : {}
  if (isCustom) {
    return {
      type: 'custom',
      custom: { ...about, ...(parameters && { format: parameters }) },
      ...mark,
    }
  }
  return {
    type: 'function',
    function: {
      ...about,
      parameters: schemaOf(tool),
      ...(isStrict !== undefined && { strict: isStrict }),
    },
    ...mark,
  }
}

function writeToolChoice(choice: ToolChoice, tools: Tool[]): unknown {
  if (typeof choice === 'string') return choice
  const { mode, names } = choice
  const allowed = names.map((name) => {
    const isCustom = tools.some((tool) => tool.name === name && tool.isCustom)
    return isCustom
      ? { type: 'custom', custom: { name } }
      : { type: 'function', function: { name } }
  })
  return mode === 'required' && allowed.length === 1
    ? allowed[0]
    : { type: 'allowed_tools', allowed_tools: { mode, tools: allowed } }
}

function writeFormat(format: OutputFormat): Json {
  if (format.type === 'object') return { type: 'json_object' }
  const { schema, name = 'response', description, isStrict } = format
  const about = { name, ...(description !== undefined && { description }) }
  const strict = isStrict === undefined ? {} : { strict: isStrict }
  return { type: 'json_schema', json_schema: { ...about, schema, ...strict } }
}

/** Leaves only the allowed tools for an upstream that does not know such a choice. */
function allowTools(body: Json, { hasAllowedTools }: Family): Json {
  const choice = recordOf(body.tool_choice)
  if (hasAllowedTools || choice.type !== 'allowed_tools') return body
  const { mode, tools } = recordOf(choice.allowed_tools)
  const names = new Set(recordsIn(tools).map(toolName))
  const allowed = recordsIn(body.tools).filter((tool) => names.has(toolName(tool)))
  return { ...body, tools: allowed, tool_choice: mode }
}

const toolName = ({ function: called, custom, name }: Json): unknown =>
  recordOf(called ?? custom).name ?? name

/** Moves the effort into `reasoning`, because OpenRouter rejects two of them. */
function joinEffort({ reasoning_effort: effort, ...body }: Json): Json {
  if (effort === undefined) return body
  if (!isRecord(body.reasoning)) return { ...body, reasoning_effort: effort }
  return { ...body, reasoning: { effort, ...body.reasoning } }
}

const nameSeed = ({ seed, ...body }: Json, { seedName = 'seed' }: Family): Json =>
  seed === undefined ? body : { ...body, [seedName]: seed }

function streamField({ stream }: Json, { isStream }: Target): Json {
  if ((stream === true) === isStream) return {}
  return { stream: isStream ? true : undefined }
}

/** Requests the usage of every stream, because the charge depends on it. */
function streamOptions(body: Json, { rejectsStreamOptions }: ChatDialect): Json {
  if (rejectsStreamOptions) return { stream_options: undefined }
  if (body.stream !== true) return {}
  return { stream_options: { ...recordOf(body.stream_options), include_usage: true } }
}

/** Sets the lower output token limit of client and hold, under the name that the upstream knows. */
function outputLimit(body: Json, target: Target, { outputName }: ChatDialect): Json {
  const { max_tokens, max_completion_tokens } = body
  const limits = [max_tokens, max_completion_tokens].filter((limit) => typeof limit === 'number')
  if (limits.length === 0 && target.stopsItself) return {}
  const limit = Math.min(...limits, target.outputMax)
  if (outputName) {
    return { max_tokens: undefined, max_completion_tokens: undefined, [outputName]: limit }
  }
  if (typeof max_completion_tokens !== 'number') return { max_tokens: limit }
  return {
    ...(typeof max_tokens === 'number' && { max_tokens: limit }),
    max_completion_tokens: limit,
  }
}

/**
 * Removes `ttl` from cache marks: an hour in the cache costs more than the price covers. Schemas
 * and examples of the client keep their own fields of that name.
 */
function withDefaultCacheTtl(body: Json, { hasCacheMarks }: Family): Json {
  const tools = recordsIn(body.tools)
  const toolMarks = tools.flatMap((tool) => [tool, recordOf(tool.function)])
  const messages = recordsIn(body.messages)
  const parts = messages.flatMap((message) => [
    message,
    ...recordsIn(message.content),
    ...recordsIn(message.tool_calls),
  ])
  const hasMarks = toolMarks.some(isMarked)
  const unmark = (value: Json): Json => (hasCacheMarks ? withoutTtl(value) : withoutMark(value))
  const isLong = [body, ...toolMarks, ...parts].some(
    (value) => recordOf(value.cache_control).ttl != null,
  )
  if (!isLong && (hasCacheMarks || !hasMarks)) return body
  return {
    ...withoutTtl(body),
    ...(tools.length > 0 && {
      tools: tools.map((tool) =>
        unmark(isRecord(tool.function) ? { ...tool, function: unmark(tool.function) } : tool),
      ),
    }),
    messages: messages.map((message) => withMarks(message, unmark)),
  }
}

function withMarks(message: Json, unmark: (value: Json) => Json): Json {
  const { content, tool_calls } = message
  return unmark({
    ...message,
    ...(Array.isArray(content) && { content: recordsIn(content).map(unmark) }),
    ...(Array.isArray(tool_calls) && { tool_calls: recordsIn(tool_calls).map(unmark) }),
  })
}

const withoutMark = ({ cache_control: _, ...value }: Json): Json => value

/** Writes a conversation for the upstreams of a family. Throws `bad_request`. */
function encodeMessages(messages: readonly Message[], family: Family): Json[] {
  const writer = new MessageWriter(family)
  for (const message of messages) writer.add(message)
  return writer.end()
}

/** Returns whether a family refuses messages that others take, or loses what they say. */
function needsRewrite(messages: unknown, family: Family): boolean {
  const { thinking, hasCacheMarks, callId, hasStrictTurns, hasBareMedia } = family
  const sent = recordsIn(messages)
  if (hasStrictTurns && sent.some((message, at) => isOutOfTurn(message, sent[at - 1]))) return true
  const last = sent.at(-1)
  if (hasStrictTurns && last?.role === 'assistant' && last.prefix !== true) return true
  return sent.some((message) => {
    const calls = recordsIn(message.tool_calls)
    const ids = [...calls.map(({ id }) => id), message.tool_call_id]
    if (callId && ids.some((id) => typeof id === 'string' && callId(id) !== id)) return true
    const parts = recordsIn(message.content)
    if (hasBareMedia && parts.some(hasWrappedMedia)) return true
    if (!hasCacheMarks && [message, ...parts, ...calls].some(isMarked)) return true
    if (message.role !== 'assistant' || !hasThinking(message)) return false
    if (thinking === 'details') return !message.reasoning_details && readDetails(message).length > 0
    return thinking !== 'reasoning_content' || textOf(message.reasoning_content) === ''
  })
}

const hasWrappedMedia = ({ file, input_audio }: Json): boolean =>
  isRecord(file) || isRecord(input_audio)

const isOutOfTurn = ({ role }: Json, before: Json | undefined): boolean =>
  role === 'user' && before?.role === 'tool'

const hasThinking = (message: Json): boolean =>
  thinkingTextOf(message) !== '' || readDetails(message).length > 0

class MessageWriter {
  private readonly written: Json[] = []
  /** Media of tool results, which only a user message may have. */
  private media: Json[] = []

  constructor(private readonly family: Family) {}

  add(message: Message): void {
    switch (message.role) {
      case 'tool':
        return this.addResult(message)
      case 'user':
        return this.addUser(message)
      case 'assistant':
        this.addMedia()
        return void this.written.push(this.writeAssistant(message))
      default:
        this.addMedia()
        this.written.push({
          role: message.role,
          ...message.extra,
          content: this.writeTexts(message.content),
        })
    }
  }

  end(): Json[] {
    this.addMedia()
    const last = this.written.at(-1)
    const isPrefix = last?.role === 'assistant' && last.tool_calls === undefined
    if (this.family.hasStrictTurns && isPrefix) last.prefix = true
    return this.written
  }

  private addMedia(): void {
    if (this.media.length > 0) this.pushUser({ content: this.media })
    this.media = []
  }

  private pushUser(sent: Json): void {
    const message = { role: 'user', ...sent }
    if (this.family.hasStrictTurns && isOutOfTurn(message, this.written.at(-1))) {
      this.written.push({ role: 'assistant', content: 'OK.' })
    }
    this.written.push(message)
  }

  private addUser({ content, extra }: UserMessage): void {
    const parts = content.map((part) =>
      isMedia(part) ? writeMedia(part, this.family) : this.writeText(part),
    )
    const all = [...this.media, ...parts]
    this.media = []
    this.pushUser({ ...extra, content: simple(all) })
  }

  private addResult(message: ToolMessage): void {
    const { callId, content, isError, isCached, extra } = message
    const id = this.idOf(callId)
    const texts = content.filter((part) => part.type === 'text')
    const media = content.filter(isMedia)
    if (media.length > 0) {
      texts.push({ type: 'text', text: 'The media of this result are in the next message.' })
      this.media.push(
        { type: 'text', text: `Media of the result of ${id}:` },
        ...media.map((part) => writeMedia(part, this.family)),
      )
    }
    // Chats have no field for a failed call.
    if (isError) texts.splice(0, 1, failed(texts[0]))
    const last = texts.at(-1) ?? { type: 'text', text: '' }
    const parts = [...texts.slice(0, -1), isCached ? { ...last, isCached } : last]
    this.written.push({
      role: 'tool',
      tool_call_id: id,
      ...extra,
      content: this.writeTexts(parts),
    })
  }

  private writeAssistant({ content, extra }: AssistantMessage): Json {
    const words = content.filter((part) => part.type === 'text')
    const texts = words.filter(({ isDeclined }) => !isDeclined)
    const declined = words.filter(({ isDeclined }) => isDeclined)
    const calls = content.filter((part) => part.type === 'call')
    const thoughts = content.filter((part) => part.type === 'thinking')
    const others = content.filter(isMedia)
    const written: string | Json[] =
      others.length > 0
        ? [
            ...texts.map((part) => this.writeText(part)),
            ...others.map((part) => writeMedia(part, this.family)),
          ]
        : this.writeTexts(texts)
    const isBare = written === '' && (calls.length > 0 || declined.length > 0)
    const refusal = declined.map(({ text }) => text).join('')
    return {
      role: 'assistant',
      ...extra,
      content: isBare ? null : written,
      ...(refusal !== '' && { refusal }),
      ...this.writeThinking(thoughts, calls, written),
      ...(calls.length > 0 && { tool_calls: calls.map((call) => this.writeCall(call)) }),
    }
  }

  private writeThinking(
    thoughts: ThinkingPart[],
    calls: CallPart[],
    content: string | Json[],
  ): Json {
    const text = thoughts.map((thought) => thought.text).join('')
    const isSigned = ({ signature }: ThinkingPart): boolean => signature !== undefined
    switch (this.family.thinking) {
      case 'none':
        return {}
      case 'reasoning':
        return text === '' ? {} : { reasoning: text }
      case 'parts': {
        // Mistral does not know the signatures of other APIs.
        const own = thoughts.map((thought) =>
          thought.origin === 'chat' ? thought : { text: thought.text },
        )
        const known = own.filter((thought) => thought.text !== '' || 'signature' in thought)
        const others = typeof content === 'string' ? textParts(content) : content
        return known.length === 0 ? {} : { content: [...known.map(thinkingPart), ...others] }
      }
      case 'details': {
        const details: Detail[] = [
          ...thoughts.filter(isSigned),
          ...calls.flatMap(({ id, signature }) => callDetail(id, signature)),
        ]
        return {
          ...(text !== '' && { reasoning: text }),
          ...(details.length > 0 && {
            reasoning_details: writeDetails(numbered(details)),
          }),
        }
      }
      case 'reasoning_content': {
        return {
          ...(text !== '' && { reasoning_content: text }),
          ...(this.hasMarks && blocksField(thoughts)),
        }
      }
    }
  }

  private writeCall(call: CallPart): Json {
    const { name, isCustom, signature, isCached } = call
    const called = isCustom
      ? { type: 'custom', custom: { name, input: call.arguments } }
      : { type: 'function', function: { name, arguments: objectText(call) } }
    return {
      id: this.idOf(call.id),
      ...called,
      ...(this.family.hasExtraContent && extraContentOf(signature)),
      ...(this.hasMarks && markOf(isCached)),
    }
  }

  private get hasMarks(): boolean {
    return this.family.hasCacheMarks === true
  }

  private idOf(id: string): string {
    return this.family.callId?.(id) ?? id
  }

  private writeText({ text, isCached }: TextPart): Json {
    return { type: 'text', text, ...(this.hasMarks && markOf(isCached)) }
  }

  /** Returns texts as one string, which all upstreams take, where no part is marked. */
  private writeTexts(parts: readonly TextPart[]): string | Json[] {
    const isMarkedFor = this.hasMarks && parts.some(({ isCached }) => isCached)
    return isMarkedFor
      ? parts.map((part) => this.writeText(part))
      : parts.map(({ text }) => text).join('\n\n')
  }
}

const failed = (part: TextPart | undefined): TextPart => ({
  ...part,
  type: 'text',
  text: `Error: ${part?.text ?? ''}`,
})

/** Returns the content of one text part as a string, which all upstreams take. */
function simple(parts: Json[]): string | Json[] {
  const [first, ...others] = parts
  if (!first) return ''
  const isText = others.length === 0 && first.type === 'text' && !isRecord(first.cache_control)
  return isText && typeof first.text === 'string' ? first.text : parts
}
