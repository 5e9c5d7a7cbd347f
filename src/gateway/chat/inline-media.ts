import type { MediaPart } from '../conversation/chat-request.ts'
import { fileIdOf } from '../conversation/contents.ts'

/** OpenAI's names of the kinds of media, which errors use. */
export const kindNames = {
  image: 'image_url',
  file: 'file',
  audio: 'input_audio',
  video: 'video_url',
} as const

export const inlineName = ({ filename }: MediaPart): string => filename ?? 'The file'

/** `%PDF-` in base64, for clients that send no type. */
const pdfMark = /^JVBERi/

/** Returns whether a part contains a PDF, by its type, its name or its first bytes. */
export function isInlinePdf(media: MediaPart): boolean {
  const { type, source } = media
  if (type !== 'file' || fileIdOf(media) !== undefined) return false
  const isPdf =
    'data' in source && (source.mediaType === 'application/pdf' || pdfMark.test(source.data))
  return isPdf || inlineName(media).toLowerCase().endsWith('.pdf')
}

/** Returns the decoded size of inline data, without decoding it; that of an address for others. */
export const sizeOf = ({ source }: MediaPart): number =>
  'data' in source ? Buffer.byteLength(source.data, 'base64') : 0

/** Returns the bytes of inline data; undefined for an address or an upload. */
export const inlineBytes = ({ source }: MediaPart): Uint8Array | undefined =>
  'data' in source ? Buffer.from(source.data, 'base64') : undefined
