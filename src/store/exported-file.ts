import { isMissing, writeDurably } from './durable.ts'

/** The most bytes that an array has. */
const mappedBytesMax = 2 ** 32 - 1

/**
 * Returns the bytes of a file, mapped into memory where the system can: it may be larger than
 * memory. The file must not become shorter meanwhile. Returns undefined where there is none. Throws
 * an Error for 4 GB or more.
 */
export async function mapFile(path: string): Promise<Uint8Array | undefined> {
  const file = Bun.file(path)
  const size = await file.stat().then(
    (stat) => stat.size,
    (error: unknown) => {
      if (isMissing(error)) return undefined
      throw error
    },
  )
  if (size === undefined) return undefined
  if (size > mappedBytesMax) {
    throw new Error(`${path} has ${size.toLocaleString('en')} bytes. The limit is 4 GB.`)
  }
  return process.platform === 'win32' || size === 0 ? file.bytes() : Bun.mmap(path)
}

/** Writes a new file for its owner. Returns its bytes. Throws an Error where it exists. */
export async function writeNew(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  if (await Bun.file(path).exists()) throw new Error(`${path} exists. Name another file.`)
  return writeDurably(path, content, { mode: 0o600 })
}
