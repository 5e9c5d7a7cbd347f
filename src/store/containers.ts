import { letters, viewOf } from './riff.ts'

/** Brands of ISO 14496-12 files that hold images, and of those that hold audio. */
const imageBrands = /^(hei[cxms]|mif1|msf1|avif|avis|crx )/
const audioBrands = /^M4[AB] /

type ContainerType = 'mp4' | 'webm' | 'x-matroska'

/** Detects a container by its first bytes: `ftyp`, or the EBML header (RFC 8794) with its type. */
function detectContainer(bytes: Uint8Array): ContainerType | undefined {
  if (letters(bytes, 4, 4) === 'ftyp') {
    return imageBrands.test(letters(bytes, 8, 4)) ? undefined : 'mp4'
  }
  const head = letters(bytes, 0, 64)
  if (!head.startsWith('\x1a\x45\xdf\xa3')) return undefined
  return head.includes('webm') ? 'webm' : head.includes('matroska') ? 'x-matroska' : undefined
}

/** Detects a video's type by its first bytes. Returns undefined for audio and anything else. */
export function detectVideoType(bytes: Uint8Array): 'video/mp4' | 'video/webm' | undefined {
  const type = detectContainer(bytes)
  const isVideo = type && type !== 'x-matroska' && !audioBrands.test(letters(bytes, 8, 4))
  return isVideo ? `video/${type}` : undefined
}

export interface ContainerInfo {
  kind: 'audio' | 'video'
  container: ContainerType
  /** As the container states it or its samples add up; undefined when neither gives a length. */
  seconds: number | undefined
  /** True if the structure was followed to the last byte. */
  isWhole: boolean
}

/**
 * Reads the kind and the length of an MP4, M4A, WebM or Matroska file, or the reason that it is
 * invalid. Returns undefined for other formats. The readers are our own: mediabunny 1.61 reads the
 * same lengths, but does not return from some recordings that are cut off.
 */
export function readContainer(bytes: Uint8Array): ContainerInfo | { reason: string } | undefined {
  const container = detectContainer(bytes)
  if (!container) return undefined
  try {
    const recording = container === 'mp4' ? readMp4(bytes) : readWebm(bytes)
    if (!recording) return { reason: 'the file is cut off' }
    const { hasVideo, hasAudio, seconds, isWhole } = recording
    const isAudio = hasAudio && (!hasVideo || audioBrands.test(letters(bytes, 8, 4)))
    return { kind: isAudio ? 'audio' : 'video', container, seconds, isWhole }
  } catch (error) {
    if (error instanceof RangeError) return { reason: 'the file is damaged' }
    throw error
  }
}

/** Boxes whose content is a list of boxes that are read. */
const parents = ['moov', 'trak', 'mdia', 'minf', 'stbl', 'mvex', 'moof', 'traf'] as const
const leaves = [
  'mvhd',
  'mehd',
  'tkhd',
  'mdhd',
  'hdlr',
  'stts',
  'trex',
  'tfhd',
  'tfdt',
  'trun',
] as const

type BoxName = (typeof parents)[number] | (typeof leaves)[number]

const codeOf = (name: string): number => viewOf(Buffer.from(name, 'latin1')).getUint32(0)
const namesByCode = new Map<number, BoxName>(
  [...parents, ...leaves].map((name) => [codeOf(name), name]),
)
const parentNames = new Set<BoxName | undefined>(parents)

interface Track {
  /** `vide`, `soun` or another handler (ISO 14496-12, section 8.4.3). */
  handler: string
  /** Units of time in a second. */
  scale: number
  /** Length of all samples, in units, with the pauses between fragments. */
  units: number
  /** Time of the first fragment, in units. */
  begin: number | undefined
  /** Length of a sample in a fragment that does not state it, in units. */
  defaultUnits: number
}

/**
 * Reads an MP4, M4A, 3GP or QuickTime file (ISO 14496-12), whole or in fragments. Returns undefined
 * without a movie header, and throws RangeError where a box ends before its fields. Every step
 * moves forward in the file, so the time is linear in its size.
 */
function readMp4(bytes: Uint8Array): Recording | undefined {
  const movie = new Movie(bytes)
  const view = viewOf(bytes)
  let at = 0
  for (let blocks = 0; at + 8 <= bytes.length && blocks < blocksMax; blocks += 1) {
    const small = view.getUint32(at)
    const start = at + (small === 1 ? 16 : 8)
    const size = small === 1 ? Number(view.getBigUint64(at + 8)) : small || bytes.length - at
    const name = namesByCode.get(view.getUint32(at + 4))
    if (at + size < start) break
    if (name) movie.read(name, start, Math.min(bytes.length, at + size))
    at = parentNames.has(name) ? start : at + size
  }
  return movie.toRecording(at === bytes.length)
}

/** Collects the headers and tracks of a movie from its boxes, in their order. */
class Movie {
  private readonly view: DataView
  private readonly tracks: Track[] = []
  private readonly tracksById = new Map<number, Track>()
  private declared: number | undefined
  private movieScale = 0
  /** The track of the current `trak` or `traf` box. */
  private track = newTrack()
  private fragmentUnits = 0

  constructor(private readonly bytes: Uint8Array) {
    this.view = viewOf(bytes)
  }

  toRecording(isWhole: boolean): Recording | undefined {
    if (this.declared === undefined) return undefined
    const counted = this.tracks.map(({ units, scale }) => (scale > 0 ? units / scale : 0))
    return {
      hasVideo: this.tracks.some(({ handler }) => handler === 'vide'),
      hasAudio: this.tracks.some(({ handler }) => handler === 'soun'),
      seconds: chooseLength(
        this.declared,
        counted.reduce((most, seconds) => Math.max(most, seconds), 0),
      ),
      isWhole,
    }
  }

  /** Reads a box whose content is at these offsets. */
  read(name: BoxName, start: number, end: number): void {
    if (name === 'trak') this.tracks.push((this.track = newTrack()))
    else if (name === 'mvhd') this.readMovieHeader(start)
    else if (name === 'mehd') this.declare(this.readNumber(start, start + 4))
    else if (name === 'tkhd') this.tracksById.set(this.readId(start), this.track)
    else if (name === 'mdhd') this.track.scale = this.readScale(start)
    // QuickTime files have a second handler, of the data.
    else if (name === 'hdlr') this.track.handler ||= letters(this.bytes, start + 8, 4)
    else if (name === 'stts') this.track.units += this.sumTable(start, end)
    else if (name === 'trex') this.findTrack(start).defaultUnits = this.view.getUint32(start + 12)
    else if (name === 'tfhd') this.readFragmentHeader(start)
    else if (name === 'tfdt') this.readFragmentTime(start)
    else if (name === 'trun') this.track.units += this.sumRun(start, end)
  }

  private isLong(start: number): boolean {
    return this.view.getUint8(start) === 1
  }

  /** Reads a number of 32 bits, or of 64 in version 1 of a box. All ones is 0: not known. */
  private readNumber(start: number, at: number): number {
    if (!this.isLong(start)) return this.view.getUint32(at) % 0xffff_ffff
    const number = this.view.getBigUint64(at)
    return number === 0xffff_ffff_ffff_ffffn ? 0 : Number(number)
  }

  private readScale = (start: number): number =>
    this.view.getUint32(start + (this.isLong(start) ? 20 : 12))

  private readId = (start: number): number =>
    this.view.getUint32(start + (this.isLong(start) ? 20 : 12))

  private readMovieHeader(start: number): void {
    this.movieScale = this.readScale(start)
    this.declare(this.readNumber(start, start + (this.isLong(start) ? 24 : 16)))
  }

  private declare(units: number): void {
    const seconds = this.movieScale > 0 ? units / this.movieScale : 0
    this.declared = Math.max(this.declared ?? 0, seconds)
  }

  private findTrack(start: number): Track {
    return this.tracksById.get(this.view.getUint32(start + 4)) ?? newTrack()
  }

  /** Adds up a table of times to samples (section 8.6.1.2). */
  private sumTable(start: number, end: number): number {
    const rows = Math.min(this.view.getUint32(start + 4), Math.floor((end - start - 8) / 8))
    let units = 0
    for (let row = 0; row < rows; row += 1) {
      const at = start + 8 + row * 8
      units += this.view.getUint32(at) * this.view.getUint32(at + 4)
    }
    return units
  }

  /** Reads the track of a fragment and the length of its samples (section 8.8.7). */
  private readFragmentHeader(start: number): void {
    this.track = this.findTrack(start)
    const flags = this.view.getUint32(start)
    const at = start + 8 + (flags & 1 ? 8 : 0) + (flags & 2 ? 4 : 0)
    this.fragmentUnits = flags & 8 ? this.view.getUint32(at) : this.track.defaultUnits
  }

  /** Reads the time of a fragment (section 8.8.12). A recorder may leave out what was silent. */
  private readFragmentTime(start: number): void {
    const time = this.readNumber(start, start + 4)
    this.track.begin ??= time
    this.track.units = Math.max(this.track.units, time - this.track.begin)
  }

  /** Adds up the samples of a run in a fragment (section 8.8.8). */
  private sumRun(start: number, end: number): number {
    const flags = this.view.getUint32(start)
    const count = this.view.getUint32(start + 4)
    if (!(flags & 0x100)) return count * this.fragmentUnits
    const first = start + 8 + (flags & 1 ? 4 : 0) + (flags & 4 ? 4 : 0)
    const fields = [0x100, 0x200, 0x400, 0x800].filter((field) => flags & field).length
    const rows = Math.min(count, Math.floor((end - first) / (4 * fields)))
    let units = 0
    for (let row = 0; row < rows; row += 1) units += this.view.getUint32(first + row * 4 * fields)
    return units
  }
}

const newTrack = (): Track => ({
  handler: '',
  scale: 0,
  units: 0,
  begin: undefined,
  defaultUnits: 0,
})

/** The tracks of a media file and its length. */
interface Recording {
  hasVideo: boolean
  hasAudio: boolean
  /** Undefined when nothing in the file gives a length. */
  seconds: number | undefined
  /** True if the structure was followed to the last byte. */
  isWhole: boolean
}

/** The most boxes or elements that are read of a file. A recording of four hours has fewer. */
const blocksMax = 1_000_000

/**
 * Chooses between the length that a header declares and that of the samples, in seconds. A recorder
 * that writes while it records leaves the header open. A header that is a second shorter than the
 * samples is wrong.
 */
function chooseLength(declared: number, counted: number): number | undefined {
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
const webmParents = new Set([
  ids.segment,
  ids.info,
  ids.tracks,
  ids.track,
  ids.cluster,
  ids.blockGroup,
])
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
function readWebm(bytes: Uint8Array): Recording | undefined {
  const segment = new Segment(bytes)
  const view = viewOf(bytes)
  let at = 0
  for (let blocks = 0; at < bytes.length && blocks < blocksMax; blocks += 1) {
    const element = readElement(view, at)
    if (!element) break
    const { id, start, end } = element
    const isParent = webmParents.has(id)
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
