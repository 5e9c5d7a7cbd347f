import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject } from '../../kernel/schema.ts'

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

const UsageSchema = Type.Object(
  { cost: Type.Optional(Type.Number({ description: 'USD' })) },
  { additionalProperties: true },
)

/** A response of Cohere's chat API. */
export const CohereChatSchema = Type.Object(
  {
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
  },
  { title: 'CohereChat' },
)

/** A response of Cohere's rerank API. */
export const CohereRerankSchema = Type.Object(
  {
    id: Type.String(),
    results: Type.Array(Type.Object({ index: Type.Integer(), relevance_score: Type.Number() })),
    meta: UsageSchema,
  },
  { title: 'CohereRerank' },
)
