import { letters, viewOf } from './riff.ts'
import { blocksMax, chooseLength, type Recording } from './webm.ts'

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
export function readMp4(bytes: Uint8Array): Recording | undefined {
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
