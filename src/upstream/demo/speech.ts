import { refuse, textIn } from './answer.ts'
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
  return new Response(wav(samples), { headers: { 'content-type': 'audio/wav' } })
}

function wav(samples: Int16Array<ArrayBuffer>): Blob {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(36 + samples.byteLength, 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(1, 20)
  header.writeUInt16LE(1, 22)
  header.writeUInt32LE(hertz, 24)
  header.writeUInt32LE(hertz * 2, 28)
  header.writeUInt16LE(2, 32)
  header.writeUInt16LE(16, 34)
  header.write('data', 36)
  header.writeUInt32LE(samples.byteLength, 40)
  return new Blob([header, samples])
}
