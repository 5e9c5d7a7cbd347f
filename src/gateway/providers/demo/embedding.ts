import { asString, itemsOf } from '../../../kernel/schema.ts'
import { reject } from '../error-body.ts'
import type { SentRequest } from '../upstream.ts'
import type { DemoRequest } from './request.ts'
import { countTokens } from './tokens.ts'

const lengthDefault = 256
const lengthMax = 1_024
const textsMax = 2_048
const wordsMax = 8_192

/** Embeds texts as normalized sums of a fixed vector per word: shared words bring texts close. */
export async function createEmbeddings({ model, body }: DemoRequest): Promise<SentRequest> {
  const texts = textsOf(body.input)
  if (!texts) return reject(400, 'input must be a text, a list of texts, or token ids.')
  const length = typeof body.dimensions === 'number' ? body.dimensions : lengthDefault
  if (!Number.isInteger(length) || length < 1 || length > lengthMax) {
    return reject(400, `dimensions must be an integer from 1 to ${lengthMax}.`)
  }
  const data: object[] = []
  for (const [index, text] of texts.entries()) {
    const vector = vectorOf(text, length)
    const embedding = body.encoding_format === 'base64' ? base64(vector) : [...vector]
    data.push({ object: 'embedding', index, embedding })
    // Many long texts take seconds: yield to other requests after each.
    await new Promise((resolve) => setImmediate(resolve))
  }
  const prompt_tokens = texts.reduce((sum, text) => sum + countTokens(text), 0)
  const usage = { prompt_tokens, total_tokens: prompt_tokens }
  return { json: { object: 'list', data, model, usage } }
}

function textsOf(input: unknown): string[] | undefined {
  const one = textOf(input)
  if (one !== undefined) return [one]
  if (!Array.isArray(input) || input.length === 0 || input.length > textsMax) return undefined
  const texts = input.map(textOf)
  return texts.every((text) => text !== undefined) ? texts : undefined
}

function textOf(input: unknown): string | undefined {
  if (typeof input === 'string') return input === '' ? undefined : input
  if (!Array.isArray(input) || input.length === 0) return undefined
  return input.every((id) => typeof id === 'number') ? input.join(' ') : undefined
}

/** Returns the normalized sum of the vectors of a text's words. */
function vectorOf(text: string, length: number): Float32Array {
  const vector = new Float32Array(length)
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [text]
  for (const word of words.slice(0, wordsMax)) {
    let seed = Number(Bun.hash.xxHash32(word)) || 1
    for (let at = 0; at < length; at += 1) {
      // 32-bit xorshift (Marsaglia).
      seed ^= seed << 13
      seed ^= seed >>> 17
      seed ^= seed << 5
      vector[at] = (vector[at] ?? 0) + seed / 2 ** 31
    }
  }
  const size = Math.hypot(...vector)
  return vector.map((part) => part / size)
}

const base64 = (vector: Float32Array): string => Buffer.from(vector.buffer).toString('base64')

const length = 256

/** Scores documents by the words that they share with the query: 0 to 1. */
export function rerank({ model, body }: DemoRequest): SentRequest {
  const documents = itemsOf(body.documents).map(asString)
  const query = asString(body.query)
  if (query === '' || documents.length === 0) {
    return reject(400, 'query and documents must not be empty.')
  }
  const target = vectorOf(query, length)
  const results = documents.map((text, index) => {
    const cosine = vectorOf(text, length).reduce(
      (sum, part, at) => sum + part * (target[at] ?? 0),
      0,
    )
    return { index, relevance_score: Math.min(1, Math.max(0, cosine)) }
  })
  const sorted = results.toSorted((a, b) => b.relevance_score - a.relevance_score)
  const top = typeof body.top_n === 'number' ? body.top_n : sorted.length
  const meta = { billed_units: { search_units: Math.ceil(documents.length / 100) } }
  return { json: { model, results: sorted.slice(0, top), meta } }
}
