import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { embeddingInputsMax } from '../../kernel/limits.ts'
import { anyObject, namedObject } from '../../kernel/schema.ts'
import { mediaErrors, paidOperation } from '../operation.ts'
import { modelSchema, typedSchema } from '../request-schemas.ts'
import * as moderations from './moderations.ts'

/** The documented request. moderations.ts parses it. */
const moderationRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['input'],
  properties: {
    model: modelSchema('The id of a moderation model. The default is the first of GET /v1/models.'),
    input: {
      description: 'A text, a list of texts, or a list of text and image_url parts.',
      oneOf: [
        { type: 'string' },
        { type: 'array', minItems: 1, maxItems: embeddingInputsMax, items: { type: 'string' } },
        {
          type: 'array',
          minItems: 1,
          maxItems: embeddingInputsMax,
          items: {
            oneOf: [
              typedSchema('text', { text: { type: 'string' } }),
              typedSchema('image_url', {
                image_url: {
                  ...anyObject,
                  required: ['url'],
                  properties: { url: { type: 'string' } },
                },
              }),
            ],
          },
        },
      ],
    },
  },
}

/** Judgments in OpenAI's format, as the upstream returned them, with their cost. */
const ModerationSchema = namedObject('Moderation', {
  id: Type.String(),
  model: Type.String(),
  results: Type.Array(Type.Record(Type.String(), Type.Unknown())),
  cost: Type.Number({ description: 'USD' }),
})

const createModeration = paidOperation({
  id: 'create_moderation',
  route: 'POST /moderations',
  tag: 'Media',
  summary: 'Judge texts and images by the categories of a moderation model.',
  description: 'Charged by input tokens, where the model is not free.',
  input: moderationRequestSchema,
  output: [ModerationSchema],
  errors: mediaErrors,
  run: moderations.createModeration,
})

export const moderationOperations = [createModeration]
