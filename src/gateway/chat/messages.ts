import { isRecord } from '../../core/schema.ts'
import { ApiError } from '../../errors.ts'
import { misfit } from '../fields.ts'

/** The content part kinds that are read (document 2, section 4). */
const partKinds = ['text', 'image_url', 'file', 'input_audio', 'video_url'] as const
type PartKind = (typeof partKinds)[number]

/** A content part that is not text, and the uploaded file it names, if it names one. */
export interface Media {
  kind: Exclude<PartKind, 'text'>
  part: Record<string, unknown>
  fileId: string | undefined
}

/** What the checks learn of a conversation. */
export interface Conversation {
  messages: Record<string, unknown>[]
  media: Media[]
  /** UTF-16 code units of all text. */
  chars: number
}

/**
 * Reads the messages of a chat request, in the order of section 7: missing, roles, parts, none
 * usable. `developer` is the role that a developer's message is read as, if any.
 */
export function readMessages(raw: unknown, developer: 'system' | undefined): Conversation {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const read: Conversation = { messages: [], media: [], chars: 0 }
  const asked = new Set<unknown>()
  for (const message of raw) read.messages.push(readRole(message, developer, asked))
  let usable = false
  for (const message of read.messages) if (readContent(message.content, read)) usable = true
  if (!usable) throw new ApiError('no_usable_messages')
  return read
}

/**
 * The messages with a file that the request names beside them (document 2, `file_id`): it is as if
 * the last message of the user named it. Refuses bad_request.
 */
export function withFile(messages: unknown, fileId: unknown): unknown {
  if (fileId === undefined || fileId === null || !Array.isArray(messages)) return messages
  const at = messages.findLastIndex((message) => isRecord(message) && message.role === 'user')
  if (at < 0 || typeof fileId !== 'string') {
    throw misfit('file_id', 'file_id is a text, for the last message of the user.')
  }
  const message: unknown = messages[at]
  const said: unknown = isRecord(message) ? message.content : undefined
  const words = typeof said === 'string' && said !== '' ? [{ type: 'text', text: said }] : []
  const own: unknown[] = Array.isArray(said) ? said : words
  const content = [...own, { type: 'file', file_id: fileId }]
  return messages.with(at, Object.assign({}, message, { content }))
}

/**
 * A message whose role is allowed: tool only as the answer to a call that an earlier assistant
 * message asked for (gateway-completed, Roles); `asked` collects those calls.
 */
function readRole(
  message: unknown,
  developer: 'system' | undefined,
  asked: Set<unknown>,
): Record<string, unknown> {
  if (!isRecord(message)) throw new ApiError('bad_role')
  const { role, tool_call_id, tool_calls } = message
  if (role === 'developer' && developer) return { ...message, role: developer }
  if (role === 'tool' && asked.has(tool_call_id)) return message
  if (role === 'assistant' && Array.isArray(tool_calls)) {
    for (const call of tool_calls) if (isRecord(call) && call.id) asked.add(call.id)
  }
  if (role === 'system' || role === 'user' || role === 'assistant') return message
  throw new ApiError('bad_role')
}

/** Whether a content can be answered: a text that is not empty, or an accepted media part. */
function readContent(content: unknown, read: Conversation): boolean {
  if (content === undefined || content === null) return false
  if (typeof content === 'string') {
    read.chars += content.length
    return content !== ''
  }
  if (!Array.isArray(content)) throw misfit('messages', 'A content is a text or a list of parts.')
  let usable = false
  for (const part of content) if (readPart(part, read)) usable = true
  return usable
}

function readPart(part: unknown, read: Conversation): boolean {
  const kind = isRecord(part) ? partKinds.find((known) => known === part.type) : undefined
  if (!isRecord(part) || !kind) throw new ApiError('bad_part')
  if (kind === 'text') {
    if (typeof part.text !== 'string') throw misfit('messages', 'A text part has a "text".')
    read.chars += part.text.length
    return part.text !== ''
  }
  read.media.push({ kind, part, fileId: fileIdOf(kind, part) })
  return true
}

/** An uploaded file is named beside the part's type, or within what the part holds. */
function fileIdOf(kind: PartKind, part: Record<string, unknown>): string | undefined {
  const held = part[kind]
  const id = part.file_id ?? (isRecord(held) ? held.file_id : undefined)
  if (id === undefined || typeof id === 'string') return id
  throw misfit('messages', 'A file_id is a text.')
}
