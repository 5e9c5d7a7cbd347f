import { refuse, textIn } from '../answer.ts'
import { wav } from '../wav.ts'
import type { Asked } from './demo.ts'

const hertz = 8_000
const secondsPerCharacter = 0.05
const charactersMax = 4_096
const loudness = 8_000

/** Speech as tones: 0.05 s for each character, a WAV of 16-bit mono at 8,000 Hz in any format. */
export function speak({ body }: Asked): Response {
  const characters = [...textIn(body.input)]
  if (characters.length === 0 || characters.length > charactersMax) {
    return refuse(400, `input is a text of 1 to ${charactersMax} characters.`)
  }
  const each = hertz * secondsPerCharacter
  const samples = new Int16Array(characters.length * each)
  for (const [index, character] of characters.entries()) {
    const pitch = /\s/.test(character) ? 0 : 200 + ((character.codePointAt(0) ?? 0) % 48) * 20
    for (let at = 0; at < each; at += 1) {
      samples[index * each + at] = loudness * Math.sin((2 * Math.PI * pitch * at) / hertz)
    }
  }
  return new Response(wav(new Uint8Array(samples.buffer), hertz), {
    headers: { 'content-type': 'audio/wav' },
  })
}
