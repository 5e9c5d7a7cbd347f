import type { AppContext } from '../../kernel/context.ts'
import { type FieldNames } from '../../kernel/errors.ts'
import { Success, withHeaders } from '../../kernel/http/outcome.ts'
import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call, CallOutcome } from '../call.ts'
import { embedInputs, encodeFloats } from '../embeddings/operations.ts'
import { findEnum, invalidField, renameFields } from '../fields.ts'
import { embeddingTypes, inputTypes, truncations } from './schemas.ts'

type EmbeddingType = (typeof embeddingTypes)[number]

const fieldNames: FieldNames = { input: 'texts', dimensions: 'output_dimension' }

/**
 * Creates embeddings in the format of Cohere's API: the same call as POST /v1/embeddings.
 * `version`: that of the API. Without `embedding_types`, the first version returns plain lists.
 * Throws its errors.
 */
export async function cohereEmbed(
  ctx: AppContext,
  spender: Spender,
  raw: unknown,
  call: Call,
  version: '1' | '2',
): Promise<CallOutcome> {
  const { body, texts, types } = parseEmbed(recordOf(raw))
  if (recordOf(raw).priority != null) call.reportIgnored?.(['priority'])
  const outcome = await embedInputs(ctx, spender, body, call).catch(renameFields(fieldNames))
  if (!(outcome instanceof Success)) return outcome
  const { id, data, usage } = recordOf(outcome.value)
  const { prompt_tokens, cost } = recordOf(usage)
  const vectors = itemsOf(data).map((item) => itemsOf(recordOf(item).embedding).map(Number))
  const isPlain = version === '1' && types.length === 0
  const named = types.length === 0 ? (['float'] as const) : types
  const embeddings = isPlain
    ? vectors
    : Object.fromEntries(named.map((type) => [type, vectors.map(encoders[type])]))
  const meta = {
    api_version: { version },
    billed_units: { input_tokens: prompt_tokens },
    cost,
  }
  const response_type = isPlain ? 'embeddings_floats' : 'embeddings_by_type'
  return withHeaders({ id, response_type, embeddings, texts, meta }, outcome.headers)
}

/** Converts a request to one of POST /v1/embeddings. Throws `bad_request`. */
function parseEmbed(raw: Json): { body: Json; texts: string[]; types: EmbeddingType[] } {
  const { model, input_type, truncate, output_dimension: dimensions } = raw
  for (const name of ['images', 'max_tokens']) {
    if ((raw[name] ?? undefined) === undefined) continue
    const instead = name === 'images' ? 'Send texts: images are not embedded' : 'Shorten the texts'
    throw invalidField(name, `${instead} here. Remove ${name}.`)
  }
  findEnum(raw, 'input_type', inputTypes)
  findEnum(raw, 'truncate', truncations)
  const texts = readTexts(raw)
  const body = {
    model,
    input: texts,
    ...(dimensions != null && { dimensions }),
    ...(input_type != null && { input_type }),
    ...(truncate != null && { truncate }),
  }
  return { body, texts, types: readTypes(raw.embedding_types) }
}

/** Reads `texts`, or the texts of `inputs`. createEmbeddings checks their number. */
function readTexts({ texts, inputs }: Json): string[] {
  if (inputs == null) {
    if (Array.isArray(texts) && texts.every((text) => typeof text === 'string')) return texts
    throw invalidField('texts', 'Send "texts": a list of strings.')
  }
  return itemsOf(inputs).map((input) =>
    itemsOf(recordOf(input).content)
      .map((part) => {
        if (isRecord(part) && typeof part.text === 'string') return part.text
        throw invalidField('inputs', 'The content of inputs must be text: images are not embedded.')
      })
      .join('\n'),
  )
}

function readTypes(sent: unknown): EmbeddingType[] {
  const list: unknown[] = Array.isArray(sent) ? sent : sent == null ? [] : [sent]
  return list.map((name) => {
    const type = embeddingTypes.find((known) => known === name)
    if (type) return type
    const known = embeddingTypes.join(', ')
    throw invalidField('embedding_types', `embedding_types must be a list of ${known}.`)
  })
}

const byteMax = 127
const byteOffset = 128

/** Scales a vector so that its largest component is 127. The angles between vectors remain. */
function toBytes(vector: number[]): number[] {
  const largest = Math.max(...vector.map(Math.abs)) || 1
  return vector.map((value) => Math.round((value / largest) * byteMax))
}

/** Packs the signs of a vector, 8 in a byte, the first in the highest bit. */
function toBits(vector: number[]): number[] {
  const bytes = Array.from({ length: Math.ceil(vector.length / 8) }, () => 0)
  for (const [at, value] of vector.entries()) {
    if (value > 0) bytes[at >> 3] = (bytes[at >> 3] ?? 0) | (0x80 >> (at & 7))
  }
  return bytes
}

/** Convert a vector to each of Cohere's types. */
const encoders: Record<EmbeddingType, (vector: number[]) => number[] | string> = {
  float: (vector) => vector,
  int8: toBytes,
  uint8: (vector) => toBytes(vector).map((value) => value + byteOffset),
  binary: (vector) => toBits(vector).map((value) => value - byteOffset),
  ubinary: toBits,
  base64: encodeFloats,
}
