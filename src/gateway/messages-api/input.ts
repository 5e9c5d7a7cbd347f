import { ApiError } from '../../kernel/errors.ts'
import { isRecord, type Json, toText } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import { blocksOf, invalidMessage, joinTexts, readParts } from './content.ts'

/**
 * Converts `system` and `messages` of Anthropic's Messages API to chat messages. All system
 * messages become the first message, the only place that most models accept. A tool result becomes
 * a message of the role tool. Its media follow in a user message, because chats take only text in
 * tool messages. Throws `no_messages`, `bad_request`.
 */
export function readMessages(raw: unknown, system: unknown): Json[] {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const callIds = new Set<unknown>()
  const systemTexts = [readSystem(system)]
  const messages = raw.flatMap((message: unknown) => {
    if (!isRecord(message)) throw invalidMessage('A message must be an object.')
    const { role, content } = message
    if (role === 'user') return readUser(content, callIds)
    if (role === 'assistant') return readAssistant(content, callIds)
    if (role !== 'system') {
      throw invalidMessage('The role of a message must be user, assistant or system.')
    }
    systemTexts.push(readSystem(content))
    return []
  })
  const content = systemTexts.filter((text) => text !== '').join('\n\n')
  return content === '' ? messages : [{ role: 'system', content }, ...messages]
}

function readSystem(system: unknown): string {
  if (system === undefined || system === null || system === '') return ''
  if (typeof system !== 'string' && !Array.isArray(system)) {
    throw invalidField('system', 'system must be a string or an array of text blocks.')
  }
  const content = joinTexts(readParts(system))
  if (typeof content !== 'string') throw invalidField('system', 'system must contain only text.')
  return content
}

function readUser(content: unknown, callIds: Set<unknown>): Json[] {
  if (typeof content === 'string') return [{ role: 'user', content }]
  const blocks = blocksOf(content)
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => readToolResult(block, callIds))
  const others = readParts(blocks.filter(({ type }) => type !== 'tool_result'))
  const parts = [...results.flatMap(({ media }) => media), ...others]
  const messages = results.map(({ message }) => message)
  return parts.length > 0 || messages.length === 0
    ? [...messages, { role: 'user', content: joinTexts(parts) }]
    : messages
}

function readToolResult(block: Json, callIds: Set<unknown>): { message: Json; media: Json[] } {
  const { tool_use_id: id, content, is_error: isError } = block
  if (!callIds.has(id)) {
    throw invalidMessage('A tool_result needs the tool_use_id of an earlier tool_use.')
  }
  const parts = content === undefined || content === null ? [] : readParts(content)
  const media = parts.filter(({ type }) => type !== 'text')
  const texts = parts.flatMap(({ text }) => (typeof text === 'string' ? [text] : []))
  if (media.length > 0) texts.push('The media of this result are in the next message.')
  const text = texts.join('\n\n')
  return {
    // Chats have no field for a failed call.
    message: {
      role: 'tool',
      tool_call_id: id,
      content: isError === true ? `Error: ${text}` : text,
    },
    media:
      media.length > 0
        ? [{ type: 'text', text: `Media of the result of ${toText(id)}:` }, ...media]
        : [],
  }
}

function readAssistant(content: unknown, callIds: Set<unknown>): Json[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }]
  const blocks = blocksOf(content)
  const ofType = (...types: string[]) => blocks.filter(({ type }) => types.includes(toText(type)))
  const calls = ofType('tool_use').map((block) => readToolUse(block, callIds))
  const details = ofType('thinking', 'redacted_thinking').flatMap(readThinking)
  const own = ['tool_use', 'thinking', 'redacted_thinking']
  const text = joinTexts(readParts(blocks.filter(({ type }) => !own.includes(toText(type)))))
  if (typeof text !== 'string') {
    throw invalidMessage('An assistant message must have text, thinking and tool_use blocks.')
  }
  // Unsigned thinking is not for the model, so a message of nothing else has no content.
  if (text === '' && calls.length === 0 && details.length === 0) return []
  return [
    {
      role: 'assistant',
      content: text === '' && calls.length > 0 ? null : text,
      ...(details.length > 0 && { reasoning_details: details }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
  ]
}

function readToolUse({ id, name, input }: Json, callIds: Set<unknown>): Json {
  if (typeof id !== 'string' || typeof name !== 'string' || !isRecord(input)) {
    throw invalidMessage('A tool_use needs the strings id and name, and an object as input.')
  }
  callIds.add(id)
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}

/** Returns signed reasoning. Models take back only their own, which is signed or encrypted. */
function readThinking({ type, thinking, signature, data }: Json): Json[] {
  if (type === 'redacted_thinking') return [{ type: 'reasoning.encrypted', data }]
  if (typeof signature !== 'string' || signature === '') return []
  return [{ type: 'reasoning.text', text: thinking, signature }]
}
