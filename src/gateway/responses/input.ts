import { isRecord, itemsOf, type Json, toText } from '../../kernel/schema.ts'
import type { FindItem } from '../../kernel/state/response-items.ts'
import { invalidField } from '../fields.ts'
import { customArguments, functionName } from './tools.ts'

/** The conversation of a Responses request. */
export interface ConversationInput {
  messages: Json[]
  /** Tools that the client's tool search found. The model may call them from then on. */
  foundTools: Json[]
  /** The items of the request, with those that it references. */
  items: Json[]
}

/** The parts of a request around its input. */
interface InputContext {
  instructions: unknown
  findItem: FindItem
  /** The stored conversation that the request continues. */
  before: Json[]
}

const invalidInput = (problem: string) => invalidField('input', problem)

const roles = ['user', 'assistant', 'system', 'developer'] as const

/**
 * Parses the items of a Responses request into chat messages. A developer message becomes a system
 * message (docs/spec/gateway-decisions.md, "Roles"). Reasoning items are dropped, because chats do
 * not take them. An id may replace an item of an earlier response. Throws `bad_request`.
 */
export function readInput(
  input: unknown,
  { instructions, findItem, before }: InputContext,
): ConversationInput {
  const conversation: Conversation = { messages: [], foundTools: [], items: [], callIds: new Set() }
  const { messages, items } = conversation
  if (typeof instructions === 'string') messages.push({ role: 'system', content: instructions })
  else if (instructions) throw invalidField('instructions', 'instructions must be a string.')
  for (const item of before) addItem(conversation, item)
  if (typeof input === 'string') {
    messages.push({ role: 'user', content: input })
    items.push(messageOf(input))
    return conversation
  }
  if (!Array.isArray(input) || input.length === 0) {
    throw invalidInput('Send "input": a string, or an array with at least one item.')
  }
  for (const sent of input) {
    const item = resolveReference(sent, findItem)
    addItem(conversation, item)
    if (isRecord(item)) items.push(item)
  }
  return conversation
}

/** Returns the item that stands for a text. */
const messageOf = (text: string): Json => ({
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text }],
})

interface Conversation extends ConversationInput {
  /** The ids of the calls so far, which outputs refer to. */
  callIds: Set<unknown>
}

/** Returns the item that a reference names, or the item itself. */
function resolveReference(item: unknown, findItem: FindItem): unknown {
  if (!isRecord(item)) return item
  const { id, role, type = null } = item
  // OpenAI allows references without a type.
  const isReference = type === 'item_reference' || (type === null && !role && id !== undefined)
  if (!isReference) return item
  // Reasoning items are not stored, and would be dropped anyway.
  if (typeof id === 'string' && id.startsWith('rs_')) return { type: 'reasoning' }
  const found = typeof id === 'string' ? findItem(id) : undefined
  if (found) return found
  throw invalidInput(
    'No item with this id is stored; items expire after an hour. Send the whole item, and ' +
      '"store": false with a client that sends ids.',
  )
}

function addItem(conversation: Conversation, item: unknown): void {
  if (!isRecord(item)) throw invalidInput('An item must be an object.')
  switch (item.type ?? 'message') {
    case 'message':
      return addMessage(conversation.messages, item)
    case 'function_call':
    case 'custom_tool_call':
    case 'tool_search_call':
      return addCall(conversation, item)
    case 'function_call_output':
    case 'custom_tool_call_output':
      return addOutput(conversation, item, readContent(item.output))
    case 'tool_search_output': {
      const tools = itemsOf(item.tools).filter(isRecord)
      conversation.foundTools.push(...tools)
      return addOutput(conversation, item, JSON.stringify(tools))
    }
    case 'reasoning':
      return
    default:
      throw invalidInput(`An item must have one of the types ${itemTypes.join(', ')}.`)
  }
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

function addMessage(messages: Json[], { role, content }: Json): void {
  const known = roles.find((one) => one === role)
  if (!known) throw invalidInput(`The role of a message must be one of ${roles.join(', ')}.`)
  const chatRole = known === 'developer' ? 'system' : known
  const read = readContent(content)
  const last = messages.at(-1)
  // Text beside a call belongs into the message of the call, because results must follow that.
  if (chatRole === 'assistant' && last?.tool_calls && last.content === null) last.content = read
  else messages.push({ role: chatRole, content: read })
}

/** Adds a call to the assistant message before it, or to a new one. */
function addCall({ messages, callIds }: Conversation, item: Json): void {
  const { call_id } = item
  callIds.add(call_id)
  const call = { id: call_id, type: 'function', function: readCall(item) }
  const last = messages.at(-1)
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] })
  } else if (Array.isArray(last.tool_calls)) last.tool_calls.push(call)
  else last.tool_calls = [call]
}

/** Parses a call of a tool into the call of its function. */
function readCall(item: Json): { name: string; arguments: string } {
  const { type, call_id, name, namespace, arguments: args, input } = item
  if (type === 'tool_search_call' && typeof call_id === 'string') {
    const text = typeof args === 'string' ? args : JSON.stringify(args ?? {})
    return { name: functionName({ type: 'tool_search', execution: null }), arguments: text }
  }
  if (type === 'custom_tool_call' && typeof call_id === 'string') {
    if (typeof name === 'string' && typeof input === 'string') {
      return { name: functionName({ type: 'custom', name }), arguments: customArguments(input) }
    }
    throw invalidInput('A custom_tool_call needs the strings call_id, name and input.')
  }
  if (typeof call_id !== 'string' || typeof name !== 'string' || typeof args !== 'string') {
    throw invalidInput('A function_call needs the strings call_id, name and arguments.')
  }
  const own = typeof namespace === 'string' ? { name, namespace } : { name }
  return { name: functionName({ type: 'function', ...own }), arguments: args }
}

function addOutput(
  { messages, callIds }: Conversation,
  { call_id, type }: Json,
  content: string | Json[],
): void {
  if (!callIds.has(call_id)) {
    throw invalidInput(`A ${toText(type)} needs the call_id of an earlier call.`)
  }
  messages.push({ role: 'tool', tool_call_id: call_id, content })
}

/** Returns a content as chat's parts, or as one string, which all upstreams take, if it is text. */
function readContent(content: unknown): string | Json[] {
  if (typeof content === 'string') return content
  if (!Array.isArray(content))
    throw invalidInput('A content must be a string or an array of parts.')
  const parts = content.map(readPart)
  const texts = parts.map(({ text }) => text)
  const isText = texts.every((text) => typeof text === 'string')
  return isText ? texts.join('') : parts
}

function readPart(part: unknown): Json {
  if (!isRecord(part)) throw invalidInput('A part must be an object.')
  const { type } = part
  if (type === 'input_text' || type === 'output_text' || type === 'refusal') {
    const text = type === 'refusal' ? part.refusal : part.text
    if (typeof text === 'string') return { type: 'text', text }
    throw invalidInput(`A part of the type ${type} needs a text.`)
  }
  if (type === 'input_image') return readImage(part)
  if (type === 'input_file') return readFile(part)
  if (type === 'input_audio') return { type, input_audio: part.input_audio }
  throw invalidInput(
    'A part must be an input_text, input_image, input_file, input_audio, output_text or refusal.',
  )
}

function readImage({ image_url, file_id, detail }: Json): Json {
  if (typeof file_id === 'string') return { type: 'image_url', file_id }
  if (typeof image_url !== 'string') throw invalidInput('An input_image needs an image_url.')
  return { type: 'image_url', image_url: { url: image_url, ...(Boolean(detail) && { detail }) } }
}

function readFile({ file_id, file_data, filename }: Json): Json {
  if (typeof file_id === 'string') return { type: 'file', file: { file_id } }
  if (typeof file_data === 'string') return { type: 'file', file: { file_data, filename } }
  throw invalidInput('An input_file needs file_data, or the file_id of an uploaded file.')
}
