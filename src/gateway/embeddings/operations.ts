import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { embeddingInputsMax, embeddingLengthMax } from '../../kernel/limits.ts'
import { anyObject, namedObject } from '../../kernel/schema.ts'
import { mediaErrors, paidOperation } from '../operation.ts'
import { modelSchema } from '../request-schemas.ts'
import * as embeddings from './embeddings.ts'

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
  run: embeddings.createEmbeddings,
})

export const embeddingOperations = [createEmbeddings]
