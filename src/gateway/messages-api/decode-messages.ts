import { ApiError } from '../../kernel/errors.ts'
import { isRecord, type Json, recordOf, toText } from '../../kernel/schema.ts'
import type {
  AssistantMessage,
  CallPart,
  MediaPart,
  MediaSource,
  Message,
  TextPart,
  ThinkingPart,
  ToolMessage,
  UserMessage,
} from '../conversation/chat-request.ts'
import { mediaTypeOf, parseDataUrl } from '../conversation/media.ts'
import { parseSeal, takeCallSignature } from '../conversation/sealed-thought.ts'
import { originalId } from '../conversation/tools.ts'
import { invalidField } from '../fields.ts'

const invalidMessage = (problem: string) => invalidField('messages', problem)

type Content = (TextPart | MediaPart)[]

/**
 * Reads `system` and `messages` of a request. All system messages become the first message, the
 * only place that most models accept. Throws `no_messages`, `bad_request`.
 */
export function readConversation(raw: unknown, system: unknown): Message[] {
  if (!Array.isArray(raw) || raw.length === 0) throw new ApiError('no_messages')
  const callIds = new Set<unknown>()
  const systemTexts = readSystem(system)
  const messages = raw.flatMap((message: unknown): Message[] => {
    if (!isRecord(message)) throw invalidMessage('A message must be an object.')
    const { role, content } = message
    if (role === 'user') return readUser(content, callIds)
    if (role === 'assistant') return readAssistant(content, callIds)
    if (role !== 'system') {
      throw invalidMessage('The role of a message must be user, assistant or system.')
    }
    systemTexts.push(...readSystem(content))
    return []
  })
  return systemTexts.length > 0 ? [{ role: 'system', content: systemTexts }, ...messages] : messages
}

function readSystem(system: unknown): TextPart[] {
  if (system === undefined || system === null || system === '') return []
  if (typeof system !== 'string' && !Array.isArray(system)) {
    throw invalidField('system', 'system must be a string or an array of text blocks.')
  }
  return readContent(system).map((part) => {
    if (part.type === 'text') return part
    throw invalidField('system', 'system must contain only text.')
  })
}

function readUser(content: unknown, callIds: Set<unknown>): (UserMessage | ToolMessage)[] {
  if (typeof content === 'string') return [{ role: 'user', content: readContent(content) }]
  const blocks = blocksOf(content)
  const results = blocks
    .filter(({ type }) => type === 'tool_result')
    .map((block) => readToolResult(block, callIds))
  const parts = blocks.filter(({ type }) => type !== 'tool_result').flatMap(readBlock)
  return parts.length > 0 || results.length === 0
    ? [...results, { role: 'user', content: parts }]
    : results
}

function readToolResult(block: Json, callIds: Set<unknown>): ToolMessage {
  const { tool_use_id: id, content, is_error: isError } = block
  if (typeof id !== 'string' || !callIds.has(originalId(id))) {
    throw invalidMessage('A tool_result needs the tool_use_id of an earlier tool_use.')
  }
  return {
    role: 'tool',
    callId: originalId(id),
    content: content === undefined || content === null ? [] : readContent(content),
    ...(isError === true && { isError }),
    ...markOf(block),
  }
}

function readAssistant(content: unknown, callIds: Set<unknown>): AssistantMessage[] {
  if (typeof content === 'string') return [{ role: 'assistant', content: readText(content) }]
  const parts: AssistantMessage['content'] = []
  for (const block of blocksOf(content)) {
    if (block.type === 'tool_use') {
      const call = readToolUse(block, callIds)
      const signature = takeCallSignature(parts)
      parts.push(signature === undefined ? call : { ...call, signature })
    } else if (block.type === 'thinking' || block.type === 'redacted_thinking') {
      parts.push(...readThinking(block))
    } else {
      parts.push(...readBlock(block).map(toAssistantText))
    }
  }
  return parts.length > 0 ? [{ role: 'assistant', content: parts }] : []
}

function toAssistantText(part: TextPart | MediaPart): TextPart {
  if (part.type === 'text') return part
  throw invalidMessage('An assistant message must have text, thinking and tool_use blocks.')
}

function readToolUse(block: Json, callIds: Set<unknown>): CallPart {
  const { id, name, input } = block
  if (typeof id !== 'string' || typeof name !== 'string' || !isRecord(input)) {
    throw invalidMessage('A tool_use needs the strings id and name, and an object as input.')
  }
  const original = originalId(id)
  callIds.add(original)
  const call = { type: 'call' as const, id: original, name, arguments: JSON.stringify(input) }
  return { ...call, ...markOf(block) }
}

/** Reads a thought. One without a signature is not for the models that sign theirs. */
function readThinking({ type, thinking, signature, data }: Json): ThinkingPart[] {
  if (type === 'redacted_thinking') {
    if (typeof data !== 'string' || data === '') return []
    return [{ type: 'thinking', text: '', ...parseSeal(data, 'messages'), isEncrypted: true }]
  }
  const text = typeof thinking === 'string' ? thinking : ''
  const isSigned = typeof signature === 'string' && signature !== ''
  const seal = isSigned ? parseSeal(signature, 'messages') : undefined
  // The seal of a thought without a signature is empty.
  if (!seal?.signature) return text === '' ? [] : [{ type: 'thinking', text }]
  return [{ type: 'thinking', text, ...seal }]
}

/** Reads a content of text and media. Throws `bad_request`. */
const readContent = (content: unknown): Content =>
  typeof content === 'string' ? readText(content) : blocksOf(content).flatMap(readBlock)

/** Returns the blocks of a content that is no string. Throws `bad_request`. */
function blocksOf(content: unknown): Json[] {
  if (!Array.isArray(content)) {
    throw invalidMessage('A content must be a string or an array of blocks.')
  }
  return content.map((block: unknown) => {
    if (isRecord(block)) return block
    throw invalidMessage('A content block must be an object.')
  })
}

/** Returns a text as parts: none for an empty one, which providers reject. */
const readText = (text: string): TextPart[] => (text === '' ? [] : [{ type: 'text', text }])

/** Reads a mark for prompt caching. Its `ttl` is left out: an hour costs more. */
const markOf = ({ cache_control: mark }: Json): { isCached?: boolean } =>
  isRecord(mark) ? { isCached: true } : {}

/** Reads a block. A mark is on the last of its parts. */
function readBlock(block: Json): Content {
  const parts = partsOf(block)
  const last = parts.at(-1)
  return last ? [...parts.slice(0, -1), { ...last, ...markOf(block) }] : []
}

const partTypes = 'text, image, document or search_result'

function partsOf(block: Json): Content {
  switch (block.type) {
    case 'text':
      if (typeof block.text !== 'string') throw invalidMessage('A text block needs a "text".')
      return readText(block.text)
    case 'image':
      return [readImage(block)]
    case 'document':
      return readDocument(block)
    case 'search_result':
      return readText(readSearchResult(block))
    default:
      throw invalidMessage(
        `A content block of the type ${toText(block.type)} is not supported here. Send ${partTypes}.`,
      )
  }
}

/** Reads a source of data; undefined for another type of source. */
function readSource({ type, media_type, data, url, file_id }: Json): MediaSource | undefined {
  if (type === 'file') return { fileId: readFileId(file_id) }
  if (type === 'url' && typeof url === 'string') return parseDataUrl(url) ?? { url }
  if (type !== 'base64' || typeof data !== 'string') return undefined
  return { data, mediaType: mediaTypeOf(data, toText(media_type)) }
}

function readFileId(id: unknown): string {
  if (typeof id === 'string') return id
  throw invalidMessage('A file_id must be a string.')
}

function readImage({ source: raw }: Json): MediaPart {
  const source = readSource(recordOf(raw))
  if (source === undefined) {
    throw invalidMessage('The source of an image must have the type base64, url or file.')
  }
  return { type: 'image', source }
}

function readDocument({ source: raw, title, context, citations }: Json): Content {
  if (recordOf(citations).enabled === true) throw citationsError()
  const own = recordOf(raw)
  const notes = typeof context === 'string' ? readText(context) : []
  const name = typeof title === 'string' && title !== '' ? title : undefined
  if (own.type === 'text' && typeof own.data === 'string') {
    return [...notes, ...readText(name ? `File "${name}":\n${own.data}` : own.data)]
  }
  if (own.type === 'content') {
    return [...notes, ...readText(name ? `File "${name}":` : ''), ...readContent(own.content)]
  }
  const source = readSource(own)
  if (source === undefined) {
    throw invalidMessage(
      'The source of a document must have the type base64, url, text, content or file.',
    )
  }
  // An upload has a name of its own.
  const filename = 'fileId' in source ? undefined : (name ?? 'document.pdf')
  return [...notes, { type: 'file', source, ...(filename !== undefined && { filename }) }]
}

const citationsError = () =>
  invalidMessage('Citations of documents are not supported. Remove "citations".')

function readSearchResult({ source, title, content, citations }: Json): string {
  if (recordOf(citations).enabled === true) throw citationsError()
  const texts = readContent(content).map((part) => {
    if (part.type === 'text') return part.text
    throw invalidMessage('A search_result must contain text.')
  })
  return `${toText(title)}\n${toText(source)}\n${texts.join('\n\n')}`
}
