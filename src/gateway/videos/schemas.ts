import { type Static, Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { wholeQuery } from '../../kernel/http/list-query.ts'
import {
  promptCharsMax,
  videoPageMax,
  videoSecondsDefault,
  videoSecondsMax,
} from '../../kernel/limits.ts'
import { anyObject, lenientObject, namedObject, nullable, oneOf } from '../../kernel/schema.ts'
import { listSchema } from '../list.ts'
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
export const VideoSchema = namedObject('Video', {
  id: Type.String(),
  object: Type.Literal('video'),
  status: oneOf(['pending', 'queued', 'in_progress', 'completed', 'failed']),
  model: Type.String(),
  created_at: Type.Integer({ description: 'Seconds since 1970.' }),
  estimated_cost: Type.Number({ description: 'USD; the maximum cost.' }),
  progress: Type.Integer({ description: 'Percent.' }),
  seconds: Type.String(),
  url: Type.Optional(Type.String({ description: 'Valid for 24 hours without a key.' })),
  cost: Type.Optional(Type.Number({ description: 'USD; 0 for a failed video.' })),
  error: Type.Optional(nullable(Type.Object({ code: Type.String(), message: Type.String() }))),
  expires_at: Type.Optional(nullable(Type.Integer({ description: 'Seconds since 1970.' }))),
  completed_at: Type.Optional(
    nullable(Type.Integer({ description: "Seconds since 1970. In OpenAI's form." })),
  ),
  size: Type.Optional(Type.String({ description: "WIDTHxHEIGHT. In OpenAI's form." })),
  prompt: Type.Optional(nullable(Type.String({ description: 'Not stored: null.' }))),
  remixed_from_video_id: Type.Optional(nullable(Type.String({ description: "In OpenAI's form." }))),
})
export type VideoResponse = Static<typeof VideoSchema>

export const VideoListSchema = listSchema(VideoSchema)
export const VideoListQuerySchema = lenientObject({
  limit: Type.Optional(wholeQuery(videoPageMax, `1 to ${videoPageMax}. Default 20.`)),
  after: Type.Optional(Type.String({ description: 'Last id of the previous page.' })),
  order: Type.Optional(oneOf(['asc', 'desc'])),
})
export type VideoListQuery = Static<typeof VideoListQuerySchema>

export const DeletedVideoSchema = Type.Object({
  id: Type.String(),
  object: Type.Literal('video.deleted'),
  deleted: Type.Literal(true),
})

export const VideoJobInputSchema = Type.Object({
  model: Type.String(),
  seconds: Type.Number(),
  requestId: Type.String(),
  source: oneOf(['api', 'web']),
  size: Type.Optional(Type.String()),
  /** Created in OpenAI's form (docs/spec/gateway-decisions.md, "Responses"). */
  isOpenAi: Type.Optional(Type.Boolean()),
})
export type VideoJobInput = Static<typeof VideoJobInputSchema>

/** The upstream and model that accepted the video, with its id and price there. */
export const VideoJobDataSchema = Type.Object({
  upstream: Type.String(),
  model: Type.String(),
  operation: Type.String(),
  price: Type.Unsafe<PriceTexts>(lenientObject({})),
  /** Polls in a row that failed. */
  failures: Type.Optional(Type.Integer()),
})
export type VideoJobData = Static<typeof VideoJobDataSchema>
