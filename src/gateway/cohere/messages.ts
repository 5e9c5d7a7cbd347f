import { ApiError } from '../../kernel/errors.ts'
import { isRecord, itemsOf, type Json, lookUp, recordOf, toText } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'
import { asString } from '../providers/response.ts'

const invalidMessage = (problem: string) => invalidField('messages', problem)

/**
 * Converts the messages of Cohere's API to chat messages. The plan of a tool call becomes the text
 * of its message; reasoning of earlier turns is not sent. Throws `no_messages`, `bad_request`.
 */
export function readMessages(raw: unknown): Json[] {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  return raw.map((message: unknown): Json => {
    if (!isRecord(message)) throw invalidMessage('A message must be an object.')
    const { role, content } = message
    const read = lookUp(roles, role)
    if (read) return { role, ...read(content, message) }
    throw invalidMessage('The role of a message must be system, user, assistant or tool.')
  })
}

/**
 * Adds the text of documents to the last user message, because chats have no documents. Throws
 * `bad_request`.
 */
export function addDocuments(messages: Json[], raw: unknown): Json[] {
  const documents = itemsOf(raw)
  if (raw == null || (Array.isArray(raw) && documents.length === 0)) return messages
  const isValid = documents.every((one) => typeof one === 'string' || isRecord(one))
  const at = messages.findLastIndex(({ role }) => role === 'user')
  const message = messages[at]
  if (!Array.isArray(raw) || !isValid || !message) {
    const problem = 'documents must be a list of strings or objects, with a user message.'
    throw invalidField('documents', problem)
  }
  const texts = documents.map((one, index) => `Document ${index + 1}:\n${documentText(one)}`)
  const text = texts.join('\n\n')
  const { content } = message
  const extended =
    typeof content === 'string'
      ? `${text}\n\n${content}`
      : [{ type: 'text', text }, ...itemsOf(content)]
  return messages.with(at, { ...message, content: extended })
}

const roles: Record<string, (content: unknown, message: Json) => Json> = {
  system: (content) => ({ content: textOf(content, ['text']) }),
  user: (content) => ({ content: readUser(content) }),
  assistant: readAssistant,
  tool: (content, { tool_call_id }) => ({ tool_call_id, content: textOf(content, toolParts) }),
}

/** Parts of a tool result. */
const toolParts = ['text', 'document']

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

/** Images have the same form in chats. */
const readUser = (content: unknown): unknown =>
  typeof content === 'string' ? content : partsOf(content, ['text', 'image_url'])

function readAssistant(content: unknown, { tool_calls: calls, tool_plan: plan }: Json): Json {
  const parts = content === undefined || content === null ? '' : content
  const spoken = typeof parts === 'string' ? parts : joinText(parts)
  const text = [asString(plan), spoken].filter((one) => one !== '').join('\n')
  const hasCalls = itemsOf(calls).length > 0
  return { content: text === '' && hasCalls ? null : text, ...(hasCalls && { tool_calls: calls }) }
}

const joinText = (content: unknown): string =>
  partsOf(content, ['text', 'thinking'])
    .flatMap(({ type, text }) => (type === 'text' ? [asString(text)] : []))
    .join('\n')
