import { isRecord } from '../../core/schema.ts'
import type { Media } from './messages.ts'

/** The address, data URL or base64 that a media part holds. */
export function contentOf({ kind, part }: Pick<Media, 'kind' | 'part'>): string | undefined {
  const held = part[kind]
  const inner = isRecord(held) ? (held.url ?? held.data ?? held.file_data) : held
  return typeof inner === 'string' && inner !== '' ? inner : undefined
}

/** The name that a file came with. */
export function inlineName({ part, kind }: Media): string {
  const held = part[kind]
  return isRecord(held) && typeof held.filename === 'string' ? held.filename : 'The file'
}

const dataUrl = /^data:[^,]*,/i
/** `%PDF-` in base64, which whoever sends no type means too. */
const pdfMark = /^(data:[^,]*,)?JVBERi/i

/** A PDF that stands in the request itself: by its type, its name, or its first bytes. */
export function isInlinePdf(media: Media): boolean {
  if (media.kind !== 'file' || media.fileId !== undefined) return false
  const content = contentOf(media) ?? ''
  if (/^data:application\/pdf/i.test(content) || pdfMark.test(content)) return true
  return inlineName(media).toLowerCase().endsWith('.pdf')
}

/** How many bytes a content in base64 stands for, which are not made. */
export function sizeOf(content: string): number {
  const [start = ''] = dataUrl.exec(content) ?? []
  return Buffer.byteLength(content.slice(start.length), 'base64')
}

/** The bytes of a part in base64; undefined where it is an address. */
export function inlineBytes(media: Media): Uint8Array | undefined {
  const content = contentOf(media) ?? ''
  const [start = ''] = dataUrl.exec(content) ?? []
  if (start === '' && URL.canParse(content)) return undefined
  return Buffer.from(content.slice(start.length), 'base64')
}
