/** A chunk of a RIFF file: its four-letter id, and the offsets of its content. */
interface Chunk {
  id: string
  start: number
  end: number
}

const chunksMax = 20_000
const streamed = new Set([0, 0xffffffff])

export const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Returns `length` bytes as Latin-1 text, for four-letter ids. */
export const letters = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length))

/**
 * Returns the chunks of a RIFF file (WebP, WAV) that ends where it declares, or the problem with
 * it. Audio written to a pipe leaves its sizes open (0 or all ones); `data` then runs to the end.
 */
export function riffChunks(bytes: Uint8Array, mayBeStreamed: boolean): Chunk[] | string {
  const view = viewOf(bytes)
  const declaredSize = view.getUint32(4, true)
  const open = mayBeStreamed && streamed.has(declaredSize)
  const end = declaredSize + 8 + (declaredSize & 1)
  if (!open && end > bytes.length && declaredSize + 8 !== bytes.length) return 'the file is cut off'
  if (!open && end < bytes.length) return 'there is data after the end of the file'
  const chunks: Chunk[] = []
  let at = 12
  while (at < bytes.length) {
    if (at + 8 > bytes.length || chunks.length >= chunksMax) return 'the file is damaged'
    const id = letters(bytes, at, 4)
    const size = view.getUint32(at + 4, true)
    const toEnd = open && id === 'data' && streamed.has(size)
    const start = at + 8
    const stop = toEnd ? bytes.length : start + size
    if (stop > bytes.length) return 'the file is cut off'
    chunks.push({ id, start, end: stop })
    at = stop + (size & 1)
    if (toEnd) break
  }
  return chunks
}
