import { ApiError, type FieldNames } from '../../kernel/errors.ts'
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
import type {
  AssistantMessage,
  ChatRequest,
  MediaPart,
  Message,
  OutputFormat,
  Reasoning,
  TextPart,
  ThinkingPart,
  Tool,
  UserMessage,
} from '../conversation/chat-request.ts'
import type { DecodedChat } from '../conversation/codec.ts'
import { hasContent, isSystem } from '../conversation/contents.ts'
import { effortOfBudget } from '../conversation/effort.ts'
import { mediaTypeOf, parseDataUrl } from '../conversation/media.ts'
import { readSampling, type SamplingNames } from '../conversation/sampling.ts'
import { parseSeal } from '../conversation/sealed-thought.ts'
import { argumentsText, originalId, readFunction } from '../conversation/tools.ts'
import { findCount, invalidField, readFlag, rejectOthers } from '../fields.ts'

/** Cohere's names of the sampling parameters. */
export const samplingNames = {
  temperature: 'temperature',
  topP: 'p',
  topK: 'k',
  seed: 'seed',
  frequencyPenalty: 'frequency_penalty',
  presencePenalty: 'presence_penalty',
} as const satisfies SamplingNames

/** The names of a request's fields by those of the chat. */
export const fieldNames: FieldNames = {
  reasoning_effort: 'thinking',
  top_p: 'p',
  top_k: 'k',
  stop: 'stop_sequences',
}

/** Fields that change the filter, the priority, or citations, which other APIs do not have. */
const ignoredFields = ['safety_mode', 'priority', 'citation_options']

/** Fields that cost nothing beside the tokens, so that upstreams of Cohere get them as they are. */
export const passedFields = new Set<string>([
  ...Object.values(samplingNames),
  'citation_options',
  'documents',
  'logprobs',
  'max_tokens',
  'messages',
  'response_format',
  'safety_mode',
  'stop_sequences',
  'stream',
  'strict_tools',
  'thinking',
  'tool_choice',
  'tools',
])

/** `priority` is that of the operator's account. */
const knownFields = new Set([...passedFields, 'model', 'models', 'priority', 'provider'])

/**
 * Decodes a request of Cohere's chat API. A field that would change the response and has no
 * equivalent is an error (docs/spec/gateway-decisions.md, "Cohere"). Throws `no_messages`,
 * `bad_role`, `no_usable_messages`, `bad_request`.
 */
export function decodeCohere(raw: unknown): DecodedChat {
  const body = recordOf(raw)
  rejectOthers(body, knownFields)
  const isStream = readFlag(body, 'stream')
  const outputMax = findCount(body, 'max_tokens', Number.MAX_SAFE_INTEGER)
  const messages = addDocuments(readMessages(body.messages), body.documents)
  const format = readFormat(body.response_format)
  const reasoning = readThinking(body.thinking)
  const ignored = ignoredFields.filter((name) => body[name] != null)
  return {
    request: {
      messages,
      ...readTools(body),
      ...(outputMax !== undefined && { outputMax }),
      choices: 1,
      sampling: readSampling(body, samplingNames),
      stop: readStop(body.stop_sequences),
      ...(reasoning && { reasoning }),
      ...(format && { format }),
      ...(readFlag(body, 'logprobs') && { logprobs: 0 }),
      extra: {},
      // Cohere rejects a conversation of system messages only.
      ...(!messages.every(isSystem) && { raw: { api: 'cohere' as const, body } }),
    },
    model: body.model,
    models: body.models,
    provider: body.provider,
    search: false,
    isStream,
    ignored: { passed: ignored.filter((name) => !passedFields.has(name)), written: ignored },
  }
}

function readStop(raw: unknown): string[] {
  const marks = raw == null ? [] : [raw].flat()
  const texts = marks.filter((mark) => typeof mark === 'string')
  if (texts.length === marks.length) return texts.filter((text) => text !== '')
  throw invalidField('stop_sequences', 'stop_sequences must be a list of strings.')
}

const toolChoices: Record<string, 'required' | 'none'> = { REQUIRED: 'required', NONE: 'none' }

/** Reads tools, which have the form of OpenAI. `strict_tools` is a field of each in the request. */
function readTools(body: Json): Pick<ChatRequest, 'tools' | 'toolChoice'> {
  const { tools, tool_choice: choice, strict_tools: strict } = body
  const list = itemsOf(tools)
  if ((tools != null && !Array.isArray(tools)) || !list.every(isRecord)) {
    throw invalidField('tools', 'tools must be an array of objects.')
  }
  const toolChoice = lookUp(toolChoices, choice)
  if (choice != null && toolChoice === undefined) {
    throw invalidField('tool_choice', 'tool_choice must be REQUIRED or NONE, or left out.')
  }
  if (list.length === 0) {
    if (toolChoice !== 'required') return { tools: [] }
    throw invalidField('tool_choice', 'This tool_choice needs at least one tool.')
  }
  return {
    tools: list.map((tool) => readTool(tool, strict === true)),
    ...(toolChoice && { toolChoice }),
  }
}

function readTool({ type, function: called }: Json, isStrict: boolean): Tool {
  if (type !== 'function') {
    throw invalidField('tools', 'A tool must have the type function. Send web_search for a search.')
  }
  const { strict: _, ...about } = recordOf(called)
  return { ...readFunction(about), ...(isStrict && { isStrict }) }
}

function readFormat(raw: unknown): OutputFormat | undefined {
  const { type = 'text', json_schema, schema: oldSchema } = recordOf(raw)
  // Cohere's guides and its Python SDK write `schema`.
  const schema = json_schema ?? oldSchema
  if (type === 'text') return undefined
  if (type !== 'json_object') {
    throw invalidField(
      'response_format',
      'The type of response_format must be text or json_object.',
    )
  }
  return isRecord(schema) ? { type: 'schema', name: 'output', schema } : { type: 'object' }
}

/** Reads the budget of thoughts. Without one, the model decides. */
function readThinking(raw: unknown): Reasoning | undefined {
  const { type, token_budget: budget } = recordOf(raw)
  if (type === undefined) return undefined
  if (type === 'disabled') return { effort: 'none' }
  const isValid = budget == null || (typeof budget === 'number' && budget >= 1)
  if (type !== 'enabled' || !isValid) {
    throw invalidField('thinking', 'thinking must be disabled, or enabled with a token_budget.')
  }
  const shown = { summary: 'auto' }
  return typeof budget === 'number' ? { effort: effortOfBudget(budget), budget, ...shown } : shown
}

const invalidMessage = (problem: string) => invalidField('messages', problem)

function readMessages(raw: unknown): Message[] {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const calls = new OpenCalls()
  const messages = raw.map((message: unknown, index): Message => {
    if (!isRecord(message)) throw invalidMessage('A message must be an object.')
    const read = lookUp(roles, message.role)
    if (read) return read(message, calls, index)
    throw invalidMessage('The role of a message must be system, user, assistant or tool.')
  })
  if (hasContent(messages)) return messages
  throw new ApiError('no_usable_messages')
}

/** The calls of a conversation. A result belongs to an earlier call. */
class OpenCalls {
  private readonly known = new Set<string>()
  private readonly open = new Set<string>()

  add(id: string): void {
    this.known.add(id)
    this.open.add(id)
  }

  /** Returns the id of the call of a result: without one, the first call without a result. */
  take(id: string): string {
    const [first = ''] = this.open
    const found = id === '' ? first : id
    if (!this.known.has(found)) throw new ApiError('bad_role', { isDeveloper: false })
    this.open.delete(found)
    return found
  }
}

const roles: Record<string, (message: Json, calls: OpenCalls, index: number) => Message> = {
  system: ({ content }) => ({ role: 'system', content: textParts(textOf(content, ['text'])) }),
  user: ({ content }) => ({ role: 'user', content: readUser(content) }),
  assistant: readAssistant,
  tool: ({ content, tool_call_id: id }, calls) => ({
    role: 'tool',
    callId: calls.take(originalId(asString(id))),
    content: textParts(textOf(content, ['text', 'document'])),
  }),
}

const textParts = (text: string): TextPart[] => (text === '' ? [] : [{ type: 'text', text }])

/** Returns the objects of a list, which must have one of some types. */
function partsOf(content: unknown, types: readonly string[]): Json[] {
  const parts = itemsOf(content)
  const isValid = Array.isArray(content) && parts.every(isRecord)
  const other = parts.find((part) => !types.includes(toText(recordOf(part).type)))
  if (isValid && other === undefined) return parts.map(recordOf)
  throw invalidMessage(`content must be a string, or a list of the types ${types.join(', ')}.`)
}

function textOf(content: unknown, types: readonly string[]): string {
  if (typeof content === 'string') return content
  return partsOf(content, types)
    .map(({ type, text, document }) =>
      type === 'document' ? documentText(document) : asString(text),
    )
    .join('\n')
}

/** Returns the text of a document, which may have fields. */
function documentText(document: unknown): string {
  if (typeof document === 'string') return document
  const { data } = recordOf(document)
  return typeof data === 'string' ? data : JSON.stringify(data ?? {})
}

function readUser(content: unknown): UserMessage['content'] {
  if (typeof content === 'string') return textParts(content)
  return partsOf(content, ['text', 'image_url']).flatMap((part): UserMessage['content'] => {
    if (part.type === 'image_url') return [readImage(part)]
    if (typeof part.text === 'string') return textParts(part.text)
    throw invalidMessage('A text part needs a "text".')
  })
}

function readImage({ image_url: image, file_id }: Json): MediaPart {
  const { url: address, detail, file_id: innerId } = recordOf(image)
  const fileId = file_id ?? innerId
  if (fileId !== undefined && typeof fileId !== 'string') {
    throw invalidMessage('A file_id must be a string.')
  }
  const url = asString(typeof image === 'string' ? image : address)
  // Some clients send base64 without the prefix of a data: URL.
  const bare = { data: url, mediaType: mediaTypeOf(url, 'image/jpeg') }
  const sent = parseDataUrl(url) ?? (url === '' || URL.canParse(url) ? { url } : bare)
  return {
    type: 'image',
    source: fileId === undefined ? sent : { fileId },
    ...(typeof detail === 'string' && { detail }),
  }
}

/** Reads a turn of the model. The plan of a tool call is the start of its text. */
function readAssistant(message: Json, calls: OpenCalls, index: number): AssistantMessage {
  const { content, tool_plan: plan, tool_calls } = message
  const isText = content == null || typeof content === 'string'
  const parts = isText ? [] : partsOf(content, ['text', 'thinking'])
  const texts = [asString(plan), asString(content), ...parts.map(({ text }) => asString(text))]
  const called = recordsIn(tool_calls).map((call, position) => {
    const { id, function: fn, extra_content: extra } = call
    const { name, arguments: args } = recordOf(fn)
    const { thought_signature: signature } = recordOf(recordOf(extra).google)
    const callId = originalId(asString(id)) || `call_${index}_${position}`
    calls.add(callId)
    return {
      type: 'call' as const,
      id: callId,
      name: asString(name),
      arguments: argumentsText(args),
      ...(typeof signature === 'string' && { signature }),
    }
  })
  const text = texts.filter((one) => one !== '').join('\n')
  return {
    role: 'assistant',
    content: [...parts.flatMap(readThought), ...textParts(text), ...called],
  }
}

/** Reads a thought. Its signature is a field that only this gateway writes. */
function readThought({ type, thinking, signature }: Json): ThinkingPart[] {
  if (type !== 'thinking') return []
  const text = asString(thinking)
  if (typeof signature !== 'string') return text === '' ? [] : [{ type: 'thinking', text }]
  const isEncrypted = text === ''
  const seal = parseSeal(signature, 'cohere')
  return [{ type: 'thinking', text, ...seal, ...(isEncrypted && { isEncrypted }) }]
}

/** Adds the text of documents to the last user message, because other APIs have no documents. */
function addDocuments(messages: Message[], raw: unknown): Message[] {
  const documents = itemsOf(raw)
  if (raw == null || (Array.isArray(raw) && documents.length === 0)) return messages
  const isValid = documents.every((one) => typeof one === 'string' || isRecord(one))
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[at]
  if (!Array.isArray(raw) || !isValid || message?.role !== 'user') {
    const problem = 'documents must be a list of strings or objects, with a user message.'
    throw invalidField('documents', problem)
  }
  const texts = documents.map((one, index) => `Document ${index + 1}:\n${documentText(one)}`)
  const [first, ...others] = message.content
  const isText = first?.type === 'text' && others.length === 0
  const content: UserMessage['content'] = isText
    ? textParts([...texts, first.text].join('\n\n'))
    : [...textParts(texts.join('\n\n')), ...message.content]
  return messages.with(at, { ...message, content })
}
