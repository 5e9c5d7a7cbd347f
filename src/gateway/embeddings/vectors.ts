import { isRecord } from '../../core/schema.ts'

/** How a client wants its vectors. */
export const formats = ['float', 'base64'] as const
export type Format = (typeof formats)[number]

interface Embedding {
  object: 'embedding'
  index: number
  embedding: number[] | string
}

/**
 * The vectors of an upstream's answer, in the format that was asked for whichever it answers in;
 * undefined when they are not as many as the inputs, or no vectors.
 */
export function readVectors(data: unknown, count: number, format: Format): Embedding[] | undefined {
  if (!Array.isArray(data) || data.length !== count) return undefined
  const items: unknown[] = data.toSorted((a, b) => indexOf(a) - indexOf(b))
  const vectors = items.map((item, index): Embedding | undefined => {
    const embedding = vectorIn(isRecord(item) ? item.embedding : undefined, format)
    return embedding === undefined ? undefined : { object: 'embedding', index, embedding }
  })
  return vectors.every((vector) => vector !== undefined) ? vectors : undefined
}

/** Where an item says that it belongs; those that do not say stay as they came. */
const indexOf = (item: unknown): number =>
  isRecord(item) && typeof item.index === 'number' ? item.index : 0

function vectorIn(held: unknown, format: Format): number[] | string | undefined {
  if (typeof held === 'string') {
    const bytes = Buffer.from(held, 'base64')
    if (bytes.length === 0 || bytes.length % 4 > 0) return undefined
    return format === 'base64' ? held : floatsOf(bytes)
  }
  if (!Array.isArray(held) || held.length === 0) return undefined
  const numbers: unknown[] = held
  if (!numbers.every((number) => typeof number === 'number')) return undefined
  return format === 'float' ? numbers : base64Of(numbers)
}

/** Little-endian 32-bit floats, as OpenAI's clients read them. */
function floatsOf(bytes: Buffer): number[] {
  return Array.from({ length: bytes.length / 4 }, (_, at) => bytes.readFloatLE(at * 4))
}

function base64Of(numbers: number[]): string {
  const bytes = Buffer.alloc(numbers.length * 4)
  for (const [at, number] of numbers.entries()) bytes.writeFloatLE(number, at * 4)
  return bytes.toString('base64')
}
