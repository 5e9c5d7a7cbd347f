import { asString, errorResponse } from '../response.ts'
import { encodeWav } from '../wav.ts'
import { encodeToneFrame } from './mp3.ts'
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
export function synthesizeSpeech({ body }: DemoRequest): Response {
  const characters = [...asString(body.input)]
  const { response_format: format = 'mp3' } = body
  if (characters.length === 0 || characters.length > charactersMax) {
    return errorResponse(400, `input must be a text of 1 to ${charactersMax} characters.`)
  }
  const pitches = characters.map(pitchOf)
  if (format === 'mp3') return audioResponse(toMp3(pitches), 'mpeg')
  if (format === 'wav') return audioResponse(encodeWav(toSamples(pitches, hertz), hertz), 'wav')
  if (format === 'pcm') return audioResponse(toSamples(pitches, rawHertz), 'pcm')
  return errorResponse(400, 'response_format must be mp3, wav or pcm.')
}

const audioResponse = (audio: Blob | Uint8Array<ArrayBuffer>, type: string): Response =>
  new Response(audio, { headers: { 'content-type': `audio/${type}` } })

const pitchOf = (character: string): number =>
  /\s/.test(character) ? 0 : 200 + ((character.codePointAt(0) ?? 0) % 48) * 20

function toMp3(pitches: number[]): Blob {
  const frames = new Map([...new Set(pitches)].map((pitch) => [pitch, encodeToneFrame(pitch)]))
  return new Blob(pitches.flatMap((pitch) => Array(framesPerCharacter).fill(frames.get(pitch))))
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
