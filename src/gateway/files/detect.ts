import { ApiError } from '../../kernel/errors.ts'
import type { PdfReader } from '../../kernel/pdf-reader.ts'
import { readContainer } from '../../store/containers.ts'
import { detectPrivateFileKind } from '../../store/file-kind.ts'
import { letters } from '../../store/riff.ts'
import type { fileKinds } from './tables.ts'

/** The properties of a file, detected from its content. */
export interface DetectedFile {
  kind: (typeof fileKinds)[number]
  type: string
  /** Extracted text; undefined for media, and for a PDF that is encrypted or too long. */
  text?: string | undefined
  /** Pages of a PDF; undefined when it is encrypted. */
  pages?: number | undefined
  seconds?: number | undefined
}

/** Signatures of accepted formats. An unreadable file with one of them is damaged, not unknown. */
const signature =
  /^(\x89PNG|\xff\xd8\xff|GIF8[79]a|RIFF[^]{4}(WEBP|WAVE)|OggS|fLaC|ID3|\xff[\xe2\xe3\xf0-\xf3\xf8-\xfb])/

/** Control characters, except tab, line ends and form feed. */
const controlCharacter = /[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]/

/**
 * Detects an uploaded file by its content, ignoring its name and declared type, and extracts its
 * text. Throws `upload_type`, `upload_unreadable`, and `try_again` when too many PDFs are queued.
 */
export async function detectFile(pdfs: PdfReader, bytes: Uint8Array): Promise<DetectedFile> {
  if (bytes.length === 0) throw unreadable('it is empty')
  const head = letters(bytes, 0, 1_024)
  if (head.includes('%PDF-')) {
    const pdf = await pdfs.read(bytes)
    if ('unreadable' in pdf) throw unreadable(pdf.unreadable)
    return { kind: 'pdf', type: 'application/pdf', ...pdf }
  }
  const media = readContainer(bytes)
  if (media && 'reason' in media) throw unreadable(media.reason)
  if (media && media.container !== 'x-matroska') {
    const { kind, container, seconds } = media
    return { kind, type: `${kind}/${container}`, seconds }
  }
  if (!signature.test(head)) return readPlainText(bytes)
  const file = await detectPrivateFileKind(bytes)
  if ('reason' in file) throw unreadable(file.reason)
  if (file.kind === 'picture') return { kind: 'image', type: file.type }
  if (file.kind === 'sound') return { kind: 'audio', type: file.type, seconds: file.seconds }
  return readPlainText(bytes)
}

const unreadable = (why: string) => new ApiError('upload_unreadable', { why })

function readPlainText(bytes: Uint8Array): DetectedFile {
  const text = decodeUtf8(bytes)
  if (text === undefined || controlCharacter.test(text)) throw new ApiError('upload_type')
  return { kind: 'text', type: 'text/plain; charset=utf-8', text }
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
