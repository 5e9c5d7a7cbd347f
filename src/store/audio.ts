import { letters, riffChunks, viewOf } from './riff.ts'

/**
 * Duration of an audio file in seconds, to the millisecond, or the reason that it is invalid.
 * `isClaimed`: the duration comes from the header; the samples were not counted.
 */
export type AudioInfo = { seconds: number; isClaimed?: true } | { problem: string }

const secondsMax = 24 * 3_600
const invalid = (why: string): AudioInfo => ({ problem: why })

/** Returns a duration of up to 24 hours. */
export function withDuration(seconds: number): AudioInfo {
  if (!(seconds > 0 && seconds <= secondsMax)) return invalid('the audio has no duration')
  return { seconds: Math.round(seconds * 1_000) / 1_000 }
}

/** PCM, float, A-law, mu-law and WAVE_FORMAT_EXTENSIBLE: the formats that browsers play. */
const wavFormats = new Set([1, 3, 6, 7, 0xfffe])

/** Reads a WAV file: one `fmt ` chunk, then one `data` chunk. Players differ on anything else. */
export function readWav(bytes: Uint8Array): AudioInfo {
  const chunks = riffChunks(bytes, true)
  if (typeof chunks === 'string') return invalid(chunks)
  const [about, samples, ...more] = chunks.filter(({ id }) => id === 'fmt ' || id === 'data')
  const isWhole = about?.id === 'fmt ' && samples?.id === 'data' && more.length === 0
  if (!isWhole || about.end - about.start < 16) return invalid('the file is damaged')
  const view = viewOf(bytes)
  if (!wavFormats.has(view.getUint16(about.start, true))) {
    return invalid('browsers do not play this compression: save the audio as PCM')
  }
  const bytesPerSecond = view.getUint32(about.start + 8, true)
  if (bytesPerSecond !== bytesPerSecondOf(view, about.start)) return invalid('the file is damaged')
  return withDuration((samples.end - samples.start) / bytesPerSecond)
}

/** Computes bytes per second from channels, sample rate and bits, as players do. */
const bytesPerSecondOf = (view: DataView, at: number): number =>
  (view.getUint16(at + 2, true) * view.getUint32(at + 4, true) * view.getUint16(at + 14, true)) / 8

const kilobits = {
  one: [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  two: [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
}
const sampleRates = [44_100, 48_000, 32_000]

/** One MPEG audio frame of layer III (ISO 11172-3, 13818-3, and the half-rate "2.5"). */
interface Frame {
  bytes: number
  samples: number
  rate: number
}

function frameAt(bytes: Uint8Array, at: number): Frame | undefined {
  const second = bytes[at + 1] ?? 0
  const third = bytes[at + 2] ?? 0
  if (bytes[at] !== 0xff || (second & 0xe6) !== 0xe2) return undefined
  const version = (second >> 3) & 3
  const full = sampleRates[(third >> 2) & 3]
  const bits = (version === 3 ? kilobits.one : kilobits.two)[third >> 4]
  if (version === 1 || !full || !bits) return undefined
  const rate = version === 3 ? full : version === 2 ? full / 2 : full / 4
  const samples = version === 3 ? 1_152 : 576
  return { bytes: Math.floor((samples * bits * 125) / rate) + ((third >> 1) & 1), samples, rate }
}

/** Reads an MP3 file: an optional ID3v2 tag, frames, then optional tags or zero bytes. */
export function readMp3(bytes: Uint8Array): AudioInfo {
  let at = letters(bytes, 0, 3) === 'ID3' ? id3Bytes(bytes) : 0
  const first = frameAt(bytes, at)
  if (!first) return invalid('no MP3 frame was found at the start')
  let frames = 0
  let seconds = 0
  while (at < bytes.length) {
    const frame = frameAt(bytes, at)
    if (!frame) break
    if (frame.rate !== first.rate) return invalid('the file is damaged')
    frames += 1
    seconds += frame.samples / frame.rate
    at += frame.bytes
  }
  if (frames < 2) return invalid('the file is damaged')
  if (at < bytes.length && !isMp3Tail(bytes, at)) {
    return invalid('there is data after the end of the audio')
  }
  return withDuration(seconds)
}

/** Size of an ID3v2 tag: ten bytes, then four groups of seven bits. */
const id3Bytes = (bytes: Uint8Array): number =>
  bytes.subarray(6, 10).reduce((size, byte) => size * 128 + (byte & 0x7f), 0) + 10

/** Returns whether only an APEv2 tag, an ID3v1 tag (128 bytes) or zero bytes follow. */
function isMp3Tail(bytes: Uint8Array, from: number): boolean {
  let at = from
  if (letters(bytes, at, 8) === 'APETAGEX' && at + 32 <= bytes.length) {
    at += 32 + viewOf(bytes).getUint32(at + 12, true)
  }
  if (letters(bytes, at, 3) === 'TAG') return at + 128 === bytes.length
  return at <= bytes.length && bytes.subarray(at).every((byte) => byte === 0)
}

const flacHeadBytes = 26

/** Reads the length of a FLAC file from its first block (RFC 9639, section 8.2). */
export function readFlac(bytes: Uint8Array): AudioInfo {
  if (bytes.length < flacHeadBytes) return invalid('the file is cut off')
  const view = viewOf(bytes)
  const rate = view.getUint32(18) >>> 12
  const samples = (view.getUint8(21) & 15) * 2 ** 32 + view.getUint32(22)
  return { ...withDuration(samples / rate), isClaimed: true }
}

const aacRates = [
  96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000,
  7_350,
]

/** Reads an AAC file: ADTS frames of 1 to 4 blocks of 1,024 samples (ISO 13818-7, section 6.2). */
export function readAac(bytes: Uint8Array): AudioInfo {
  const view = viewOf(bytes)
  const rate = aacRates[((bytes[2] ?? 0) >> 2) & 15]
  if (!rate) return invalid('the file is damaged')
  let blocks = 0
  for (let at = 0; at + 7 <= bytes.length;) {
    const size = (view.getUint32(at + 2) >>> 5) & 0x1fff
    if ((view.getUint16(at) & 0xfff6) !== 0xfff0 || size < 7) break
    blocks += (view.getUint8(at + 6) & 3) + 1
    at += size
  }
  return withDuration((blocks * 1_024) / rate)
}

/** Reads an Ogg file (RFC 3533): the pages of one Vorbis, Opus or FLAC stream. */
export function readOgg(bytes: Uint8Array): AudioInfo {
  const view = viewOf(bytes)
  let at = 0
  let last = 0n
  let codec: Codec | undefined
  while (at < bytes.length) {
    const body = at + 27 + (bytes[at + 26] ?? 0)
    if (body > bytes.length || letters(bytes, at, 4) !== 'OggS')
      return invalid('the file is damaged')
    const sizes = bytes.subarray(at + 27, body)
    const end = sizes.reduce((sum, size) => sum + size, body)
    if (end > bytes.length) return invalid('the file is cut off')
    codec ??= oggCodec(bytes.subarray(body, end))
    if (!codec || view.getUint32(at + 14) !== view.getUint32(14)) {
      return invalid('an Ogg file must hold one Vorbis, Opus or FLAC stream')
    }
    const granule = view.getBigInt64(at + 6, true)
    if (granule > last) last = granule
    codec.packets?.read(bytes.subarray(body, end), sizes, ((bytes[at + 5] ?? 0) & 1) === 1)
    at = end
  }
  const { rate = 1, skip = 0, packets } = codec ?? {}
  const clockSamples = Number(last)
  if (!packets) return { ...withDuration((clockSamples - skip) / rate), isClaimed: true }
  // The last packet is usually trimmed, and only the clock gives its length.
  const isShort = clockSamples < packets.samples - opusPacketSamplesMax
  return withDuration(((isShort ? packets.samples : clockSamples) - skip) / rate)
}

/** Clock rate of an Ogg stream in samples per second, and the samples to skip at its start. */
interface Codec {
  rate: number
  skip: number
  packets?: OpusPackets
}

function oggCodec(head: Uint8Array): Codec | undefined {
  if (head.length < 19) return undefined
  const view = viewOf(head)
  if (letters(head, 0, 8) === 'OpusHead') {
    return { rate: 48_000, skip: view.getUint16(10, true), packets: new OpusPackets() }
  }
  if (letters(head, 0, 7) === '\x01vorbis') return { rate: view.getUint32(12, true), skip: 0 }
  if (letters(head, 0, 5) === '\x7fFLAC' && head.length >= 31) {
    return { rate: view.getUint32(27) >>> 12, skip: 0 }
  }
  return undefined
}

/** 120 ms, the longest packet (RFC 6716, section 3.2.5). */
const opusPacketSamplesMax = 5_760
/** `OpusHead` and `OpusTags` (RFC 7845, section 3), which hold no audio. */
const opusHeadPackets = 2

/** Counts the samples of an Opus stream page by page, since its clock may not advance. */
class OpusPackets {
  /** At 48 kHz. */
  samples = 0
  private begun = 0
  private isWhole = true

  /** Reads a page: its body, its segment sizes, and whether it continues a packet. */
  read(body: Uint8Array, sizes: Uint8Array, isContinued: boolean): void {
    if (!isContinued) this.isWhole = true
    let at = 0
    for (const size of sizes) {
      if (this.isWhole && size > 0) {
        this.begun += 1
        if (this.begun > opusHeadPackets) this.samples += opusSamples(body[at], body[at + 1])
      }
      this.isWhole = size < 255
      at += size
    }
  }
}

/** Returns a packet's samples from its first two bytes (RFC 6716, sections 3.1 and 3.2). */
function opusSamples(first = 0, second = 0): number {
  const config = first >> 3
  const silk = [480, 960, 1_920, 2_880][config & 3] ?? 0
  const hybrid = 480 << (config & 1)
  const frame = config < 12 ? silk : config < 16 ? hybrid : 120 << (config & 3)
  return frame * ([1, 2, 2][first & 3] ?? second & 63)
}
