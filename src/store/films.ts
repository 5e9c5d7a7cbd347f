import { letters } from './riff.ts'

/**
 * What a film is, told by its first bytes: ISO 14496-12 (`ftyp`), or Matroska's EBML header
 * (RFC 8794). Undefined when it is none of the two.
 */
export function filmTypeOf(bytes: Uint8Array): 'video/mp4' | 'video/webm' | undefined {
  if (letters(bytes, 4, 4) === 'ftyp') return 'video/mp4'
  return letters(bytes, 0, 4) === '\x1a\x45\xdf\xa3' ? 'video/webm' : undefined
}
