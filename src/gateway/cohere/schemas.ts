import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { wholeQuery } from '../../kernel/http/list-query.ts'
import { embeddingInputsMax, embeddingLengthMax, listedModelsMax } from '../../kernel/limits.ts'
import { anyObject, lenientObject, namedObject, oneOf } from '../../kernel/schema.ts'
import { modelSchema } from '../request-schemas.ts'

/** The documented request. request.ts parses it. */
export const cohereChatRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'messages'],
  properties: {
    model: { type: 'string', description: 'The id of a chat model.' },
    messages: { type: 'array', minItems: 1, items: anyObject },
    stream: { type: 'boolean', default: false },
    tools: { type: 'array', items: anyObject },
    max_tokens: { type: 'integer', minimum: 1 },
  },
}

const UsageSchema = lenientObject({ cost: Type.Optional(Type.Number({ description: 'USD' })) })

/** A response of Cohere's chat API. */
export const CohereChatSchema = namedObject('CohereChat', {
  id: Type.String(),
  finish_reason: Type.String(),
  message: Type.Object(
    {
      role: Type.Literal('assistant'),
      content: Type.Array(Type.Record(Type.String(), Type.Unknown())),
      tool_calls: Type.Optional(Type.Array(Type.Record(Type.String(), Type.Unknown()))),
    },
    { description: 'Text and thinking blocks, and calls of tools.' },
  ),
  usage: UsageSchema,
})

/** A response of Cohere's rerank API. */
export const CohereRerankSchema = namedObject('CohereRerank', {
  id: Type.String(),
  results: Type.Array(Type.Object({ index: Type.Integer(), relevance_score: Type.Number() })),
  meta: UsageSchema,
})

export const embeddingTypes = ['float', 'int8', 'uint8', 'binary', 'ubinary', 'base64'] as const
export const inputTypes = [
  'search_document',
  'search_query',
  'classification',
  'clustering',
] as const
export const truncations = ['NONE', 'START', 'END'] as const

/** The documented request. embed.ts parses it. */
export const embedRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model'],
  properties: {
    model: modelSchema('The id of an embedding model.'),
    texts: {
      type: 'array',
      minItems: 1,
      maxItems: embeddingInputsMax,
      items: { type: 'string', minLength: 1 },
    },
    inputs: { type: 'array', items: anyObject, description: 'Texts as content, instead of texts.' },
    input_type: { type: 'string', enum: [...inputTypes] },
    embedding_types: { type: 'array', items: { type: 'string', enum: [...embeddingTypes] } },
    output_dimension: { type: 'integer', minimum: 1, maximum: embeddingLengthMax },
    truncate: { type: 'string', enum: [...truncations] },
  },
}

const vectors = Type.Array(Type.Array(Type.Number()))
const embedding = Type.Optional(vectors)

/** A response of Cohere's embed API. */
export const CohereEmbedSchema = namedObject('CohereEmbed', {
  id: Type.String(),
  response_type: oneOf(['embeddings_floats', 'embeddings_by_type']),
  embeddings: Type.Union([
    vectors,
    Type.Object({
      float: embedding,
      int8: embedding,
      uint8: embedding,
      binary: embedding,
      ubinary: embedding,
      base64: Type.Optional(Type.Array(Type.String())),
    }),
  ]),
  texts: Type.Array(Type.String()),
  meta: UsageSchema,
})

/** A model of Cohere's API. */
export const CohereModelSchema = namedObject('CohereModel', {
  name: Type.String({ description: 'The id for requests.' }),
  is_deprecated: Type.Literal(false),
  endpoints: Type.Array(Type.String()),
  finetuned: Type.Literal(false),
  context_length: Type.Integer({ description: 'Tokens; 0 when unknown.' }),
  tokenizer_url: Type.Null(),
  default_endpoints: Type.Array(Type.String()),
  features: Type.Array(Type.String()),
})
export type CohereModel = Static<typeof CohereModelSchema>

export const CohereModelListSchema = Type.Object({
  models: Type.Array(CohereModelSchema),
  next_page_token: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
})
export type CohereModelList = Static<typeof CohereModelListSchema>

export const ModelListQuerySchema = lenientObject({
  page_size: Type.Optional(wholeQuery(listedModelsMax, '1 to 1,000, by default 20.')),
  page_token: Type.Optional(Type.String({ description: 'next_page_token of the page before.' })),
  endpoint: Type.Optional(Type.String({ description: 'chat, embed or rerank.' })),
  default_only: Type.Optional(oneOf(['true', 'false'])),
})
export type ModelListQuery = Static<typeof ModelListQuerySchema>
