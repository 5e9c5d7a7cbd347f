import { ApiError } from '../../kernel/errors.ts'
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
  MediaPart,
  MediaSource,
  Message,
  TextPart,
  ThinkingPart,
} from '../conversation/chat-request.ts'
import { hasContent } from '../conversation/contents.ts'
import { mediaTypeOf, parseDataUrl } from '../conversation/media.ts'
import { parseSeal, signCalls } from '../conversation/sealed-thought.ts'
import { argumentsText, originalId } from '../conversation/tools.ts'
import { invalidField } from '../fields.ts'
import { thoughtText } from './read.ts'
import { customArguments, functionName } from './tools.ts'

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
export function decodeInput(
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

/** Returns whether an item names a stored one. OpenAI allows references without a type. */
export const isReference = ({ id, role, type = null }: Json): boolean =>
  type === 'item_reference' || (type === null && !role && id !== undefined)

/** Returns the item that a reference names, or the item itself. */
function resolveReference(item: unknown, findItem: FindItem): unknown {
  if (!isRecord(item) || !isReference(item)) return item
  const { id } = item
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
    const parts = signCalls([...this.thoughts, call])
    this.thoughts = []
    this.addOfModel(parts)
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
