import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import type { AppContext } from '../../kernel/context.ts'
import { embeddingInputsMax, embeddingLengthMax } from '../../kernel/limits.ts'
import { anyObject, isRecord, itemsOf, namedObject, recordOf } from '../../kernel/schema.ts'
import type { Spender } from '../authentication.ts'
import type { Call } from '../call.ts'
import { findCount, findEnum, invalidField, readModels } from '../fields.ts'
import type { Model } from '../models/catalog.ts'
import { estimateTokens, maxInputTokens } from '../models/tokens.ts'
import { createUsage, readUsage, type Usage } from '../models/usage.ts'
import { mediaErrors, paidOperation } from '../operation.ts'
import { type MediaCall, type MediaRequest, runMediaRequest } from '../paid/media.ts'
import { readPreferences } from '../paid/preferences.ts'
import { readJsonObject } from '../paid/response-body.ts'
import type { WholeOutput } from '../paid/serve-call.ts'
import { noContent, unreadable, type UpstreamFailure } from '../paid/upstream-failure.ts'
import { modelSchema } from '../request-schemas.ts'

/**
 * Creates embeddings of texts or token ids (OpenAI's POST /v1/embeddings), charged by input tokens.
 * Throws `bad_request` and the errors of section 7 of document 2.
 */
export const embedInputs = async (ctx: AppContext, spender: Spender, raw: unknown, call: Call) =>
  runMediaRequest(ctx, spender, parseRequest(ctx, raw, `embd-${call.requestId}`), call)

/** `id`: that of the response, which some clients require. */
function parseRequest(ctx: AppContext, raw: unknown, id: string): MediaRequest {
  const { model, models, provider, stream: _, ...body } = recordOf(raw)
  const modelIds = readModels(model, models)
  const inputs = readInputs(body.input)
  const format = findEnum(body, 'encoding_format', formats) ?? 'float'
  findCount(body, 'dimensions', embeddingLengthMax)
  const maxTokens = ({ contextLength }: Model) =>
    Math.min(maxInputTokens(body, 0), inputs.length * (contextLength || Infinity))
  const estimateUsage = (to: Model): Usage => {
    const counted = inputs.reduce((sum, input) => sum + countTokens(input), 0)
    return createUsage({ prompt: Math.min(counted, maxTokens(to)), estimated: true })
  }
  return {
    path: '/embeddings',
    type: 'embedding',
    kind: 'embedding',
    modelIds,
    body,
    fingerprint: raw,
    preferences: readPreferences(provider),
    ...(inputs.some(Array.isArray) && { validate: (to) => requireTokenIds(ctx, to) }),
    maxUsage: (to) => ({ inputTokensMax: maxTokens(to), outputTokensMax: 0 }),
    estimateUsage,
    async read(
      received,
      { candidate: { model: served }, deadlines }: MediaCall,
    ): Promise<WholeOutput | UpstreamFailure> {
      const read = await readJsonObject(received, deadlines)
      if (!('json' in read)) return read
      const { data, usage: reported } = read.json
      if (!Array.isArray(data) || data.length === 0) return noContent
      const vectors = readVectors(data, inputs.length, format)
      if (!vectors) return unreadable
      const limits = { prompt: maxTokens(served), completion: 0 }
      const usage = readUsage(reported, limits) ?? estimateUsage(served)
      const tokens = { prompt_tokens: usage.prompt, total_tokens: usage.prompt }
      return {
        usage,
        response: (cost) => ({
          id,
          object: 'list',
          data: vectors,
          model: served.id,
          usage: { ...tokens, cost },
        }),
      }
    },
  }
}

/** Throws for a model whose upstreams take only texts: those that a provider package serves. */
function requireTokenIds({ upstreams }: AppContext, { id, offers }: Model): void {
  const kinds = offers.map(({ upstream }) => upstreams.find(upstream)?.kind ?? 'openai')
  if (kinds.some((kind) => kind === 'openai' || kind === 'demo')) return
  const problem = `${id} takes no token ids. Send text in "input": a string or a list of strings.`
  throw invalidField('input', problem)
}

type Input = string | number[]

const countTokens = (input: Input): number =>
  typeof input === 'string' ? estimateTokens(input) : input.length

function readInputs(input: unknown): Input[] {
  const single = parseInput(input)
  if (single) return [single]
  const list = itemsOf(input)
  const inputs = list.map(parseInput).filter((each) => each !== undefined)
  const isValid = inputs.length > 0 && inputs.length === list.length
  if (isValid && inputs.length <= embeddingInputsMax) return inputs
  const what = `a string, an array of token ids, or an array of 1 to ${embeddingInputsMax} of these`
  throw invalidField('input', `input must be ${what}, none of them empty.`)
}

function parseInput(input: unknown): Input | undefined {
  if (typeof input === 'string') return input === '' ? undefined : input
  if (!Array.isArray(input) || input.length === 0) return undefined
  const ids: unknown[] = input
  return ids.every((id) => typeof id === 'number' && Number.isInteger(id) && id >= 0)
    ? ids.map(Number)
    : undefined
}

const formats = ['float', 'base64'] as const
type Format = (typeof formats)[number]

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

const list = (items: OpenAPIV3.SchemaObject): OpenAPIV3.SchemaObject => ({
  type: 'array',
  minItems: 1,
  maxItems: embeddingInputsMax,
  items,
})
const text: OpenAPIV3.SchemaObject = { type: 'string', minLength: 1 }
const tokens: OpenAPIV3.SchemaObject = {
  type: 'array',
  minItems: 1,
  items: { type: 'integer', minimum: 0 },
}

/** The documented embeddings request. The body is parsed by hand. */
export const embeddingsRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'input'],
  properties: {
    model: modelSchema('The id of an embedding model.'),
    input: { oneOf: [text, list(text), tokens, list(tokens)] },
    encoding_format: { type: 'string', enum: ['float', 'base64'] },
    dimensions: { type: 'integer', minimum: 1, maximum: embeddingLengthMax },
  },
}

export const EmbeddingsSchema = namedObject('Embeddings', {
  id: Type.String(),
  object: Type.Literal('list'),
  data: Type.Array(
    Type.Object({
      object: Type.Literal('embedding'),
      index: Type.Integer(),
      embedding: Type.Union([Type.Array(Type.Number()), Type.String()], {
        description: 'Numbers, or base64 of little-endian 32-bit floats.',
      }),
    }),
  ),
  model: Type.String(),
  usage: Type.Object({
    prompt_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    cost: Type.Number({ description: 'USD' }),
  }),
})

const createEmbeddings = paidOperation({
  id: 'create_embeddings',
  route: 'POST /embeddings',
  tag: 'Media',
  summary: 'Create embeddings of texts.',
  description: 'Charged by input tokens. `usage.cost` and X-Service-Cost have the cost in USD.',
  input: embeddingsRequestSchema,
  output: [EmbeddingsSchema],
  errors: mediaErrors,
  run: embedInputs,
})

export const embeddingOperations = [createEmbeddings]
