import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject, mediaSchema, nullable } from '../../core/schema.ts'

/** The documented request. The body is parsed by hand. */
export const completionRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'prompt'],
  properties: {
    model: { type: 'string', description: 'An id of a chat model from GET /v1/models.' },
    prompt: { type: 'string', description: 'The text before the completion.' },
    suffix: { type: 'string', nullable: true, description: 'The text after the completion.' },
    echo: { type: 'boolean', description: 'Repeats the prompt before the completion.' },
    max_tokens: { type: 'integer', minimum: 1, description: 'A lower value holds fewer credits.' },
    stream: { type: 'boolean', nullable: true },
  },
}

export const TextCompletionSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('text_completion'),
    created: Type.Integer(),
    model: Type.String(),
    choices: Type.Array(
      Type.Object({
        text: Type.String(),
        index: Type.Integer(),
        logprobs: Type.Null(),
        finish_reason: nullable(Type.String()),
      }),
    ),
    usage: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  },
  { title: 'TextCompletion' },
)

export const TextChunksSchema = mediaSchema('text/event-stream', {
  description: 'With `stream`: parts of the completion, and [DONE].',
})
