import { letters, riffChunks, viewOf } from './riff.ts'

/** The reason that an image file is invalid; undefined when it follows its format to the end. */
type Problem = string | undefined

const cutOff = 'the file is cut off'
const trailing = 'there is data after the end of the image'
const damaged = 'the file is damaged'

/** Checks a PNG (W3C PNG, section 5): chunks with valid checksums, the last one IEND. */
export function pngProblem(bytes: Uint8Array): Problem {
  const view = viewOf(bytes)
  let at = 8
  while (at + 12 <= bytes.length) {
    const size = view.getUint32(at)
    const end = at + 12 + size
    if (end > bytes.length) return cutOff
    if (Bun.hash.crc32(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return damaged
    if (letters(bytes, at + 4, 4) === 'IEND') return end === bytes.length ? undefined : trailing
    at = end
  }
  return cutOff
}

/**
 * Checks a JPEG (ITU T.81, annex B): segments and scans, and after the end marker only what cameras
 * write there.
 */
export function jpegProblem(bytes: Uint8Array): Problem {
  const end = jpegEnd(bytes, 0)
  if (typeof end === 'string') return end
  return hasCameraTail(bytes, end) ? undefined : trailing
}

/** Checks a JPEG, and ignores all data after its end marker, as decoders do. */
export function jpegImageProblem(bytes: Uint8Array): Problem {
  const end = jpegEnd(bytes, 0)
  return typeof end === 'string' ? end : undefined
}

/** The most images that a camera writes into one file. */
const cameraImagesMax = 64

/**
 * Returns whether the data after an image is what cameras write: more images (Ultra HDR, CIPA
 * DC-007) with zero bytes around them, then the video of a motion photo, or Samsung's trailer.
 */
function hasCameraTail(bytes: Uint8Array, from: number): boolean {
  if (hasSamsungTrailer(bytes)) return true
  let at = from
  for (let images = 0; images < cameraImagesMax; images += 1) {
    while (bytes[at] === 0) at += 1
    if (at === bytes.length || /^[^]{1,4}ftyp/.test(letters(bytes, at, 8))) return true
    const end = letters(bytes, at, 3) === '\xff\xd8\xff' ? jpegEnd(bytes, at) : damaged
    if (typeof end === 'string') return false
    at = end
  }
  return false
}

/** Checks for a directory `SEFH`, its size, and `SEFT` at the end of a file. */
function hasSamsungTrailer(bytes: Uint8Array): boolean {
  const end = bytes.length - 8
  if (end < 0 || letters(bytes, end + 4, 4) !== 'SEFT') return false
  return letters(bytes, end - viewOf(bytes).getUint32(end, true), 4) === 'SEFH'
}

/** Returns the end of the JPEG at an offset, or its problem. */
function jpegEnd(bytes: Uint8Array, from: number): number | string {
  const view = viewOf(bytes)
  let at = from + 2
  let scanned = false
  while (at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) return damaged
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at += 1
    } else if (marker === 0xd9) {
      return scanned ? at + 2 : damaged
    } else {
      if (at + 4 > bytes.length) return cutOff
      const size = view.getUint16(at + 2)
      if (size < 2) return damaged
      at += 2 + size
      if (marker === 0xda) {
        at = endOfScan(bytes, at)
        scanned = true
      }
    }
  }
  return cutOff
}

/** Returns the end of a scan's data: the first marker that is neither stuffing nor a restart. */
function endOfScan(bytes: Uint8Array, from: number): number {
  let at = bytes.indexOf(0xff, from)
  while (at >= 0) {
    const next = bytes[at + 1] ?? 0
    if (next !== 0 && (next < 0xd0 || next > 0xd7)) return at
    at = bytes.indexOf(0xff, at + 2)
  }
  return bytes.length
}

/** Checks a GIF (GIF89a): blocks up to the trailer, and at least one frame inside the screen. */
export function gifProblem(bytes: Uint8Array): Problem {
  if (bytes.length < 14) return cutOff
  const view = viewOf(bytes)
  const width = view.getUint16(6, true)
  const height = view.getUint16(8, true)
  let at = 13 + tableBytes(bytes[10])
  let frames = 0
  while (at < bytes.length) {
    const kind = bytes[at]
    if (kind === 0x3b) {
      if (frames === 0) return damaged
      return at + 1 === bytes.length ? undefined : trailing
    }
    if (kind === 0x2c) {
      if (at + 11 > bytes.length) return cutOff
      const right = view.getUint16(at + 1, true) + view.getUint16(at + 5, true)
      const bottom = view.getUint16(at + 3, true) + view.getUint16(at + 7, true)
      if (right > width || bottom > height) return damaged
      frames += 1
      at = endOfBlocks(bytes, at + 11 + tableBytes(bytes[at + 9]))
    } else if (kind === 0x21) {
      at = endOfBlocks(bytes, at + 2)
    } else {
      return damaged
    }
  }
  return cutOff
}

/** Returns the bytes of the color table that a GIF's packed field declares. */
const tableBytes = (packed = 0): number => (packed & 0x80 ? 3 << ((packed & 7) + 1) : 0)

/** Returns the end of a chain of GIF sub-blocks. */
function endOfBlocks(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length) {
    const size = bytes[at] ?? 0
    at += size + 1
    if (size === 0) break
  }
  return at
}

/** Checks a WebP (RFC 9649): a RIFF file that ends where it declares and holds an image. */
export function webpProblem(bytes: Uint8Array): Problem {
  const chunks = riffChunks(bytes, false)
  if (typeof chunks === 'string') return chunks
  const drawn = chunks.some((chunk) => /^(VP8 |VP8L|ANMF)$/.test(chunk.id))
  return drawn ? undefined : damaged
}
