import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { embeddingInputsMax, promptCharsMax } from '../../kernel/limits.ts'
import { anyObject, namedObject } from '../../kernel/schema.ts'
import { mediaErrors, paidOperation } from '../operation.ts'
import { modelSchema } from '../request-schemas.ts'
import * as reranking from './rerank.ts'

/** The documented request. rerank.ts parses it. */
export const rerankRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'query', 'documents'],
  properties: {
    model: modelSchema('The id of a rerank model.'),
    query: { type: 'string', minLength: 1, maxLength: promptCharsMax },
    documents: {
      type: 'array',
      minItems: 1,
      maxItems: embeddingInputsMax,
      items: {
        oneOf: [
          { type: 'string', minLength: 1 },
          {
            ...anyObject,
            required: ['text'],
            properties: { text: { type: 'string', minLength: 1 } },
          },
        ],
      },
      description: 'Texts, or objects with a `text`.',
    },
    top_n: {
      type: 'integer',
      minimum: 1,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'The number of results. Default: all.',
    },
    return_documents: { type: 'boolean', default: false },
  },
}

/** The documents by relevance, in the format that Cohere, Jina, Together and vLLM share. */
const RerankSchema = namedObject('Rerank', {
  id: Type.String(),
  object: Type.Literal('list'),
  model: Type.String(),
  results: Type.Array(
    Type.Object({
      index: Type.Integer({ description: 'The position of the document in the request.' }),
      relevance_score: Type.Number(),
      document: Type.Optional(Type.Object({ text: Type.String() })),
    }),
  ),
  usage: Type.Object({
    prompt_tokens: Type.Integer(),
    total_tokens: Type.Integer(),
    search_units: Type.Integer(),
    cost: Type.Number({ description: 'USD' }),
  }),
})

const rerank = paidOperation({
  id: 'rerank',
  route: 'POST /rerank',
  tag: 'Media',
  summary: 'Sort documents by their relevance for a query.',
  description: 'Charged by search units or by input tokens, as the price of the model says.',
  input: rerankRequestSchema,
  output: [RerankSchema],
  errors: mediaErrors,
  run: reranking.rerank,
})

export const rerankOperations = [rerank]
