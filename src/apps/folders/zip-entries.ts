import {
  again,
  crc32,
  cutOff,
  extraField,
  none32,
  shown,
  uint64,
  viewOf,
  type ZipDirectory,
  type ZipEntry,
  ZipError,
} from './zip-directory.ts'

const damaged = ({ path }: Pick<ZipEntry, 'path'>, why: string): ZipError =>
  new ZipError(`${shown(path)} is damaged: ${why}. ${again}`)

/** The bit of an entry whose checksum and sizes follow its data. */
const hasDescriptor = ({ flags }: ZipEntry): boolean => (flags & 8) !== 0

/**
 * Returns the packed bytes of each entry. Local headers must repeat the directory, and the entries
 * fill the zip up to its directory: another reader could otherwise find other files. Throws
 * ZipError.
 */
export function locateEntries(
  zip: Uint8Array,
  { entries, start: directoryStart }: ZipDirectory,
): { entry: ZipEntry; packed: Uint8Array }[] {
  const sorted = entries.toSorted((a, b) => a.start - b.start)
  let at = 0
  const located = sorted.map((entry, index) => {
    const { path, start, packedBytes } = entry
    if (start > at)
      throw new ZipError(`it has bytes before ${shown(path)} that belong to no file. ${again}`)
    const end = sorted[index + 1]?.start ?? directoryStart
    const dataStart = start + checkLocalHeader(zip.subarray(start, directoryStart), entry)
    const dataEnd = dataStart + packedBytes
    if (start < at || dataEnd > end) throw damaged(entry, 'it overlaps another part of the zip')
    if (hasDescriptor(entry)) checkDescriptor(zip.subarray(dataEnd, end), entry)
    at = hasDescriptor(entry) ? end : dataEnd
    return { entry, packed: zip.subarray(dataStart, dataEnd) }
  })
  if (at !== directoryStart)
    throw new ZipError(`it has bytes after its last file that belong to no file. ${again}`)
  return located
}

const isEqual = (a: Uint8Array, b: Uint8Array): boolean =>
  a.byteLength === b.byteLength && a.every((byte, at) => byte === b[at])

/** Compares a local header with the directory. Returns its length. */
function checkLocalHeader(zip: Uint8Array, entry: ZipEntry): number {
  const view = viewOf(zip)
  if (zip.byteLength < 30 || view.getUint32(0, true) !== 0x04034b50) {
    throw damaged(entry, 'its header is missing')
  }
  const nameEnd = 30 + view.getUint16(26, true)
  const length = nameEnd + view.getUint16(28, true)
  if (length > zip.byteLength) throw cutOff()
  const isSameName = isEqual(zip.subarray(30, nameEnd), entry.nameBytes)
  const bits = 0x2049
  const isSame =
    isSameName &&
    (view.getUint16(6, true) & bits) === (entry.flags & bits) &&
    view.getUint16(8, true) === entry.method
  if (!isSame) throw damaged(entry, 'its header and the directory of the zip disagree')
  const wide = extraField(zip.subarray(nameEnd, length), 1)
  const sizeAt = (at: number, wideAt: number): number => {
    const value = view.getUint32(at, true)
    const isWide = value === none32 && wide !== undefined && wide.byteLength >= wideAt + 8
    return isWide ? uint64(viewOf(wide), wideAt) : value
  }
  const values = [
    [view.getUint32(14, true), entry.crc],
    [sizeAt(22, 0), entry.bytes],
    [sizeAt(18, 8), entry.packedBytes],
  ]
  // The header of an entry with a descriptor was written before they were known.
  const isUnknown = (value = 0): boolean =>
    hasDescriptor(entry) && (value === 0 || value === none32)
  if (values.some(([value, known]) => value !== known && !isUnknown(value))) {
    throw damaged(entry, 'its checksum or its sizes in the header and the directory disagree')
  }
  return length
}

/** Checks what follows the data of an entry: with or without a signature, sizes of 4 or 8 bytes. */
function checkDescriptor(descriptor: Uint8Array, entry: ZipEntry): void {
  const view = viewOf(descriptor)
  const { byteLength } = descriptor
  const at = byteLength % 8 === 0 ? 4 : 0
  const isWide = byteLength >= 20
  const isKnown = [12, 16, 20, 24].includes(byteLength)
  const hasSignature = at === 0 || (isKnown && view.getUint32(0, true) === 0x08074b50)
  const agrees =
    isKnown &&
    hasSignature &&
    view.getUint32(at, true) === entry.crc &&
    (isWide ? uint64(view, at + 4) : view.getUint32(at + 4, true)) === entry.packedBytes &&
    (isWide ? uint64(view, at + 12) : view.getUint32(at + 8, true)) === entry.bytes
  if (!agrees) throw damaged(entry, 'the checksum and sizes after its data are wrong')
}

type UnpackedEntry = Pick<ZipEntry, 'path' | 'method' | 'bytes' | 'crc'>

/** Unpacks an entry and checks its length and checksum. Throws ZipError. */
export async function unpackEntry(entry: UnpackedEntry, packed: Uint8Array): Promise<Uint8Array> {
  const bytes = entry.method === 0 ? packed.slice() : await inflate(entry, packed)
  if (bytes.byteLength !== entry.bytes) throw damaged(entry, 'its size is wrong')
  if (crc32(bytes) !== entry.crc) throw damaged(entry, 'its checksum is wrong')
  return bytes
}

/** Inflates an entry, and stops at the length that the directory announces. */
async function inflate(entry: UnpackedEntry, packed: Uint8Array): Promise<Uint8Array> {
  const bytes = new Uint8Array(entry.bytes)
  let at = 0
  const stream = new Blob([new Uint8Array(packed)]).stream()
  const reader = stream.pipeThrough(new DecompressionStream('deflate-raw')).getReader()
  for (;;) {
    const { done, value } = await reader.read().catch((): never => {
      throw damaged(entry, 'it cannot be unpacked')
    })
    if (done && at < bytes.byteLength) throw damaged(entry, 'it is smaller than the zip says')
    if (done) return bytes
    if (at + value.byteLength > bytes.byteLength) {
      await reader.cancel()
      throw damaged(entry, 'it is larger than the zip says')
    }
    bytes.set(value, at)
    at += value.byteLength
  }
}
