import { viewOf } from './riff.ts'

/** The tracks of a media file and its length. */
export interface Recording {
  hasVideo: boolean
  hasAudio: boolean
  /** Undefined when nothing in the file gives a length. */
  seconds: number | undefined
  /** True if the structure was followed to the last byte. */
  isWhole: boolean
}

/** The most boxes or elements that are read of a file. A recording of four hours has fewer. */
export const blocksMax = 1_000_000

/**
 * Chooses between the length that a header declares and that of the samples, in seconds. A recorder
 * that writes while it records leaves the header open. A header that is a second shorter than the
 * samples is wrong.
 */
export function chooseLength(declared: number, counted: number): number | undefined {
  const seconds = declared > 0 && counted <= declared + 1 ? declared : counted
  const rounded = Math.round(seconds * 1_000) / 1_000
  return rounded > 0 && Number.isFinite(rounded) ? rounded : undefined
}

/** Elements that are read (RFC 9559, section 5). */
const ids = {
  segment: 0x18538067,
  info: 0x1549a966,
  scale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackType: 0x83,
  cluster: 0x1f43b675,
  time: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
}
/** Elements whose content is a list of elements that are read. */
const parents = new Set([ids.segment, ids.info, ids.tracks, ids.track, ids.cluster, ids.blockGroup])
const nanosecondsPerSecond = 1e9
const scaleDefault = 1_000_000

/** An element: its id, and the offsets of its content. One of unknown size has no end. */
interface Element {
  id: number
  start: number
  end: number | undefined
}

/** Reads an element (RFC 8794, sections 4 to 6); undefined where there is none. */
function readElement(view: DataView, at: number): Element | undefined {
  const idBytes = Math.clz32(view.getUint8(at)) - 23
  if (idBytes > 4) return undefined
  let id = 0
  for (let place = at; place < at + idBytes; place += 1) id = id * 256 + view.getUint8(place)
  const first = view.getUint8(at + idBytes)
  const sizeBytes = Math.clz32(first) - 23
  if (sizeBytes > 8) return undefined
  const start = at + idBytes + sizeBytes
  let size = first & (0xff >> sizeBytes)
  let isOpen = size === 0xff >> sizeBytes
  for (let place = at + idBytes + 1; place < start; place += 1) {
    isOpen &&= view.getUint8(place) === 0xff
    size = size * 256 + view.getUint8(place)
  }
  return { id, start, end: isOpen ? undefined : start + size }
}

/**
 * Reads a WebM or Matroska file (RFC 9559), also a recording whose sizes and length were never
 * written. Returns undefined without a segment's information, and throws RangeError where an
 * element ends before its fields. Every step moves forward in the file, so the time is linear in
 * its size.
 */
export function readWebm(bytes: Uint8Array): Recording | undefined {
  const segment = new Segment(bytes)
  const view = viewOf(bytes)
  let at = 0
  for (let blocks = 0; at < bytes.length && blocks < blocksMax; blocks += 1) {
    const element = readElement(view, at)
    if (!element) break
    const { id, start, end } = element
    const isParent = parents.has(id)
    if (end === undefined && !isParent) break
    segment.read(id, start, Math.min(bytes.length, end ?? start))
    at = isParent || end === undefined ? start : end
  }
  return segment.toRecording(at === bytes.length)
}

/** Collects the length and the tracks of a segment from its elements, in their order. */
class Segment {
  private readonly view: DataView
  private readonly trackTypes = new Set<number>()
  private hasInfo = false
  private scale = scaleDefault
  private duration = 0
  /** Times in units of the scale. */
  private cluster = 0
  private first: number | undefined
  private last = 0
  private gap = 0

  constructor(private readonly bytes: Uint8Array) {
    this.view = viewOf(bytes)
  }

  toRecording(isWhole: boolean): Recording | undefined {
    if (!this.hasInfo) return undefined
    const unit = this.scale / nanosecondsPerSecond
    return {
      hasVideo: this.trackTypes.has(1),
      hasAudio: this.trackTypes.has(2),
      seconds: chooseLength(
        this.duration * unit,
        (this.last - (this.first ?? 0) + this.gap) * unit,
      ),
      isWhole,
    }
  }

  /** Reads an element whose content is at these offsets. */
  read(id: number, start: number, end: number): void {
    if (id === ids.info) this.hasInfo = true
    else if (id === ids.scale) this.scale = this.readInteger(start, end)
    else if (id === ids.duration) {
      this.duration = end - start === 8 ? this.view.getFloat64(start) : this.view.getFloat32(start)
    } else if (id === ids.trackType) this.trackTypes.add(this.readInteger(start, end))
    else if (id === ids.time) this.cluster = this.readInteger(start, end)
    else if (id === ids.simpleBlock || id === ids.block) this.readBlock(start)
  }

  private readInteger(start: number, end: number): number {
    let value = 0
    for (const byte of this.bytes.subarray(start, Math.min(end, start + 8)))
      value = value * 256 + byte
    return value
  }

  /** Reads the time of a block (section 10.1). The last one is taken to last as long as the gap. */
  private readBlock(start: number): void {
    const trackBytes = Math.clz32(this.view.getUint8(start)) - 23
    const time = this.cluster + this.view.getInt16(start + trackBytes)
    this.first ??= time
    this.last = Math.max(this.last, this.first)
    if (time <= this.last) return
    this.gap = time - this.last
    this.last = time
  }
}
