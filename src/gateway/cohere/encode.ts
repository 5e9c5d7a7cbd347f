import { type Json, lookUp, pickFields, recordOf, recordsIn } from '../../kernel/schema.ts'
import type {
  AssistantMessage,
  CallPart,
  ChatRequest,
  MediaPart,
  Message,
  Reasoning,
  TextPart,
  Tool,
  ToolMessage,
} from '../conversation/chat-request.ts'
import type { EncodedRequest, Target, UpstreamCodec } from '../conversation/codec.ts'
import { isSystem } from '../conversation/contents.ts'
import { shareOfEffort } from '../conversation/effort.ts'
import { dataUrlOf, labelByContent } from '../conversation/media.ts'
import { unknownFields, writeSampling } from '../conversation/sampling.ts'
import { allowedTools, completeTool, modeOf, objectText, schemaOf } from '../conversation/tools.ts'
import { rejectChoices, rejectCustomTools, unsupportedMedia } from '../conversation/unsupported.ts'
import { passedFields, samplingNames } from './decode.ts'
import { CohereReader, readWhole } from './read.ts'

declare module '../conversation/chat-request.ts' {
  interface Apis {
    cohere: true
  }
}

/** Cohere's chat API as that of an upstream. */
export const cohereCodec: UpstreamCodec = {
  api: 'cohere',
  encode: encodeCohere,
  ignoredFields,
  readWhole,
  createReader: () => new CohereReader(),
}

function encodeCohere(request: ChatRequest, target: Target): EncodedRequest {
  const { raw, outputMax = Infinity } = request
  const limit = Math.min(outputMax, target.outputMax)
  const { stream, ...body } =
    raw?.api === 'cohere'
      ? encodeOwn(raw.body, limit < outputMax ? limit : Infinity)
      : buildBody(request, limit)
  const hasStream = target.isStream || stream !== undefined
  return {
    path: '/chat',
    body: {
      ...body,
      model: target.model,
      ...(!target.stopsItself && { max_tokens: limit }),
      ...(hasStream && { stream: target.isStream }),
    },
  }
}

/**
 * Returns a client's own request without empty texts and schemas, with the types that its images
 * have by their content, and with a budget of thoughts within a limit that the hold lowers.
 */
function encodeOwn(body: Json, limit: number): Json {
  const { messages, thinking, tools, ...others } = pickFields(body, passedFields)
  const { token_budget: budget } = recordOf(thinking)
  const within = typeof budget === 'number' && { token_budget: budgetWithin(budget, limit) }
  return {
    ...others,
    messages: recordsIn(messages).flatMap(encodeOwnMessage),
    ...(tools !== undefined && { tools: recordsIn(tools).map(completeTool) }),
    ...(thinking != null && { thinking: { ...recordOf(thinking), ...within } }),
  }
}

/** Corrects a message. One of nothing but empty texts is left out, except calls and results. */
function encodeOwnMessage(message: Json): Json[] {
  if (!Array.isArray(message.content)) return [message]
  const content = recordsIn(message.content)
    .filter(({ type, text }) => type !== 'text' || text !== '')
    .map((part) => {
      const image = recordOf(part.image_url)
      if (typeof image.url !== 'string') return part
      return { ...part, image_url: { ...image, url: labelByContent(image.url) } }
    })
  if (content.length > 0) return [{ ...message, content }]
  if (message.role === 'tool') return [{ ...message, content: '' }]
  const { content: _, ...others } = message
  return recordsIn(message.tool_calls).length > 0 ? [others] : []
}

/** Returns the fields of OpenAI's chat that Cohere lacks. Of its own, the decoder names them. */
function ignoredFields(request: ChatRequest): string[] {
  const { raw, logprobs = 0, isSerial, isCached } = request
  if (raw?.api === 'cohere') return []
  return [
    ...unknownFields(request, samplingNames),
    ...(logprobs > 0 ? ['top_logprobs'] : []),
    ...(isSerial ? ['parallel_tool_calls'] : []),
    ...(isCached ? ['cache_control'] : []),
  ]
}

/** Builds a request. Throws `bad_request` for what Cohere does not have. */
function buildBody(request: ChatRequest, limit: number): Json {
  const { tools, choices, stop, sampling, reasoning, logprobs } = request
  rejectChoices(choices)
  rejectCustomTools(tools)
  const documents: Json[] = []
  const messages = encodeMessages(request.messages, documents)
  return {
    messages,
    ...(documents.length > 0 && { documents }),
    ...encodeSampling(sampling),
    ...(stop.length > 0 && { stop_sequences: stop.slice(0, stopsMax) }),
    ...encodeTools(request),
    ...encodeFormat(request),
    ...(reasoning && encodeThinking(reasoning, limit)),
    ...(logprobs !== undefined && { logprobs: true }),
  }
}

/** Cohere's maximum of stop sequences. */
const stopsMax = 5

/** The limits of Cohere's numbers, where other APIs have wider ones. */
const samplingLimits: Record<string, readonly [min: number, max: number]> = {
  p: [0.01, 0.99],
  k: [0, 500],
  frequency_penalty: [0, 1],
  presence_penalty: [0, 1],
}

const encodeSampling = (sampling: ChatRequest['sampling']): Json =>
  Object.fromEntries(
    Object.entries(writeSampling(sampling, samplingNames)).map(([name, value]) => {
      const [min, max] = lookUp(samplingLimits, name) ?? [-Infinity, Infinity]
      return [name, Math.min(Math.max(Number(value), min), max)]
    }),
  )

/** Encodes tools. Cohere has no choice among them, so a model gets only those that it may call. */
function encodeTools(request: ChatRequest): Json {
  const sent = allowedTools(request)
  const mode = modeOf(request.toolChoice)
  if (sent.length === 0) return {}
  return {
    tools: sent.map(encodeTool),
    ...(mode !== 'auto' && { tool_choice: mode === 'none' ? 'NONE' : 'REQUIRED' }),
    ...(sent.every(({ isStrict }) => isStrict) && { strict_tools: true }),
  }
}

function encodeTool(tool: Tool): Json {
  const { name, description } = tool
  return {
    type: 'function',
    function: {
      name,
      ...(description !== undefined && { description }),
      parameters: schemaOf(tool),
    },
  }
}

function encodeFormat({ format }: ChatRequest): Json {
  if (!format) return {}
  const schema = format.type === 'schema' ? { json_schema: format.schema } : {}
  return { response_format: { type: 'json_object', ...schema } }
}

const thoughtTokens = { min: 1_024, max: 32_768, shareOfOutput: 0.8 }

/** Encodes the budget of thoughts, which are a part of the output. */
function encodeThinking({ effort, budget }: Reasoning, limit: number): Json {
  if (effort === 'none') return { thinking: { type: 'disabled' } }
  const share = shareOfEffort(effort)
  const { min, max } = thoughtTokens
  const tokens = budget ?? (share && Math.max(Math.round(max * share), min))
  if (tokens === undefined) return {}
  return { thinking: { type: 'enabled', token_budget: budgetWithin(tokens, limit) } }
}

const budgetWithin = (tokens: number, limit: number): number =>
  Math.max(Math.min(tokens, Math.floor(limit * thoughtTokens.shareOfOutput)), 1)

const textOf = (content: Message['content']): string =>
  content.flatMap((part) => (part.type === 'text' && part.text ? [part.text] : [])).join('\n')

/**
 * Encodes messages, the system messages first. Text files of the user become `documents`. A
 * conversation of system messages only becomes that of a user.
 */
function encodeMessages(messages: Message[], documents: Json[]): Json[] {
  const system = messages.filter(isSystem).flatMap(({ content }) => {
    const text = textOf(content)
    return text ? [{ role: 'system', content: text }] : []
  })
  const turns = encodeTurns(
    messages.filter((message) => !isSystem(message)),
    documents,
  )
  if (turns.length > 0) return [...system, ...turns]
  return [{ role: 'user', content: system.map(({ content }) => content).join('\n\n') }]
}

function encodeTurns(messages: Message[], documents: Json[]): Json[] {
  const turns: Json[] = []
  /** Media of tool results: a tool message has only text. */
  let media: (TextPart | MediaPart)[] = []
  const flush = (): void => {
    turns.push(...encodeUser(media, documents))
    media = []
  }
  for (const message of messages) {
    if (message.role === 'tool') {
      const result = encodeResult(message)
      turns.push(result.message)
      media.push(...result.media)
      continue
    }
    flush()
    if (message.role === 'assistant') turns.push(...encodeAssistant(message))
    else turns.push(...encodeUser(message.content, documents))
  }
  flush()
  return turns
}

function encodeResult({ callId: id, content, isError }: ToolMessage) {
  const media = content.filter((part) => part.type !== 'text')
  const note = media.length > 0 ? ['The media of this result are in the next message.'] : []
  const text = [textOf(content), ...note].filter(Boolean).join('\n\n')
  const head: TextPart = { type: 'text', text: `Media of the result of ${id}:` }
  return {
    // Cohere has no field for a failed call.
    message: { role: 'tool', tool_call_id: id, content: isError ? `Error: ${text}` : text },
    media: media.length > 0 ? [head, ...media] : [],
  }
}

function encodeUser(content: readonly (TextPart | MediaPart)[], documents: Json[]): Json[] {
  const parts = content.flatMap((part): Json[] => {
    if (part.type === 'text') return part.text ? [{ type: 'text', text: part.text }] : []
    if (part.type === 'image') return [encodeImage(part)]
    documents.push(encodeDocument(part))
    return []
  })
  const [first, ...others] = parts
  if (!first) return []
  const isText = first.type === 'text' && others.length === 0
  return [{ role: 'user', content: isText ? first.text : parts }]
}

function encodeImage({ source, detail }: MediaPart): Json {
  if ('fileId' in source) throw unsupportedMedia(taken)
  const url = 'url' in source ? source.url : dataUrlOf(source)
  return { type: 'image_url', image_url: { url, ...(detail !== undefined && { detail }) } }
}

const taken = 'texts, images and text files'

const textTypes = /^(text\/|application\/(json|xml|x-ndjson|yaml)$)/

function encodeDocument({ source, filename: title }: MediaPart): Json {
  if (!('data' in source) || !textTypes.test(source.mediaType)) throw unsupportedMedia(taken)
  const text = Buffer.from(source.data, 'base64').toString()
  return { data: { text, ...(title !== undefined && { title }) } }
}

/** Encodes a turn of the model. Text before tool calls is their plan. */
function encodeAssistant({ content }: AssistantMessage): Json[] {
  const calls = content.filter((part) => part.type === 'call')
  const thoughts = content.flatMap((part) =>
    part.type === 'thinking' && part.text ? [{ type: 'thinking', thinking: part.text }] : [],
  )
  const text = textOf(content)
  if (!text && calls.length === 0 && thoughts.length === 0) return []
  const spoken = text && calls.length === 0 ? [{ type: 'text', text }] : []
  const parts = thoughts.length > 0 ? [...thoughts, ...spoken] : text
  return [
    {
      role: 'assistant',
      ...((thoughts.length > 0 || spoken.length > 0) && { content: parts }),
      ...(calls.length > 0 && text && { tool_plan: text }),
      ...(calls.length > 0 && { tool_calls: calls.map(encodeCall) }),
    },
  ]
}

const encodeCall = (call: CallPart): Json => ({
  id: call.id,
  type: 'function',
  function: { name: call.name, arguments: objectText(call) },
})
