import { isRecord } from '../../kernel/schema.ts'

export const formats = ['float', 'base64'] as const
export type Format = (typeof formats)[number]

interface Embedding {
  object: 'embedding'
  index: number
  embedding: number[] | string
}

/**
 * Returns the vectors of an upstream's response in `format`, whichever it sent. Undefined when
 * their number differs from the inputs, or for invalid vectors.
 */
export function readVectors(data: unknown, count: number, format: Format): Embedding[] | undefined {
  if (!Array.isArray(data) || data.length !== count) return undefined
  const items: unknown[] = data.toSorted((a, b) => indexOf(a) - indexOf(b))
  const vectors = items.map((item, index): Embedding | undefined => {
    const embedding = convertVector(isRecord(item) ? item.embedding : undefined, format)
    return embedding === undefined ? undefined : { object: 'embedding', index, embedding }
  })
  return vectors.every((vector) => vector !== undefined) ? vectors : undefined
}

/** Returns the declared index of an item. Items without one keep their order. */
const indexOf = (item: unknown): number =>
  isRecord(item) && typeof item.index === 'number' ? item.index : 0

function convertVector(vector: unknown, format: Format): number[] | string | undefined {
  if (typeof vector === 'string') {
    const bytes = Buffer.from(vector, 'base64')
    if (bytes.length === 0 || bytes.length % 4 > 0) return undefined
    return format === 'base64' ? vector : floatsOf(bytes)
  }
  if (!Array.isArray(vector) || vector.length === 0) return undefined
  const numbers: unknown[] = vector
  if (!numbers.every((number) => typeof number === 'number')) return undefined
  return format === 'float' ? numbers : encodeFloats(numbers)
}

function floatsOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
}

/** Encodes numbers as base64 of little-endian 32-bit floats. */
export function encodeFloats(numbers: number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [at, number] of numbers.entries()) bytes.writeFloatLE(number, at * 4)
  return bytes.toString('base64')
}
