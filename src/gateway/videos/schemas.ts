import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject, oneOf } from '../../core/schema.ts'
import { promptCharsMax, videoSecondsDefault, videoSecondsMax } from '../../limits.ts'
import type { PriceTexts } from '../../models/price.ts'

const seconds = `Seconds, at most ${videoSecondsMax}; ${videoSecondsDefault} when left out.`
const fields: Record<string, OpenAPIV3.SchemaObject> = {
  model: { type: 'string', description: 'The id of a video model.' },
  prompt: { type: 'string', minLength: 1, maxLength: promptCharsMax },
}

/** A request for a film, for its description: the body is read by hand. */
export const videoRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'prompt'],
  properties: {
    ...fields,
    aspect_ratio: { type: 'string', default: '16:9', description: 'For example 16:9 or 9:16.' },
    duration: { type: 'string', description: seconds },
  },
}

/** The same as OpenAI's clients send it. */
export const videoFormSchema: OpenAPIV3.SchemaObject = {
  type: 'object',
  required: ['model', 'prompt'],
  properties: {
    ...fields,
    size: { type: 'string', description: 'WIDTHxHEIGHT' },
    seconds: { type: 'string', description: seconds },
    input_reference: { type: 'string', format: 'binary', description: 'A picture to begin with.' },
  },
}

/** A video job (document 2, section 2, and OpenAI's fields). */
export const VideoSchema = Type.Object(
  {
    id: Type.String(),
    object: Type.Literal('video'),
    status: oneOf(['pending', 'completed', 'failed']),
    model: Type.String(),
    created_at: Type.Integer({ description: 'Seconds since 1970.' }),
    estimated_cost: Type.Number({ description: 'USD; it never costs more.' }),
    progress: Type.Integer({ description: 'Percent.' }),
    seconds: Type.String(),
    url: Type.Optional(Type.String({ description: 'Opens without a key for 24 hours.' })),
    cost: Type.Optional(Type.Number({ description: 'USD; 0 when it failed.' })),
    error: Type.Optional(Type.Object({ code: Type.String(), message: Type.String() })),
    expires_at: Type.Optional(Type.Integer({ description: 'Seconds since 1970.' })),
  },
  { title: 'Video' },
)
export type VideoResponse = Static<typeof VideoSchema>

/** What the job of a film is asked for. */
export const VideoJobInput = Type.Object({
  model: Type.String(),
  seconds: Type.Number(),
  requestId: Type.String(),
  source: oneOf(['api', 'web']),
})
export type VideoJobInput = Static<typeof VideoJobInput>

/** Where the film is being made, by which of the models asked for, and what price it has there. */
export const VideoJobData = Type.Object({
  upstream: Type.String(),
  model: Type.String(),
  operation: Type.String(),
  price: Type.Unsafe<PriceTexts>(Type.Object({}, { additionalProperties: true })),
})
export type VideoJobData = Static<typeof VideoJobData>
