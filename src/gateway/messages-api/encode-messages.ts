import { asString, type Json, recordsIn } from '../../kernel/schema.ts'
import { markOf } from '../conversation/cache-mark.ts'
import type {
  AssistantMessage,
  CallPart,
  MediaPart,
  Message,
  TextPart,
  ToolMessage,
} from '../conversation/chat-request.ts'
import { isSystem } from '../conversation/contents.ts'
import { mediaTypeOf } from '../conversation/media.ts'
import { argumentsOf, portableId } from '../conversation/tools.ts'
import { unsupportedMedia } from '../conversation/unsupported.ts'

/** A message of the Messages API. Roles alternate. */
export interface Turn {
  role: 'user' | 'assistant'
  content: Json[]
}

/**
 * Converts messages to `system` and the turns of the Messages API. All system messages are in
 * `system`, but a conversation of nothing else is the turn of a user, which the API requires.
 */
export function encodeConversation(messages: Message[]): { system: Json[]; turns: Turn[] } {
  const system: Json[] = []
  const turns: Turn[] = []
  for (const message of messages) {
    if (isSystem(message)) {
      system.push(...message.content.flatMap(toTextBlock))
    } else if (message.role === 'assistant') {
      addTurn(turns, 'assistant', message.content.flatMap(toAssistantBlock))
    } else {
      const content =
        message.role === 'tool' ? [toToolResult(message)] : message.content.flatMap(toBlock)
      addTurn(turns, 'user', content)
    }
  }
  for (const turn of turns) turn.content = ordered(turn)
  const last = turns.at(-1)
  if (last?.role === 'assistant') trimEnd(last.content)
  return turns.length > 0 ? { system, turns } : { system: [], turns: userTurn(system) }
}

const userTurn = (content: Json[]): Turn[] =>
  content.length > 0 ? [{ role: 'user', content }] : []

/** Adds blocks to the last turn if it has the role, else as a turn. */
function addTurn(turns: Turn[], role: Turn['role'], content: Json[]): void {
  if (content.length === 0) return
  const last = turns.at(-1)
  if (last?.role !== role) turns.push({ role, content })
  else for (const block of content) last.content.push(block)
}

const isResult = ({ type }: Json): boolean => type === 'tool_result'
const isCall = ({ type }: Json): boolean => type === 'tool_use'
const isThinking = ({ type }: Json): boolean => type === 'thinking' || type === 'redacted_thinking'

/**
 * Returns blocks in the order that the API requires: results before all else, calls after the text
 * that follows a thought. Thoughts stay where they are.
 */
function ordered({ role, content }: Turn): Json[] {
  if (role === 'user') {
    return [...content.filter(isResult), ...content.filter((block) => !isResult(block))]
  }
  const sorted: Json[] = []
  let calls: Json[] = []
  for (const block of content) {
    if (isCall(block)) calls.push(block)
    else if (isThinking(block)) {
      sorted.push(...calls, block)
      calls = []
    } else sorted.push(block)
  }
  return [...sorted, ...calls]
}

/** Trims the end of a text that the model continues: the API rejects white space there. */
function trimEnd(content: Json[]): void {
  const last = content.at(-1)
  if (last?.type === 'text') last.text = asString(last.text).trimEnd()
}

/**
 * Returns whether the last turn has the results of calls whose thoughts are not sent. With a budget
 * for thinking, the API rejects it.
 */
export function hasUnsignedCall(messages: unknown): boolean {
  const turns = recordsIn(messages)
  const blocksOf = (turn: Json | undefined): Json[] => recordsIn(turn?.content)
  if (!blocksOf(turns.at(-1)).some(isResult)) return false
  return !blocksOf(turns.findLast(({ role }) => role === 'assistant')).some(isThinking)
}

/** The API rejects texts without a visible character. */
const toTextBlock = (part: TextPart): Json[] =>
  part.text.trim() === '' ? [] : [{ type: 'text', text: part.text, ...markOf(part.isCached) }]

function toAssistantBlock(part: AssistantMessage['content'][number]): Json[] {
  switch (part.type) {
    case 'text':
      return toTextBlock(part)
    case 'call':
      return [toToolUse(part)]
    case 'thinking': {
      const { text, signature, isEncrypted, origin } = part
      // The API rejects thoughts of other models.
      if (origin !== 'messages' || !signature) return []
      return isEncrypted
        ? [{ type: 'redacted_thinking', data: signature }]
        : [{ type: 'thinking', thinking: text, signature }]
    }
    default:
      // The API takes media from users and tools only.
      return []
  }
}

function toToolUse(call: CallPart): Json {
  const { id, name, isCached } = call
  return {
    type: 'tool_use',
    id: portableId(id),
    name,
    input: argumentsOf(call),
    ...markOf(isCached),
  }
}

/** Converts a result. Only the result as a whole may have a cache mark, not the blocks in it. */
function toToolResult({ callId, content, isError, isCached }: ToolMessage): Json {
  const hasMark = isCached === true || content.some((part) => part.isCached)
  const blocks = content.flatMap((part) => toBlock({ ...part, isCached: false }))
  // An error must have a text.
  if (blocks.length === 0 && isError) blocks.push({ type: 'text', text: 'Error' })
  const [first] = blocks
  const isText = blocks.length === 1 && first?.type === 'text'
  return {
    type: 'tool_result',
    tool_use_id: portableId(callId),
    ...markOf(hasMark),
    ...(blocks.length > 0 && { content: isText ? first.text : blocks }),
    ...(isError === true && { is_error: true }),
  }
}

const toBlock = (part: TextPart | MediaPart): Json[] =>
  part.type === 'text' ? toTextBlock(part) : [toMediaBlock(part)]

function toMediaBlock(part: MediaPart): Json {
  const { type, source } = part
  // The gateway has replaced uploads by their content.
  if (type === 'audio' || type === 'video' || 'fileId' in source) throw unsupported()
  if ('url' in source) {
    const block = type === 'image' ? 'image' : 'document'
    return { type: block, source: { type: 'url', url: source.url }, ...titleOf(part) }
  }
  const { data } = source
  const mediaType = mediaTypeOf(data, source.mediaType)
  if (type === 'image' || mediaType.startsWith('image/')) {
    // "image/*" names no type.
    const media_type = /^image\/\w/.test(mediaType) ? mediaType : 'image/jpeg'
    return { type: 'image', source: { type: 'base64', media_type, data }, ...markOf(part.isCached) }
  }
  return { type: 'document', source: toDocumentSource(data, mediaType), ...titleOf(part) }
}

const titleOf = (part: MediaPart): Json => ({
  ...(part.type === 'file' && part.filename && { title: part.filename }),
  ...markOf(part.isCached),
})

const textTypes = /^(text\/|application\/(.*\+)?(json|xml|yaml|x-yaml|javascript|toml|sql)$)/

/** The API takes PDF and plain text. A file without a type is a PDF, as for OpenAI. */
function toDocumentSource(data: string, mediaType: string): Json {
  if (textTypes.test(mediaType)) {
    const text = Buffer.from(data, 'base64').toString()
    return { type: 'text', media_type: 'text/plain', data: text }
  }
  const isUnnamed = mediaType === '' || mediaType === 'application/octet-stream'
  if (!isUnnamed && mediaType !== 'application/pdf') throw unsupported()
  return { type: 'base64', media_type: 'application/pdf', data }
}

const unsupported = () => unsupportedMedia('text, images and PDF files')
