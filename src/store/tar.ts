import { basename, dirname } from 'node:path'

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
export function tarHeader({ name, bytes, mtime, mode = 0o600 }: HeaderFields): Uint8Array {
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
export async function* tar(entries: AsyncIterable<Entry>): AsyncGenerator<Uint8Array> {
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
