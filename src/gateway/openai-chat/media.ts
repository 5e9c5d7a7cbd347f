import { asString, isRecord, type Json } from '../../kernel/schema.ts'
import { isMarked, markOf } from '../conversation/cache-mark.ts'
import type { MediaPart, MediaSource } from '../conversation/chat-request.ts'
import {
  audioFormatOf,
  dataUrlOf,
  defaultFilename,
  mediaTypeOf,
  parseDataUrl,
} from '../conversation/media.ts'
import { invalidField } from '../fields.ts'
import type { Family } from './families.ts'

/** The parts of a chat that are not text (document 2, section 4), and Mistral's with a PDF. */
export const mediaKinds = ['image_url', 'file', 'input_audio', 'video_url', 'document_url'] as const
export type MediaKind = (typeof mediaKinds)[number]

const typeOf = {
  image_url: 'image',
  file: 'file',
  input_audio: 'audio',
  video_url: 'video',
  document_url: 'file',
} as const

/** OpenAI's names of the kinds of media, which errors use. */
export const kindNames = {
  image: 'image_url',
  file: 'file',
  audio: 'input_audio',
  video: 'video_url',
} as const

/** The fields with the content of a part; the first one counts. */
const contentNames = ['url', 'data', 'file_data']

/** The types of data that has no label. */
const unlabelled = {
  image_url: 'image/jpeg',
  file: 'application/pdf',
  input_audio: 'audio/wav',
  video_url: 'video/mp4',
  document_url: 'application/pdf',
}

/**
 * Reads a media part. The source of one without content is an empty URL. `isRepaired`: upstreams
 * may refuse it as it was sent. Throws `bad_request`.
 */
export function readMedia(kind: MediaKind, part: Json): { media: MediaPart; isRepaired: boolean } {
  const { type: _, [kind]: value, file_id, document_name, cache_control: __, ...outer } = part
  // Mistral's clients send a string: base64 of audio, else an address.
  const inner = isRecord(value) ? value : { [kind === 'input_audio' ? 'data' : 'url']: value }
  const { file_id: innerId, filename, detail, format, cache_control: ___, ...others } = inner
  const name = contentNames.find((one) => typeof inner[one] === 'string') ?? 'url'
  const { [name]: found, ...rest } = others
  const id = file_id ?? innerId
  if (id !== undefined && typeof id !== 'string') {
    throw invalidField('messages', 'A file_id must be a string.')
  }
  const content = asString(found)
  const { source, isRepaired } =
    id === undefined
      ? readSource(kind, content, asString(format), name === 'url')
      : { source: { fileId: id }, isRepaired: false }
  const type = typeOf[kind]
  const extra = { ...outer, ...(Object.keys(rest).length > 0 && { [kindNames[type]]: rest }) }
  const sentName = filename ?? document_name
  return {
    media: {
      type,
      source,
      ...(typeof sentName === 'string' && { filename: sentName }),
      ...(typeof detail === 'string' && { detail }),
      ...((isMarked(part) || isMarked(inner)) && { isCached: true }),
      ...(Object.keys(extra).length > 0 && { extra }),
    },
    // Others refuse Mistral's strings and its document_url.
    isRepaired:
      isRepaired ||
      isMarked(inner) ||
      kind === 'document_url' ||
      (id === undefined && !isRecord(value) && content !== ''),
  }
}

function readSource(
  kind: MediaKind,
  content: string,
  format: string,
  isAddress: boolean,
): { source: MediaSource; isRepaired: boolean } {
  const parsed = parseDataUrl(content)
  if (parsed) {
    const label = content.slice('data:'.length, 'data:'.length + parsed.mediaType.length)
    const isLabelled = parsed.mediaType !== ''
    const mediaType = isLabelled ? parsed.mediaType : unlabelled[kind]
    return { source: { ...parsed, mediaType }, isRepaired: isLabelled && label !== mediaType }
  }
  const isUrl = content === '' || isAddress || URL.canParse(content)
  if (isUrl) return { source: { url: content }, isRepaired: false }
  const label = format === '' ? unlabelled[kind] : `audio/${format}`
  return { source: { data: content, mediaType: mediaTypeOf(content, label) }, isRepaired: false }
}

/** Writes a media part. Throws `bad_request` for audio by its address, where it must be data. */
export function writeMedia(media: MediaPart, { hasCacheMarks, hasBareMedia }: Family): Json {
  const { type, source, filename, detail, isCached, extra } = media
  const kind = kindNames[type]
  const { [kind]: rest, ...outer } = extra ?? {}
  const mark = hasCacheMarks ? markOf(isCached) : {}
  if ('fileId' in source) return { type: kind, ...outer, file_id: source.fileId, ...mark }
  const address = 'url' in source ? source.url : dataUrlOf(source)
  if (hasBareMedia && type === 'file') {
    return {
      type: 'document_url',
      document_url: address,
      ...(filename !== undefined && { document_name: filename }),
    }
  }
  if (hasBareMedia && type === 'audio' && 'data' in source) {
    return { type: kind, input_audio: source.data }
  }
  const more = { ...(detail !== undefined && { detail }), ...(isRecord(rest) && rest) }
  return { type: kind, ...outer, [kind]: { ...contentOf(media, address), ...more }, ...mark }
}

function contentOf({ type, source, filename }: MediaPart, address: string): Json {
  if (type === 'file') {
    const name = filename ?? ('data' in source ? defaultFilename(source.mediaType) : undefined)
    return { ...(name !== undefined && { filename: name }), file_data: address }
  }
  if (type !== 'audio') return { url: address }
  if ('data' in source) return { data: source.data, format: audioFormatOf(source.mediaType) }
  throw invalidField('messages', 'This model takes audio as data. Send no URL of it.')
}
