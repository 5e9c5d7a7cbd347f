/** Limit of an app's databases, in bytes and characters. */
export const databaseBytesMax = 5 * 1_048_576

/** Parts of one value that are counted. More count as too large. */
const partsMax = 1_000_000
const partBytes = 8

/** Returns the size of a value: bytes of buffers and blobs, characters, and 8 for other parts. */
export function sizeOf(value: unknown): number {
  const seen = new Set<object>()
  const waiting: unknown[] = [value]
  let bytes = 0
  for (let parts = 0; waiting.length > 0; parts += 1) {
    if (parts > partsMax) return Number.POSITIVE_INFINITY
    const part = waiting.pop()
    bytes += partBytes
    if (typeof part === 'string') bytes += part.length
    if (typeof part !== 'object' || part === null || seen.has(part)) continue
    seen.add(part)
    if (part instanceof ArrayBuffer) bytes += part.byteLength
    else if (ArrayBuffer.isView(part)) waiting.push(part.buffer)
    else if (part instanceof Blob) bytes += part.size
    else if (part instanceof ImageData) bytes += part.data.byteLength
    else if (part instanceof Map) for (const pair of part) waiting.push(...pair)
    else if (part instanceof Set) for (const one of part) waiting.push(one)
    else for (const [name, one] of Object.entries(part)) waiting.push(name, one)
  }
  return bytes
}
