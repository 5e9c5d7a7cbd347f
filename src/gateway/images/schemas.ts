import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject } from '../../core/schema.ts'
import { imagesPerRequestMax, promptCharsMax } from '../../limits.ts'

/** The body of an image request, which images.ts parses. */
export const imagesRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'prompt'],
  properties: {
    model: { type: 'string', description: 'The id of an image model.' },
    prompt: { type: 'string', minLength: 1, maxLength: promptCharsMax },
    size: { type: 'string', description: 'WIDTHxHEIGHT' },
    n: { type: 'integer', minimum: 1, maximum: imagesPerRequestMax, default: 1 },
    negative_prompt: { type: 'string', maxLength: promptCharsMax },
    response_format: { type: 'string', enum: ['url', 'b64_json'], default: 'url' },
  },
}

/** Images with their cost (document 2, section 2). */
export const ImagesSchema = Type.Object(
  {
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    data: Type.Array(
      Type.Object({
        url: Type.Optional(Type.String({ description: 'Valid for 24 hours without a key.' })),
        b64_json: Type.Optional(Type.String()),
        revised_prompt: Type.Optional(
          Type.String({ description: 'The prompt as the model changed it.' }),
        ),
      }),
    ),
    background: Type.Optional(Type.String()),
    output_format: Type.Optional(Type.String()),
    quality: Type.Optional(Type.String()),
    size: Type.Optional(Type.String()),
    cost: Type.Number({ description: 'USD' }),
  },
  { title: 'Images' },
)

/** The query of a signed URL. */
export const SignedUrlQuerySchema = Type.Object(
  { expires: Type.Optional(Type.String()), signature: Type.Optional(Type.String()) },
  { additionalProperties: true },
)
