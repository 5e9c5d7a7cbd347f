import { letters, viewOf } from './riff.ts'

/** Brands of ISO 14496-12 files that hold only images or audio. */
const imageAndAudioBrands = /^(M4[AB] |hei[cxms]|mif1|msf1|avif|avis|crx )/

/**
 * Detects a video's type by its first bytes: ISO 14496-12 (`ftyp`), or WebM (RFC 9559) by the EBML
 * header (RFC 8794). Returns undefined for anything else.
 */
export function detectVideoType(bytes: Uint8Array): 'video/mp4' | 'video/webm' | undefined {
  if (letters(bytes, 4, 4) === 'ftyp') {
    return imageAndAudioBrands.test(letters(bytes, 8, 4)) ? undefined : 'video/mp4'
  }
  const head = letters(bytes, 0, 64)
  return head.startsWith('\x1a\x45\xdf\xa3') && head.includes('webm') ? 'video/webm' : undefined
}

/** A box or an element: its name, and the offsets of its content. */
interface Block {
  name: string
  start: number
  end: number
}

type ReadBlock = (view: DataView, at: number, end: number) => Block

const blocksMax = 10_000

/** Returns the first block with a name, within another block. */
function findBlock(
  view: DataView,
  read: ReadBlock,
  name: string,
  within?: Block,
): Block | undefined {
  const end = within?.end ?? view.byteLength
  let at = within?.start ?? 0
  for (let seen = 0; at < end && seen < blocksMax; seen += 1) {
    const block = read(view, at, end)
    if (block.name === name) return block
    at = block.end
  }
  return undefined
}

/** Reads a box (ISO 14496-12, section 4.2): a 32-bit size, a 64-bit size, or to the end. */
const readBox: ReadBlock = (view, at, end) => {
  const small = view.getUint32(at)
  const isLarge = small === 1
  const size = isLarge ? Number(view.getBigUint64(at + 8)) : small || end - at
  const start = at + (isLarge ? 16 : 8)
  return {
    name: letters(bytesAt(view, at + 4, 4), 0, 4),
    start,
    end: Math.min(end, Math.max(start, at + size)),
  }
}

/** Reads an element (RFC 8794, sections 4 to 6). One of unknown size runs to the end. */
const readElement: ReadBlock = (view, at, end) => {
  const idBytes = Math.clz32(view.getUint8(at)) - 23
  const name = hexAt(view, at, idBytes)
  const first = view.getUint8(at + idBytes)
  const sizeBytes = Math.clz32(first) - 23
  const start = at + idBytes + sizeBytes
  let size = first & (0xff >> sizeBytes)
  let isOpen = size === 0xff >> sizeBytes
  for (let next = at + idBytes + 1; next < start; next += 1) {
    isOpen &&= view.getUint8(next) === 0xff
    size = size * 256 + view.getUint8(next)
  }
  return { name, start, end: isOpen ? end : Math.min(end, start + size) }
}

const bytesAt = (view: DataView, at: number, length: number): Uint8Array =>
  new Uint8Array(view.buffer, view.byteOffset + at, length)
const hexAt = (view: DataView, at: number, length: number): string =>
  bytesAt(view, at, length).toHex()

/** Returns a video's duration in seconds, undefined when its header lacks it, or the problem. */
export function readVideoDuration(
  bytes: Uint8Array,
  type: 'video/mp4' | 'video/webm',
): { seconds: number | undefined } | { reason: string } {
  const view = viewOf(bytes)
  try {
    const seconds = type === 'video/mp4' ? secondsOfMp4(view) : secondsOfWebm(view)
    return seconds === 'cut' ? { reason: 'the file is cut off' } : { seconds }
  } catch (error) {
    if (error instanceof RangeError) return { reason: 'the file is damaged' }
    throw error
  }
}

/** Reads the movie header's duration. A fragmented video has none. */
function secondsOfMp4(view: DataView): number | undefined | 'cut' {
  const movie = findBlock(view, readBox, 'moov')
  const header = movie && findBlock(view, readBox, 'mvhd', movie)
  if (!header) return 'cut'
  const { start } = header
  const isLong = view.getUint8(start) === 1
  const scale = view.getUint32(start + (isLong ? 20 : 12))
  const length = isLong ? Number(view.getBigUint64(start + 24)) : view.getUint32(start + 16)
  const isOpen = length === 0 || length >= (isLong ? 2 ** 64 : 2 ** 32) - 1
  return scale === 0 || isOpen ? undefined : length / scale
}

const ids = { segment: '18538067', info: '1549a966', scale: '2ad7b1', duration: '4489' }
const nanosecondsPerSecond = 1e9
const scaleDefault = 1_000_000

function secondsOfWebm(view: DataView): number | undefined | 'cut' {
  const segment = findBlock(view, readElement, ids.segment)
  const info = segment && findBlock(view, readElement, ids.info, segment)
  if (!info) return 'cut'
  const length = findBlock(view, readElement, ids.duration, info)
  if (!length) return undefined
  const isLong = length.end - length.start === 8
  const duration = isLong ? view.getFloat64(length.start) : view.getFloat32(length.start)
  const scaled = findBlock(view, readElement, ids.scale, info)
  const scale = scaled
    ? Number(`0x${hexAt(view, scaled.start, scaled.end - scaled.start)}`)
    : scaleDefault
  const seconds = (duration * scale) / nanosecondsPerSecond
  return seconds > 0 && Number.isFinite(seconds) ? seconds : undefined
}
