import type { PdfReader } from '../../core/pdf-reader.ts'
import { ApiError } from '../../errors.ts'
import { fileBytesMax } from '../../limits.ts'
import { detectFileKind } from '../../storage/file-kind.ts'
import { letters } from '../../storage/riff.ts'
import { detectVideoType, readVideoDuration } from '../../storage/videos.ts'
import type { fileKinds } from './tables.ts'

/** What a file is by its content, and the words in it where it has any. */
export interface DetectedFile {
  kind: (typeof fileKinds)[number]
  type: string
  /** Undefined where they were not read: neither a PDF nor a text, encrypted, or too many pages. */
  text?: string | undefined
  /** Of a PDF; undefined where it is encrypted. */
  pages?: number | undefined
  seconds?: number | undefined
}

/** Marks of formats that are taken: what begins so and cannot be read is damaged, not unknown. */
const mark =
  /^(\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}(WEBP|WAVE)|OggS|ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb])/

/** Control characters that no text has; tab, line ends and form feed may stand in one. */
const unplain = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/

/**
 * Tells what an uploaded file is, never by its name or the type it came with, and reads its words.
 * Refuses upload_type, upload_unreadable, and try_again while too many PDFs are read.
 */
export async function detectFile(
  pdfs: PdfReader,
  bytes: Uint8Array,
  account: string,
): Promise<DetectedFile> {
  if (bytes.length === 0) throw new ApiError('upload_unreadable', { why: 'it is empty' })
  const head = letters(bytes, 0, 1_024)
  if (head.includes('%PDF-')) return pdf(pdfs, bytes, account)
  const film = detectVideoType(bytes)
  if (film) return filmed(bytes, film)
  if (!mark.test(head)) return plain(bytes)
  const told = await detectFileKind(bytes, fileBytesMax)
  if ('reason' in told) throw new ApiError('upload_unreadable', { why: told.reason })
  if (told.kind === 'picture') return { kind: 'image', type: told.type }
  if (told.kind === 'sound') return { kind: 'audio', type: told.type, seconds: told.seconds }
  return plain(bytes)
}

function filmed(bytes: Uint8Array, type: 'video/mp4' | 'video/webm'): DetectedFile {
  const told = readVideoDuration(bytes, type)
  if ('reason' in told) throw new ApiError('upload_unreadable', { why: told.reason })
  return { kind: 'video', type, ...told }
}

async function pdf(pdfs: PdfReader, bytes: Uint8Array, account: string): Promise<DetectedFile> {
  const read = await pdfs.read(bytes, account)
  if ('unreadable' in read) throw new ApiError('upload_unreadable', { why: read.unreadable })
  return { kind: 'pdf', type: 'application/pdf', ...read }
}

function plain(bytes: Uint8Array): DetectedFile {
  const text = utf8(bytes)
  if (text === undefined || unplain.test(text)) throw new ApiError('upload_type')
  return { kind: 'text', type: 'text/plain; charset=utf-8', text }
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
