import { ApiError } from '../../kernel/errors.ts'
import { isRecord } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

/** The supported kinds of content parts (document 2, section 4). */
const partKinds = ['text', 'image_url', 'file', 'input_audio', 'video_url'] as const
type PartKind = (typeof partKinds)[number]

/** A content part that is not text, with the id of its uploaded file, if any. */
export interface MediaPart {
  kind: Exclude<PartKind, 'text'>
  part: Record<string, unknown>
  fileId: string | undefined
}

export interface Conversation {
  messages: Record<string, unknown>[]
  media: MediaPart[]
  /** UTF-16 code units of all text. */
  chars: number
}

/**
 * Parses the messages of a chat request in the order of section 7: missing, roles, parts, none
 * usable. `developerRole` replaces the role `developer`.
 */
export function readMessages(raw: unknown, developerRole: 'system' | undefined): Conversation {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const read: Conversation = { messages: [], media: [], chars: 0 }
  const callIds = new Set<unknown>()
  for (const message of raw) read.messages.push(readRole(message, developerRole, callIds))
  let isUsable = false
  for (const message of read.messages) if (readContent(message.content, read)) isUsable = true
  if (!isUsable) throw new ApiError('no_usable_messages')
  return read
}

/**
 * Inserts the file of the request's field `file_id` (document 2) into the last user message. Throws
 * `bad_request`.
 */
export function insertFile(messages: unknown, fileId: unknown): unknown {
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

/**
 * Checks the role of a message. A tool message needs an earlier call of an assistant
 * (docs/spec/gateway-decisions.md, "Roles"); `callIds` collects the ids of these.
 */
function readRole(
  message: unknown,
  developerRole: 'system' | undefined,
  callIds: Set<unknown>,
): Record<string, unknown> {
  if (!isRecord(message)) throw new ApiError('bad_role', {})
  const { role, tool_call_id, tool_calls } = message
  if (role === 'developer' && developerRole) return { ...message, role: developerRole }
  if (role === 'tool' && callIds.has(tool_call_id)) return message
  if (role === 'assistant' && Array.isArray(tool_calls)) {
    for (const call of tool_calls) if (isRecord(call) && call.id) callIds.add(call.id)
  }
  if (role === 'system' || role === 'user' || role === 'assistant') return message
  throw new ApiError('bad_role', { isDeveloper: role === 'developer' })
}

/** Parses a content. Returns whether it has text or media. */
function readContent(content: unknown, read: Conversation): boolean {
  if (content === undefined || content === null) return false
  if (typeof content === 'string') {
    read.chars += content.length
    return content !== ''
  }
  if (!Array.isArray(content))
    throw invalidField('messages', 'A content must be a string or an array of parts.')
  let isUsable = false
  for (const part of content) if (readPart(part, read)) isUsable = true
  return isUsable
}

function readPart(part: unknown, read: Conversation): boolean {
  const kind = isRecord(part) ? partKinds.find((known) => known === part.type) : undefined
  if (!isRecord(part) || !kind) throw new ApiError('bad_part')
  if (kind === 'text') {
    if (typeof part.text !== 'string') throw invalidField('messages', 'A text part needs a "text".')
    read.chars += part.text.length
    return part.text !== ''
  }
  read.media.push({ kind, part, fileId: fileIdOf(kind, part) })
  return true
}

/** Returns the id of an uploaded file, which is beside the part's type or within the part. */
function fileIdOf(kind: PartKind, part: Record<string, unknown>): string | undefined {
  const inner = part[kind]
  const id = part.file_id ?? (isRecord(inner) ? inner.file_id : undefined)
  if (id === undefined || typeof id === 'string') return id
  throw invalidField('messages', 'A file_id must be a string.')
}
