import { isRecord } from '../../core/schema.ts'
import { invalidField } from '../fields.ts'

type Json = Record<string, unknown>

/** The name in a chat of a function that stands in a namespace. */
export const namespacedName = (namespace: string, name: string): string => `${namespace}__${name}`

/** Finds an item that was answered before, by its id. */
export type FindItem = (id: string) => unknown

const roles = ['user', 'assistant', 'system', 'developer'] as const

/**
 * The items of a Responses request as the messages of a chat request; a developer's message is read
 * as the system's (docs/spec/gateway-decisions.md, "Roles"). What a model thought before is left out: no chat
 * takes it. Instead of an item that was answered here its id may stand. Refuses bad_request.
 */
export function readInput(input: unknown, instructions: unknown, recall: FindItem): Json[] {
  const messages: Json[] = []
  if (typeof instructions === 'string') messages.push({ role: 'system', content: instructions })
  else if (instructions) throw invalidField('instructions', 'instructions is a text.')
  if (typeof input === 'string') return [...messages, { role: 'user', content: input }]
  if (!Array.isArray(input) || input.length === 0) {
    throw invalidField('input', 'Send "input": a text, or a list of items that is not empty.')
  }
  const called = new Set<unknown>()
  for (const item of input) addItem(messages, whole(item, recall), called)
  return messages
}

/** The item that a reference names, or the item itself. */
function whole(item: unknown, recall: FindItem): unknown {
  if (!isRecord(item)) return item
  const { id, role, type = null } = item
  // With OpenAI the type may be left out.
  const isReference = type === 'item_reference' || (type === null && !role && id !== undefined)
  if (!isReference) return item
  // A thought would be left out, too.
  if (typeof id === 'string' && id.startsWith('rs_')) return { type: 'reasoning' }
  const known = typeof id === 'string' ? recall(id) : undefined
  if (known) return known
  throw invalidField(
    'input',
    'No answer with this id is remembered; that is for an hour at most. Send the item whole, and ' +
      '"store": false with a client that sends ids.',
  )
}

function addItem(messages: Json[], item: unknown, called: Set<unknown>): void {
  if (!isRecord(item)) throw invalidField('input', 'An item is an object.')
  switch (item.type ?? 'message') {
    case 'message':
      return addMessage(messages, item)
    case 'function_call':
      called.add(item.call_id)
      return addCall(messages, item)
    case 'function_call_output':
      return addOutput(messages, item, called)
    case 'reasoning':
      return
    default:
      throw invalidField(
        'input',
        'An item is a message, a function_call, a function_call_output or a reasoning.',
      )
  }
}

function addMessage(messages: Json[], { role, content }: Json): void {
  const known = roles.find((one) => one === role)
  if (!known) throw invalidField('input', `The role of a message is one of ${roles.join(', ')}.`)
  const own = known === 'developer' ? 'system' : known
  const read = readContent(content)
  const last = messages.at(-1)
  // What was said beside a call belongs to its message: the answers to the calls follow that.
  if (own === 'assistant' && last?.tool_calls && last.content === null) last.content = read
  else messages.push({ role: own, content: read })
}

/** Calls that were made together stand in one message, with what was said before them. */
function addCall(messages: Json[], item: Json): void {
  const { call_id, name, namespace, arguments: sent } = item
  if (typeof call_id !== 'string' || typeof name !== 'string' || typeof sent !== 'string') {
    throw invalidField('input', 'A function_call has a call_id, a name and arguments, all of them texts.')
  }
  const own = typeof namespace === 'string' ? namespacedName(namespace, name) : name
  const call = { id: call_id, type: 'function', function: { name: own, arguments: sent } }
  const last = messages.at(-1)
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content: null, tool_calls: [call] })
  } else if (Array.isArray(last.tool_calls)) last.tool_calls.push(call)
  else last.tool_calls = [call]
}

function addOutput(messages: Json[], { call_id, output }: Json, called: Set<unknown>): void {
  if (!called.has(call_id)) {
    throw invalidField('input', 'A function_call_output names the call_id of an earlier function_call.')
  }
  messages.push({ role: 'tool', tool_call_id: call_id, content: readContent(output) })
}

/** A content: texts alone as one text, which every upstream takes; else chat's parts. */
function readContent(content: unknown): string | Json[] {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) throw invalidField('input', 'A content is a text or a list of parts.')
  const parts = content.map(readPart)
  const texts = parts.map(({ text }) => text)
  const isText = texts.every((text) => typeof text === 'string')
  return isText ? texts.join('') : parts
}

function readPart(part: unknown): Json {
  if (!isRecord(part)) throw invalidField('input', 'A part is an object.')
  const { type } = part
  if (type === 'input_text' || type === 'output_text' || type === 'refusal') {
    const text = type === 'refusal' ? part.refusal : part.text
    if (typeof text === 'string') return { type: 'text', text }
    throw invalidField('input', `A part of the type ${type} has a text.`)
  }
  if (type === 'input_image') return readImage(part)
  if (type === 'input_file') return readFile(part)
  if (type === 'input_audio') return { type, input_audio: part.input_audio }
  throw invalidField(
    'input',
    'A part is an input_text, input_image, input_file, input_audio, output_text or refusal.',
  )
}

function readImage({ image_url, file_id, detail }: Json): Json {
  if (typeof file_id === 'string') return { type: 'image_url', file_id }
  if (typeof image_url !== 'string') throw invalidField('input', 'An input_image has an image_url.')
  return { type: 'image_url', image_url: { url: image_url, ...(Boolean(detail) && { detail }) } }
}

function readFile({ file_id, file_data, filename }: Json): Json {
  if (typeof file_id === 'string') return { type: 'file', file: { file_id } }
  if (typeof file_data === 'string') return { type: 'file', file: { file_data, filename } }
  throw invalidField('input', 'An input_file has file_data, or the file_id of POST /v1/files.')
}
