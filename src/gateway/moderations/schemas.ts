import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject } from '../../core/schema.ts'

/** The documented request. moderations.ts parses it. */
export const moderationRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['input'],
  properties: {
    model: {
      type: 'string',
      description: 'The id of a moderation model. The default is the first of GET /v1/models.',
    },
    input: {
      description: 'A text, a list of texts, or a list of text and image_url parts.',
      oneOf: [
        { type: 'string' },
        { type: 'array', items: { type: 'string' } },
        { type: 'array', items: anyObject },
      ],
    },
  },
}

/** Judgments in OpenAI's format, as the upstream returned them, with their cost. */
export const ModerationSchema = Type.Object(
  {
    id: Type.String(),
    model: Type.String(),
    results: Type.Array(Type.Record(Type.String(), Type.Unknown())),
    cost: Type.Number({ description: 'USD' }),
  },
  { title: 'Moderation' },
)
