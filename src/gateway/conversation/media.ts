import { decodePath } from '../../kernel/http/path.ts'
import { lookUp } from '../../kernel/schema.ts'

/** The first bytes of media formats, in base64, with their types (WHATWG MIME Sniffing, 6). */
const signatures: readonly [start: RegExp, type: string][] = [
  [/^iVBORw0KGgo/, 'image/png'],
  [/^\/9j\//, 'image/jpeg'],
  [/^R0lGOD/, 'image/gif'],
  [/^UklGR.{6}XRUJQ/, 'image/webp'],
  [/^UklGR.{6}XQVZF/, 'audio/wav'],
  // ID3, or a frame of MPEG layer 3.
  [/^(SUQz|\/\/[I-Po-v])/, 'audio/mpeg'],
  [/^ZkxhQ/, 'audio/flac'],
  [/^JVBERi/, 'application/pdf'],
]

/** Labels that clients write and no provider knows. */
const labels: Record<string, string> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
  'audio/mp3': 'audio/mpeg',
  'audio/x-wav': 'audio/wav',
  'audio/wave': 'audio/wav',
  'application/x-pdf': 'application/pdf',
}

/** Returns the type of base64 data: by its content where that is known, else by its label. */
export function mediaTypeOf(data: string, label: string): string {
  const [, found] = signatures.find(([start]) => start.test(data)) ?? []
  const name = label.toLowerCase().split(';')[0]?.trim() ?? ''
  return found ?? lookUp(labels, name) ?? name
}

/** The types of addresses, whose content the gateway does not read. */
export const addressTypes = {
  image: 'image/jpeg',
  audio: 'audio/mpeg',
  video: 'video/mp4',
  file: 'application/pdf',
}
const imageExtension = /\.(png|webp|gif|heic|avif)$/i

/** Returns the type of media at an address: that of images by their extension. */
export function typeOfAddress(type: keyof typeof addressTypes, url: URL | null): string {
  const [, extension] = (type === 'image' && imageExtension.exec(url?.pathname ?? '')) || []
  return extension === undefined ? addressTypes[type] : `image/${extension.toLowerCase()}`
}

/** Returns OpenAI's name of an audio format. */
export const audioFormatOf = (mediaType: string): string =>
  mediaType === 'audio/mpeg' ? 'mp3' : mediaType.replace(/^audio\/(x-)?/, '')

/** Returns a name for a file without one, which OpenAI requires. */
export const defaultFilename = (mediaType: string): string =>
  mediaType === 'application/pdf' ? 'document.pdf' : 'document.txt'

/** Returns data as a data: URL. */
export const dataUrlOf = ({ data, mediaType }: { data: string; mediaType: string }): string =>
  `data:${mediaTypeOf(data, mediaType)};base64,${data}`

/** Returns an address: a data: URL with the type of its content. */
export function labelByContent(url: string): string {
  const data = parseDataUrl(url)
  return data ? dataUrlOf(data) : url
}

const dataUrl = /^data:([^,;]*)[^,]*,/i

/** Splits a data: URL into its base64 data and its type; undefined for any other address. */
export function parseDataUrl(url: string): { data: string; mediaType: string } | undefined {
  const [start, label = ''] = dataUrl.exec(url) ?? []
  if (start === undefined) return undefined
  const rest = url.slice(start.length)
  const data = /;base64,$/i.test(start)
    ? rest
    : Buffer.from(decodePath(rest) ?? rest).toString('base64')
  return { data, mediaType: mediaTypeOf(data, label) }
}
