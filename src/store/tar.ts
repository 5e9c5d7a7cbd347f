import { mkdir, open } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

import { syncFolder } from './durable.ts'

/** A file to archive: its name in the archive, and its path on disk. */
export interface Entry {
  name: string
  path: string
}

const block = 512
const bytesInOctalMax = 8 ** 11
const encoder = new TextEncoder()

const octal = (value: number, chars: number): string =>
  `${value.toString(8).padStart(chars - 1, '0')}\0`

/** A file in a header: its bytes, the seconds since 1970, and its permissions. */
interface HeaderFields {
  name: string
  bytes: number
  mtime: number
  mode?: number
}

/** Returns a file's header (POSIX.1-2001 ustar; sizes past 8 GiB are binary, as in GNU tar). */
export function tarHeader({
  name,
  bytes,
  mtime,
  mode = 0o600,
}: HeaderFields): Uint8Array<ArrayBuffer> {
  const header = new Uint8Array(block)
  const write = (text: string, at: number): void =>
    void encoder.encodeInto(text, header.subarray(at))
  write(basename(name), 0)
  write(octal(mode, 8), 100)
  write(octal(0, 8) + octal(0, 8), 108)
  if (bytes < bytesInOctalMax) write(octal(bytes, 12), 124)
  else {
    header[124] = 0x80
    new DataView(header.buffer).setBigUint64(128, BigInt(bytes))
  }
  write(octal(mtime, 12), 136)
  write(' '.repeat(8), 148)
  write('0', 156)
  write('ustar\0' + '00', 257)
  write(dirname(name) === '.' ? '' : dirname(name), 345)
  const checksum = header.reduce((sum, one) => sum + one, 0)
  write(`${octal(checksum, 7)} `, 148)
  return header
}

/**
 * Yields a tar archive of files that do not change meanwhile. A file name may have at most 100
 * bytes, its folder 155.
 */
export async function* tar(entries: AsyncIterable<Entry>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const { name, path } of entries) {
    const file = Bun.file(path)
    const { size, mtime } = await file.stat()
    yield tarHeader({ name, bytes: size, mtime: Math.floor(mtime.getTime() / 1_000) })
    for await (const piece of file.stream()) yield piece
    const rest = size % block
    if (rest > 0) yield new Uint8Array(block - rest)
  }
  yield new Uint8Array(2 * block)
}

/** Reads a stream by counts of bytes. */
class ByteReader {
  private piece: Uint8Array = new Uint8Array()
  private readonly pieces: AsyncIterator<Uint8Array>

  constructor(stream: AsyncIterable<Uint8Array>) {
    this.pieces = stream[Symbol.asyncIterator]()
  }

  /** Yields the next `count` bytes. Throws where the stream ends before. */
  async *take(count: number): AsyncGenerator<Uint8Array> {
    for (let left = count; left > 0;) {
      while (this.piece.length === 0) {
        const { done, value } = await this.pieces.next()
        if (done) throw new Error('its end is missing')
        this.piece = value
      }
      const some = this.piece.subarray(0, left)
      this.piece = this.piece.subarray(some.length)
      left -= some.length
      yield some
    }
  }

  async bytes(count: number): Promise<Uint8Array> {
    return Buffer.concat(await Array.fromAsync(this.take(count)))
  }

  /** Reads to the end, so that a stream that is checked at its end is checked. */
  async drain(): Promise<void> {
    while (!(await this.pieces.next()).done);
  }
}

const pathPattern = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/

/**
 * Unpacks what `tar` packed into a folder, without the first folder of each path. Throws an Error
 * for an archive that is damaged or not made by `tar`.
 */
export async function untar(archive: AsyncIterable<Uint8Array>, dir: string): Promise<void> {
  const reader = new ByteReader(archive)
  const folders = new Set([dir])
  await mkdir(dir, { recursive: true, mode: 0o700 })
  for (;;) {
    const header = await reader.bytes(block)
    if (header.every((byte) => byte === 0)) break
    const { path, bytes } = readHeader(header)
    const to = join(dir, path.replace(/^[^/]*\//, ''))
    folders.add(dirname(to))
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    const file = await open(to, 'wx', 0o600)
    try {
      for await (const piece of reader.take(bytes)) await file.writeFile(piece)
      await file.datasync()
    } finally {
      await file.close()
    }
    await reader.bytes((block - (bytes % block)) % block)
  }
  await reader.drain()
  for (const folder of folders) await syncFolder(folder)
}

function readHeader(header: Uint8Array): { path: string; bytes: number } {
  const text = (from: number, to: number): string =>
    new TextDecoder().decode(header.subarray(from, to)).replace(/\0.*$/s, '')
  const sum = header.reduce((all, one, at) => all + (at >= 148 && at < 156 ? 32 : one), 0)
  if (Number.parseInt(text(148, 156), 8) !== sum) throw new Error('a header is damaged')
  const path = [text(345, 500), text(0, 100)].filter(Boolean).join('/')
  const isPlain = pathPattern.test(path) && !path.split('/').includes('..')
  if (!isPlain || header[156] !== 0x30) throw new Error(`${JSON.stringify(path)} is unexpected`)
  const isBinary = header[124] === 0x80
  const bytes = isBinary
    ? Number(new DataView(header.buffer, header.byteOffset).getBigUint64(128))
    : Number.parseInt(text(124, 136), 8)
  return { path, bytes }
}
