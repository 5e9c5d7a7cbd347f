import { asString } from '../../../kernel/schema.ts'
import { reject } from '../error-body.ts'
import type { SentRequest } from '../upstream.ts'
import { encodeWav } from '../wav.ts'
import type { DemoRequest } from './request.ts'

const hertz = 8_000
/** OpenAI's rate for raw samples, which have no header. */
const rawHertz = 24_000
const secondsPerCharacter = 0.05
const charactersMax = 4_096
const loudness = 8_000
/** MP3 frames; 0.048 s. */
const framesPerCharacter = 2

/** Synthesizes one tone per character: MP3 by default, else WAV or raw samples. */
export function synthesizeSpeech({ body }: DemoRequest): SentRequest {
  const characters = [...asString(body.input)]
  const { response_format: format = 'mp3' } = body
  if (characters.length === 0 || characters.length > charactersMax) {
    return reject(400, `input must be a text of 1 to ${charactersMax} characters.`)
  }
  const pitches = characters.map(pitchOf)
  if (format === 'mp3') return { file: toMp3(pitches) }
  if (format === 'wav') return { file: encodeWav(toSamples(pitches, hertz), hertz) }
  if (format === 'pcm') {
    return { file: new Blob([toSamples(pitches, rawHertz)], { type: 'audio/pcm' }) }
  }
  return reject(400, 'response_format must be mp3, wav or pcm.')
}

const pitchOf = (character: string): number =>
  /\s/.test(character) ? 0 : 200 + ((character.codePointAt(0) ?? 0) % 48) * 20

function toMp3(pitches: number[]): Blob {
  const frames = new Map([...new Set(pitches)].map((pitch) => [pitch, encodeToneFrame(pitch)]))
  const all = pitches.flatMap((pitch) => Array(framesPerCharacter).fill(frames.get(pitch)))
  return new Blob(all, { type: 'audio/mpeg' })
}

/** Creates 16-bit mono samples, 0.05 s per pitch. */
function toSamples(pitches: number[], hertz: number): Uint8Array<ArrayBuffer> {
  const each = hertz * secondsPerCharacter
  const samples = new Int16Array(pitches.length * each)
  for (const [index, pitch] of pitches.entries()) {
    for (let at = 0; at < each; at += 1) {
      samples[index * each + at] = loudness * Math.sin((2 * Math.PI * pitch * at) / hertz)
    }
  }
  return new Uint8Array(samples.buffer)
}

/** MPEG-1 Layer III (ISO/IEC 11172-3), mono, 48 kHz, 32 kbit/s: 96 bytes and 24 ms a frame. */
const header = [0xff, 0xfb, 0x14, 0xc0]
const bodyBytes = 92
/** Width of each of the 576 lines in a frame's spectrum. */
const lineHertz = 24_000 / 576
const gain = 203

const bits = (value: number, width: number): string => value.toString(2).padStart(width, '0')

/**
 * Encodes a frame with one spectral line near `hertz`; 0 is silence. Both granules use Huffman
 * table 1, in pairs: 1 for two zeros, then the line and its sign.
 */
function encodeToneFrame(hertz: number): Uint8Array {
  const line = Math.round(hertz / lineHertz)
  const before = line >> 1
  const half = line === 0 ? '' : '1'.repeat(before) + (line % 2 === 0 ? '010' : '0010')
  const pairs = line === 0 ? 0 : before + 1
  const side = [
    bits(half.length, 12),
    bits(pairs, 9),
    bits(gain, 8),
    bits(0, 4 + 1),
    bits(1, 5),
    bits(1, 5),
    bits(1, 5),
    bits(0, 4 + 3 + 3),
  ].join('')
  const body = (bits(0, 18) + side + side + half + half).padEnd(bodyBytes * 8, '0')
  const bytes = Array.from({ length: bodyBytes }, (_, at) =>
    Number.parseInt(body.slice(at * 8, at * 8 + 8), 2),
  )
  return Uint8Array.from([...header, ...bytes])
}

/** Bytes per second of typical speech, for formats whose length is not read. */
const bytesPerSecond = 16_000

/** Returns a text with the length of the audio: exact for WAV, else by its bytes. */
export async function transcribe(form: FormData): Promise<SentRequest> {
  const file = form.get('file')
  if (!(file instanceof Blob) || file.size === 0) return reject(400, 'file is empty.')
  const seconds = secondsOf(Buffer.from(await file.slice(0, 44).arrayBuffer()), file.size)
  const text = `A sound of ${seconds} seconds.`
  const timed = { duration: seconds, segments: [{ id: 0, start: 0, end: seconds, text }] }
  const usage = { type: 'duration', seconds }
  return { json: { text, language: form.get('language'), ...timed, usage } }
}

/** Returns seconds, rounded up to hundredths. */
function secondsOf(head: Buffer, bytes: number): number {
  const isWav = head.toString('latin1', 0, 4) === 'RIFF' && head.length === 44
  const rate = isWav ? head.readUInt32LE(28) : bytesPerSecond
  const audioBytes = isWav ? Math.min(head.readUInt32LE(40), bytes - 44) : bytes
  return Math.ceil((audioBytes / Math.max(1, rate)) * 100) / 100
}
