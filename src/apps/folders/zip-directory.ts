import { unsafePathProblem } from './paths.ts'

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 && 0xedb8_8320)
  return crc
})

/** Returns the checksum of zip files (CRC-32 of ISO 3309). Browsers have none of their own. */
export function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) crc = (crc >>> 8) ^ (table[(crc ^ byte) & 0xff] ?? 0)
  return ~crc >>> 0
}

/** A file or folder of a zip, as its directory describes it. */
export interface ZipEntry {
  path: string
  isFolder: boolean
  /** Why the entry is not read; undefined for a plain file or folder. */
  problem: string | undefined
  nameBytes: Uint8Array
  flags: number
  method: number
  crc: number
  packedBytes: number
  bytes: number
  /** The position of its local header. */
  start: number
}

/** The entries of a zip, and where its directory begins. */
export interface ZipDirectory {
  entries: ZipEntry[]
  start: number
}

/** Thrown for a zip that cannot be read. The message is a sentence for people. */
export class ZipError extends Error {}

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

/** Values of 16 and 32 bits that stand for one in a zip64 record. */
const none16 = 0xffff
export const none32 = 0xffff_ffff

/** Reads 64 bits. More than a zip of this size can mean is as wrong as the largest integer. */
export const uint64 = (view: DataView, at: number): number =>
  Math.min(Number(view.getBigUint64(at, true)), Number.MAX_SAFE_INTEGER)

export const cutOff = (): ZipError =>
  new ZipError('it is not a zip, or its end is missing. Send the complete file.')
const damaged = (): ZipError =>
  new ZipError('its directory is damaged. Create the zip again and send the new one.')
const foreignBytes = (place: string): ZipError =>
  new ZipError(`it has bytes ${place} that belong to no file. Create the zip again.`)

const endBytes = 22
const commentBytesMax = 0xffff

/** Returns the position of the record at the end. Its comment reaches the last byte. */
function findEnd(zip: Uint8Array, view: DataView): number {
  const last = zip.byteLength - endBytes
  let hasOther = false
  for (let at = last; at >= Math.max(0, last - commentBytesMax); at -= 1) {
    if (view.getUint32(at, true) !== 0x06054b50) continue
    if (at + endBytes + view.getUint16(at + 20, true) === zip.byteLength) return at
    hasOther = true
  }
  throw hasOther ? foreignBytes('after its end') : cutOff()
}

interface End {
  count: number
  size: number
  start: number
  end: number
}

/** Reads the end of a zip. A zip64 record must repeat or replace each value (APPNOTE 4.3.14). */
function readEnd(zip: Uint8Array, view: DataView): End {
  const at = findEnd(zip, view)
  const disks = [view.getUint16(at + 4, true), view.getUint16(at + 6, true)]
  const [onDisk, count] = [view.getUint16(at + 8, true), view.getUint16(at + 10, true)]
  const [size, start] = [view.getUint32(at + 12, true), view.getUint32(at + 16, true)]
  const locator = at - 20
  if (locator < 0 || view.getUint32(locator, true) !== 0x07064b50) {
    if (disks.some((disk) => disk !== 0) || onDisk !== count) throw severalDisks()
    return { count, size, start, end: at }
  }
  const end = uint64(view, locator + 8)
  if (end + 56 > locator || view.getUint32(end, true) !== 0x06064b50) throw damaged()
  const wide = { count: uint64(view, end + 32), size: uint64(view, end + 40) }
  const wideStart = uint64(view, end + 48)
  if (view.getUint32(end + 16, true) !== 0 || uint64(view, end + 24) !== wide.count) {
    throw severalDisks()
  }
  const agrees =
    (count === none16 || count === wide.count) &&
    (size === none32 || size === wide.size) &&
    (start === none32 || start === wideStart) &&
    end + 12 + uint64(view, end + 4) === locator
  if (!agrees) throw damaged()
  return { ...wide, start: wideStart, end }
}

const severalDisks = (): ZipError =>
  new ZipError('it is one part of several. Create one zip without parts.')

export const tooManyFiles = (files: number, max: number): ZipError =>
  new ZipError(
    `it has ${files.toLocaleString('en')} files. The limit is ${max.toLocaleString('en')}.`,
  )

/** Reads the directory of a zip of at most `filesMax` files. Throws ZipError. */
export function readDirectory(zip: Uint8Array, filesMax: number): ZipDirectory {
  const view = viewOf(zip)
  const { count, size, start, end } = readEnd(zip, view)
  if (start + size < end) throw foreignBytes('before its first file or its end')
  if (start + size > end) throw cutOff()
  // Folders have entries of their own.
  if (count > 2 * filesMax) throw tooManyFiles(count, filesMax)
  const headers: Uint8Array[] = []
  let at = start
  while (headers.length < count) {
    if (at + 46 > end || view.getUint32(at, true) !== 0x02014b50) throw damaged()
    const next = at + 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true)
    const after = next + view.getUint16(at + 32, true)
    if (after > end) throw damaged()
    headers.push(zip.subarray(at, next))
    at = after
  }
  if (at !== end) throw damaged()
  const legacy = legacyNames(headers.map(nameOf))
  return { entries: headers.map((header) => readEntry(header, legacy)), start }
}

const nameOf = (header: Uint8Array): Uint8Array =>
  header.subarray(46, 46 + viewOf(header).getUint16(28, true))

function readEntry(header: Uint8Array, legacy: LegacyNames): ZipEntry {
  const view = viewOf(header)
  const flags = view.getUint16(8, true)
  const method = view.getUint16(10, true)
  const nameBytes = nameOf(header)
  const extra = header.subarray(46 + nameBytes.byteLength)
  // Windows Explorer and .NET have written "\" between folders.
  const raw = decodeName(nameBytes, { flags, extra, legacy }).replaceAll('\\', '/')
  const path = raw.replace(/^(?:\.\/)+(?=.)/, '').normalize('NFC')
  const isFolder = path.endsWith('/')
  const sizes = [24, 20, 42].map((at) => view.getUint32(at, true))
  const [bytes = 0, packedBytes = 0, start = 0] = wideValues(sizes, extra, path)
  const attributes = view.getUint32(38, true)
  const entry = { path, isFolder, nameBytes, flags, method, bytes, packedBytes, start }
  return { ...entry, crc: view.getUint32(16, true), problem: problemOf(entry, attributes) }
}

/** Returns the data of an extra field; undefined where the entry has none of this id. */
export function extraField(extra: Uint8Array, id: number): Uint8Array | undefined {
  const view = viewOf(extra)
  for (let at = 0; at + 4 <= extra.byteLength;) {
    const end = at + 4 + view.getUint16(at + 2, true)
    if (view.getUint16(at, true) === id) return extra.subarray(at + 4, end)
    at = end
  }
  return undefined
}

/** Replaces values that are in the zip64 field, which has only those, in this order. */
function wideValues(values: number[], extra: Uint8Array, path: string): number[] {
  const wide = extraField(extra, 1) ?? new Uint8Array()
  let at = 0
  return values.map((value) => {
    if (value !== none32) return value
    at += 8
    if (at > wide.byteLength) throw new ZipError(`${shown(path)} has no zip64 size. ${again}`)
    return uint64(viewOf(wide), at - 8)
  })
}

/**
 * Decodes a name: UTF-8 where the zip says so or it is valid, as macOS omits the mark. Info-ZIP
 * adds a field with the name in Unicode.
 */
function decodeName(
  bytes: Uint8Array,
  { flags, extra, legacy }: { flags: number; extra: Uint8Array; legacy: LegacyNames },
): string {
  const field = extraField(extra, 0x7075)
  // The field has the checksum of the name that it replaces: a renamed entry may have an old one.
  const isCurrent =
    field !== undefined && field.byteLength > 5 && viewOf(field).getUint32(1, true) === crc32(bytes)
  const name = inUtf8(isCurrent ? field.subarray(5) : bytes)
  if (name !== undefined) return name
  if ((flags & 0x800) === 0) return legacy(bytes)
  throw new ZipError(`the name ${shown(cp437(bytes))} is not UTF-8. Rename the file.`)
}

/** Returns a name from a zip for a message. */
export const shown = (path: string): string => JSON.stringify(path.slice(0, 200))
export const again = 'Create the zip again and send the new one.'

const fileTypeMask = 0o170000
const regularFile = 0o100000
/** The standard input of `zip - -`. */
const pipe = 0o010000
const folderType = 0o040000
/** An NTFS reparse point, such as a symbolic link. */
const reparsePoint = 0x400

const methodNames = new Map(
  Object.entries({
    9: 'Deflate64',
    12: 'bzip2',
    14: 'LZMA',
    93: 'Zstandard',
    95: 'xz',
    98: 'PPMd',
  }),
)

function problemOf(
  { path, isFolder, flags, method, bytes }: Omit<ZipEntry, 'crc' | 'problem'>,
  attributes: number,
): string | undefined {
  const unsafe = unsafePathProblem(isFolder ? path.slice(0, -1) : path)
  if (unsafe !== undefined) return `has an invalid path: ${unsafe}.`
  // Bits for passwords, strong encryption and an encrypted directory; 99 is AES.
  if ((flags & 0x2041) !== 0 || method === 99) {
    return 'is encrypted. Send a zip without a password.'
  }
  const type = (attributes >>> 16) & fileTypeMask
  const isPlain =
    type === 0 || type === regularFile || type === pipe || (isFolder && type === folderType)
  if (!isPlain || (attributes & reparsePoint) !== 0) {
    return 'is a link or a special file. Send the file itself.'
  }
  if (isFolder) return bytes === 0 ? undefined : `is a folder with content. ${again}`
  if (method === 0 || method === 8) return undefined
  const name = methodNames.get(String(method)) ?? `the compression method ${method}`
  return `is compressed with ${name}. Create a zip with the method Deflate.`
}

/** Decodes a name of a zip that is not UTF-8. */
export type LegacyNames = (bytes: Uint8Array) => string

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Returns a name in UTF-8; undefined for other bytes. */
function inUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The upper half of code page 437 of MS-DOS, the names of a zip without a mark for UTF-8. */
const upper =
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌' +
  '█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\xa0'

const cp437: LegacyNames = (bytes) =>
  [...bytes].map((byte) => upper[byte - 0x80] ?? String.fromCharCode(byte)).join('')

/** Letters of Europe with the marks that people write around them, as code page 437 has them. */
const european = /^[\x20-\x7eÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜáíóúñÑªº¿¡ß]*$/
/** Bytes of Japanese that happen to be letters: a small one before a capital or a symbol. */
const brokenWord = /[üéâäàåçêëèïîìæôöòûùÿáíóúñß][A-Z@[\\\]^`{|}~]/
const japanese = /[\u3040-\u30ff\u4e00-\u9fff]/

/**
 * Chooses the encoding of all names of a zip that are not UTF-8. Windows in Japan writes Shift_JIS,
 * other systems code page 437, and neither says so.
 */
function legacyNames(names: Uint8Array[]): LegacyNames {
  const others = names.filter((bytes) => inUtf8(bytes) === undefined)
  const isEuropean = others.every((bytes) => {
    const name = cp437(bytes)
    return european.test(name) && !brokenWord.test(name)
  })
  if (isEuropean) return cp437
  const shiftJis = new TextDecoder('shift_jis', { fatal: true })
  try {
    const all = others.map((bytes) => shiftJis.decode(bytes)).join('')
    if (japanese.test(all)) return (bytes) => shiftJis.decode(bytes)
  } catch {
    // Some name is not Shift_JIS.
  }
  return cp437
}
