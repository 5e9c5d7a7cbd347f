import { isRecord } from '../../kernel/schema.ts'
import type { MediaPart } from './conversation.ts'

export function contentOf({ kind, part }: Pick<MediaPart, 'kind' | 'part'>): string | undefined {
  const value = part[kind]
  const inner = isRecord(value) ? (value.url ?? value.data ?? value.file_data) : value
  return typeof inner === 'string' && inner !== '' ? inner : undefined
}

export function inlineName({ part, kind }: MediaPart): string {
  const value = part[kind]
  return isRecord(value) && typeof value.filename === 'string' ? value.filename : 'The file'
}

const dataUrl = /^data:[^,]*,/i
/** `%PDF-` in base64, for clients that send no type. */
const pdfMark = /^(data:[^,]*,)?JVBERi/i

/** Returns whether a part contains a PDF, by its type, its name or its first bytes. */
export function isInlinePdf(media: MediaPart): boolean {
  if (media.kind !== 'file' || media.fileId !== undefined) return false
  const content = contentOf(media) ?? ''
  if (/^data:application\/pdf/i.test(content) || pdfMark.test(content)) return true
  return inlineName(media).toLowerCase().endsWith('.pdf')
}

/** Returns the decoded size of base64 content, without decoding it. */
export function sizeOf(content: string): number {
  const [start = ''] = dataUrl.exec(content) ?? []
  return Buffer.byteLength(content.slice(start.length), 'base64')
}

/** Returns the bytes of a base64 part; undefined for a URL. */
export function inlineBytes(media: MediaPart): Uint8Array | undefined {
  const content = contentOf(media) ?? ''
  const [start = ''] = dataUrl.exec(content) ?? []
  if (start === '' && URL.canParse(content)) return undefined
  return Buffer.from(content.slice(start.length), 'base64')
}
