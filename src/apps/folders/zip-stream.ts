import type { PagePosition } from '../../kernel/cursor.ts'
import { listPageMax } from '../../kernel/limits.ts'

/** A file of an archive: its path, and its content in pieces. */
export interface StreamedFile {
  path: string
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>
}

/** A file that was written, for the directory at the end. */
interface WrittenFile {
  name: Uint8Array
  crc: number
  bytes: number
  /** The position of its local header. */
  start: number
}

const encoder = new TextEncoder()
/** Sizes follow the content, and names are UTF-8. */
const flags = 0x808
const versionNeeded = 20
/** The version that reads the records of zip64. */
const versionWide = 45
/** 1980-01-01, the first day that the format knows. */
const firstDay = 0x21
const none16 = 0xffff
const none32 = 0xffff_ffff

/** A field of a record: its bytes and its value. */
type Field = [bytes: 2 | 4 | 8, value: number]

/** Returns the bytes of a record, little-endian. */
function record(...fields: Field[]): Uint8Array {
  const bytes = new Uint8Array(fields.reduce((sum, [size]) => sum + size, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [size, value] of fields) {
    if (size === 2) view.setUint16(at, value, true)
    else if (size === 4) view.setUint32(at, value, true)
    else view.setBigUint64(at, BigInt(value), true)
    at += size
  }
  return bytes
}

/** The fields that a local header and an entry of the directory share, after their versions. */
const shared = ({ name, crc, bytes }: Omit<WrittenFile, 'start'>, extra: number): Field[] => [
  [2, flags],
  [2, 0],
  [2, 0],
  [2, firstDay],
  [4, crc],
  [4, bytes],
  [4, bytes],
  [2, name.byteLength],
  [2, extra],
]

/**
 * Streams a zip of stored files (PKWARE APPNOTE 6.3.10), with one piece of a file in memory at a
 * time. More than 65,535 files or 4 GB have the records of zip64. Throws an Error for a file of
 * 4 GB or more.
 */
export async function* streamZip(files: AsyncIterable<StreamedFile>): AsyncGenerator<Uint8Array> {
  // Loaded on demand, because every start of a server imports this file.
  const { crc32 } = process.getBuiltinModule('node:zlib')
  const written: WrittenFile[] = []
  let at = 0
  for await (const { path, content } of files) {
    const name = encoder.encode(path)
    const start = at
    const head = { name, crc: 0, bytes: 0 }
    const header = record([4, 0x04034b50], [2, versionNeeded], ...shared(head, 0))
    yield header
    yield name
    for await (const piece of content) {
      head.crc = crc32(piece, head.crc)
      head.bytes += piece.byteLength
      if (piece.byteLength > 0) yield piece
    }
    if (head.bytes >= none32) throw new Error(`${path} is too large for a zip`)
    const descriptor = record([4, 0x08074b50], [4, head.crc], [4, head.bytes], [4, head.bytes])
    yield descriptor
    at += header.byteLength + name.byteLength + head.bytes + descriptor.byteLength
    written.push({ ...head, start })
  }
  let size = 0
  for (const file of written) {
    const entry = directoryEntry(file)
    size += entry.byteLength
    yield entry
  }
  yield endOf({ count: written.length, size, start: at })
}

function directoryEntry(file: WrittenFile): Uint8Array {
  const { name, start } = file
  const isWide = start >= none32
  const extra = isWide ? record([2, 1], [2, 8], [8, start]) : new Uint8Array()
  const version = isWide ? versionWide : versionNeeded
  const head = record(
    [4, 0x02014b50],
    [2, version],
    [2, version],
    ...shared(file, extra.byteLength),
    // No comment, disk 0, and no attributes.
    [2, 0],
    [2, 0],
    [2, 0],
    [4, 0],
    [4, isWide ? none32 : start],
  )
  return Buffer.concat([head, name, extra])
}

/** Returns the end of a zip. The values that do not fit are in a record of zip64 before it. */
function endOf({ count, size, start }: { count: number; size: number; start: number }): Uint8Array {
  const isWide = count >= none16 || size >= none32 || start >= none32
  const wide = isWide
    ? record(
        [4, 0x06064b50],
        [8, 44],
        [2, versionWide],
        [2, versionWide],
        [4, 0],
        [4, 0],
        [8, count],
        [8, count],
        [8, size],
        [8, start],
        // The locator: the disk and the position of the record above, and the number of disks.
        [4, 0x07064b50],
        [4, 0],
        [8, start + size],
        [4, 1],
      )
    : new Uint8Array()
  const end = record(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, Math.min(count, none16)],
    [2, Math.min(count, none16)],
    [4, Math.min(size, none32)],
    [4, Math.min(start, none32)],
    [2, 0],
  )
  return Buffer.concat([wide, end])
}

export const jsonFile = (path: string, value: unknown): StreamedFile => ({
  path,
  content: [encoder.encode(`${JSON.stringify(value, null, 2)}\n`)],
})

/** Returns a file with a JSON value in each line (JSON Lines), which `pages` reads one by one. */
export const linesFile = <Row>(
  path: string,
  pages: AsyncIterable<Row[]>,
  present: (rows: Row[]) => unknown[] | Promise<unknown[]> = (rows) => rows,
): StreamedFile => ({
  path,
  content: (async function* () {
    for await (const page of pages) {
      const rows = await present(page)
      yield encoder.encode(rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    }
  })(),
})

/** Reads a list page by page. `next` returns the position after the last row of a page. */
export async function* pagesOf<Row, Position>(
  find: (after: Position | undefined) => Promise<Row[]>,
  next: (last: Row) => Position,
): AsyncGenerator<Row[]> {
  let after: Position | undefined
  for (;;) {
    const rows = await find(after)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < listPageMax) return
    after = next(last)
  }
}

export const positionOf = ({ created, id }: PagePosition): PagePosition => ({ created, id })

/** Adds SHA256SUMS to the files of an archive, as `sha256sum --check` reads it. */
async function* withChecksums(files: AsyncIterable<StreamedFile>): AsyncGenerator<StreamedFile> {
  const lines: string[] = []
  for await (const { path, content } of files) {
    const hasher = new Bun.CryptoHasher('sha256')
    const hashed = async function* () {
      for await (const piece of content) {
        hasher.update(piece)
        yield piece
      }
    }
    yield { path, content: hashed() }
    lines.push(`${hasher.digest('hex')}  ${path}\n`)
  }
  yield { path: 'SHA256SUMS', content: [encoder.encode(lines.join(''))] }
}

export const exportZip = (files: AsyncIterable<StreamedFile>): AsyncGenerator<Uint8Array> =>
  streamZip(withChecksums(files))
