import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { anything } from '../../core/schema.ts'
import { imagesPerRequestMax, promptCharsMax } from '../../limits.ts'

/** A request for pictures, for its description: the body is read by hand. */
export const imagesRequestSchema: OpenAPIV3.SchemaObject = {
  ...anything,
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

/** Pictures, with what they cost (document 2, section 2). */
export const ImagesSchema = Type.Object(
  {
    created: Type.Integer({ description: 'Seconds since 1970.' }),
    data: Type.Array(
      Type.Object({
        url: Type.Optional(Type.String({ description: 'Opens without a key for 24 hours.' })),
        b64_json: Type.Optional(Type.String()),
        revised_prompt: Type.Optional(
          Type.String({ description: 'What the model made of the prompt, where it tells.' }),
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

/** The two marks of a signed address. */
export const SignedUrlQuerySchema = Type.Object(
  { expires: Type.Optional(Type.String()), signature: Type.Optional(Type.String()) },
  { additionalProperties: true },
)
