import { isRecord, type Json } from '../../core/schema.ts'
import type { FindItem } from '../../state/response-items.ts'
import { invalidField } from '../fields.ts'

/** Returns the name in a chat of a function in a namespace. */
export const namespacedName = (namespace: string, name: string): string => `${namespace}__${name}`

const invalidInput = (problem: string) => invalidField('input', problem)

const roles = ['user', 'assistant', 'system', 'developer'] as const

/**
 * Parses the items of a Responses request into chat messages. A developer message becomes a system
 * message (docs/spec/gateway-decisions.md, "Roles"). Reasoning items are dropped, because chats do
 * not take them. An id may replace an item of an earlier response. Throws `bad_request`.
 */
export function readInput(input: unknown, instructions: unknown, findItem: FindItem): Json[] {
  const messages: Json[] = []
  if (typeof instructions === 'string') messages.push({ role: 'system', content: instructions })
  else if (instructions) throw invalidField('instructions', 'instructions must be a string.')
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }]
  if (!Array.isArray(input) || input.length === 0) {
    throw invalidInput('Send "input": a string, or an array with at least one item.')
  }
  const callIds = new Set<unknown>()
  for (const item of input) addItem(messages, resolveReference(item, findItem), callIds)
  return messages
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

function addItem(messages: Json[], item: unknown, callIds: Set<unknown>): void {
  if (!isRecord(item)) throw invalidInput('An item must be an object.')
  switch (item.type ?? 'message') {
    case 'message':
      return addMessage(messages, item)
    case 'function_call':
      callIds.add(item.call_id)
      return addCall(messages, item)
    case 'function_call_output':
      return addOutput(messages, item, callIds)
    case 'reasoning':
      return
    default:
      throw invalidInput(
        'An item must be a message, a function_call, a function_call_output or a reasoning.',
      )
  }
}

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
function addCall(messages: Json[], item: Json): void {
  const { call_id, name, namespace, arguments: args } = item
  if (typeof call_id !== 'string' || typeof name !== 'string' || typeof args !== 'string') {
    throw invalidInput('A function_call needs the strings call_id, name and arguments.')
  }
  const chatName = typeof namespace === 'string' ? namespacedName(namespace, name) : name
  const call = { id: call_id, type: 'function', function: { name: chatName, arguments: args } }
  const last = messages.at(-1)
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] })
  } else if (Array.isArray(last.tool_calls)) last.tool_calls.push(call)
  else last.tool_calls = [call]
}

function addOutput(messages: Json[], { call_id, output }: Json, callIds: Set<unknown>): void {
  if (!callIds.has(call_id)) {
    throw invalidInput('A function_call_output needs the call_id of an earlier function_call.')
  }
  messages.push({ role: 'tool', tool_call_id: call_id, content: readContent(output) })
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
