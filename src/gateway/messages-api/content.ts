import { isRecord, type Json, recordOf, toText } from '../../kernel/schema.ts'
import { invalidField } from '../fields.ts'

export const invalidMessage = (problem: string) => invalidField('messages', problem)

const partTypes = 'text, image, document or search_result'

/** Converts a content of the Messages API to content parts of a chat. Throws `bad_request`. */
export function readParts(content: unknown): Json[] {
  if (typeof content === 'string') return content === '' ? [] : [textPart(content)]
  return blocksOf(content).flatMap(readBlock)
}

/** Returns the blocks of a content that is no string. Throws `bad_request`. */
export function blocksOf(content: unknown): Json[] {
  if (!Array.isArray(content)) {
    throw invalidMessage('A content must be a string or an array of blocks.')
  }
  return content.map((block: unknown) => {
    if (isRecord(block)) return block
    throw invalidMessage('A content block must be an object.')
  })
}

const textPart = (text: string): Json => ({ type: 'text', text })

/** Returns parts as one string, which all upstreams take, if all of them are text. */
export function joinTexts(parts: Json[]): string | Json[] {
  const texts = parts.flatMap(({ type, text }) =>
    type === 'text' && typeof text === 'string' ? [text] : [],
  )
  return texts.length === parts.length ? texts.join('\n\n') : parts
}

function readBlock(block: Json): Json[] {
  switch (block.type) {
    case 'text':
      return typeof block.text === 'string' ? [textPart(block.text)] : invalidText()
    case 'image':
      return [readImage(block)]
    case 'document':
      return readDocument(block)
    case 'search_result':
      return [readSearchResult(block)]
    default:
      throw invalidMessage(
        `A content block of the type ${toText(block.type)} is not supported here. Send ${partTypes}.`,
      )
  }
}

function invalidText(): never {
  throw invalidMessage('A text block needs a "text".')
}

/** Returns the data: URL or the address of a source; undefined for another type of source. */
function urlOf({ type, media_type, data, url }: Json): string | undefined {
  if (type === 'url' && typeof url === 'string') return url
  if (type !== 'base64' || typeof data !== 'string') return undefined
  return `data:${toText(media_type)};base64,${data}`
}

function readImage({ source: raw }: Json): Json {
  const source = recordOf(raw)
  if (source.type === 'file') return { type: 'image_url', file_id: source.file_id }
  const url = urlOf(source)
  if (url === undefined) {
    throw invalidMessage('The source of an image must have the type base64, url or file.')
  }
  return { type: 'image_url', image_url: { url } }
}

function readDocument(block: Json): Json[] {
  const { source: raw, title, context, citations } = block
  if (recordOf(citations).enabled === true) throw citationsError()
  const source = recordOf(raw)
  const notes = typeof context === 'string' && context !== '' ? [textPart(context)] : []
  const name = typeof title === 'string' && title !== '' ? title : undefined
  const headed = (text: string): Json => textPart(name ? `File "${name}":\n${text}` : text)
  if (source.type === 'text' && typeof source.data === 'string') {
    return [...notes, headed(source.data)]
  }
  if (source.type === 'content') {
    return [...notes, ...(name ? [textPart(`File "${name}":`)] : []), ...readParts(source.content)]
  }
  if (source.type === 'file') return [...notes, { type: 'file', file: { file_id: source.file_id } }]
  const file_data = urlOf(source)
  if (file_data === undefined) {
    throw invalidMessage(
      'The source of a document must have the type base64, url, text, content or file.',
    )
  }
  return [...notes, { type: 'file', file: { filename: name ?? 'document.pdf', file_data } }]
}

const citationsError = () =>
  invalidMessage('Citations of documents are not supported. Remove "citations".')

function readSearchResult({ source, title, content, citations }: Json): Json {
  if (recordOf(citations).enabled === true) throw citationsError()
  const text = joinTexts(readParts(content))
  if (typeof text !== 'string') throw invalidMessage('A search_result must contain text.')
  return textPart(`${toText(title)}\n${toText(source)}\n${text}`)
}
