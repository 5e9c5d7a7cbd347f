import { asString, errorResponse } from '../response.ts'
import { encodeWav } from '../wav.ts'
import { encodeToneFrame } from './mp3.ts'
import type { DemoRequest } from './request.ts'

const hertz = 8_000
/** Of bare samples, as OpenAI has them: nothing in them tells it. */
const bareHertz = 24_000
const secondsPerCharacter = 0.05
const charactersMax = 4_096
const loudness = 8_000
/** Of an MP3: 0.048 s. */
const framesPerCharacter = 2

/** Speech as tones, one for each character: an MP3 unless a WAV or its samples are asked for. */
export function synthesizeSpeech({ body }: DemoRequest): Response {
  const characters = [...asString(body.input)]
  const { response_format: format = 'mp3' } = body
  if (characters.length === 0 || characters.length > charactersMax) {
    return errorResponse(400, `input is a text of 1 to ${charactersMax} characters.`)
  }
  const pitches = characters.map(pitchOf)
  if (format === 'mp3') return answer(asMp3(pitches), 'mpeg')
  if (format === 'wav') return answer(encodeWav(samplesOf(pitches, hertz), hertz), 'wav')
  if (format === 'pcm') return answer(samplesOf(pitches, bareHertz), 'pcm')
  return errorResponse(400, 'It speaks mp3, wav and pcm.')
}

const answer = (sound: Blob | Uint8Array<ArrayBuffer>, type: string): Response =>
  new Response(sound, { headers: { 'content-type': `audio/${type}` } })

const pitchOf = (character: string): number =>
  /\s/.test(character) ? 0 : 200 + ((character.codePointAt(0) ?? 0) % 48) * 20

function asMp3(pitches: number[]): Blob {
  const frames = new Map([...new Set(pitches)].map((pitch) => [pitch, encodeToneFrame(pitch)]))
  return new Blob(pitches.flatMap((pitch) => Array(framesPerCharacter).fill(frames.get(pitch))))
}

/** 16-bit mono, 0.05 s for each pitch. */
function samplesOf(pitches: number[], hertz: number): Uint8Array<ArrayBuffer> {
  const each = hertz * secondsPerCharacter
  const samples = new Int16Array(pitches.length * each)
  for (const [index, pitch] of pitches.entries()) {
    for (let at = 0; at < each; at += 1) {
      samples[index * each + at] = loudness * Math.sin((2 * Math.PI * pitch * at) / hertz)
    }
  }
  return new Uint8Array(samples.buffer)
}
