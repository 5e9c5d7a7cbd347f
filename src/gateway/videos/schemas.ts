import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { promptCharsMax, videoSecondsDefault, videoSecondsMax } from '../../kernel/limits.ts'
import { anyObject, oneOf } from '../../kernel/schema.ts'
import type { PriceTexts } from '../models/price.ts'
import { modelSchema, sizeSchema } from '../request-schemas.ts'

const seconds: OpenAPIV3.SchemaObject = {
  type: 'string',
  pattern: `^(?:(?:[1-9]|[1-5]\\d)(?:\\.\\d{1,3})?|${videoSecondsMax}|0\\.(?:[1-9]\\d{0,2}|0[1-9]\\d?|00[1-9]))$`,
  description: `Seconds, more than 0 and at most ${videoSecondsMax}; by default ${videoSecondsDefault}.`,
}
const fields: Record<string, OpenAPIV3.SchemaObject> = {
  model: modelSchema('The id of a video model.'),
  prompt: { type: 'string', minLength: 1, maxLength: promptCharsMax },
}

/** The JSON body of a video request, which video-request.ts parses. */
export const videoRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'prompt'],
  properties: {
    ...fields,
    aspect_ratio: {
      type: 'string',
      pattern: '^[1-9]\\d?:[1-9]\\d?$',
      default: '16:9',
      description: 'For example 16:9 or 9:16, at most 4:1.',
    },
    duration: seconds,
  },
}

/** The multipart body of OpenAI's clients. */
export const videoFormSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  required: ['model', 'prompt'],
  properties: {
    ...fields,
    size: sizeSchema,
    seconds,
    input_reference: { type: 'string', format: 'binary', description: 'The first frame.' },
  },
}

/** A video (document 2, section 2) with OpenAI's fields. */
export const VideoSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('video'),
    status: oneOf(['pending', 'completed', 'failed']),
    model: Type.String(),
    created_at: Type.Integer({ description: 'Seconds since 1970.' }),
    estimated_cost: Type.Number({ description: 'USD; the maximum cost.' }),
    progress: Type.Integer({ description: 'Percent.' }),
    seconds: Type.String(),
    url: Type.Optional(Type.String({ description: 'Valid for 24 hours without a key.' })),
    cost: Type.Optional(Type.Number({ description: 'USD; 0 for a failed video.' })),
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
    expires_at: Type.Optional(Type.Integer({ description: 'Seconds since 1970.' })),
  },
  { title: 'Video' },
)
export type VideoResponse = Static<typeof VideoSchema>

export const VideoJobInputSchema = Type.Object({
  model: Type.String(),
  seconds: Type.Number(),
  requestId: Type.String(),
  source: oneOf(['api', 'web']),
})
export type VideoJobInput = Static<typeof VideoJobInputSchema>

/** The upstream and model that accepted the video, with its id and price there. */
export const VideoJobDataSchema = Type.Object({
  upstream: Type.String(),
  model: Type.String(),
  operation: Type.String(),
  price: Type.Unsafe<PriceTexts>(Type.Object({}, { additionalProperties: true })),
  /** Polls in a row that failed. */
  failures: Type.Optional(Type.Integer()),
})
export type VideoJobData = Static<typeof VideoJobDataSchema>
