import { Type } from '@sinclair/typebox'
import type { OpenAPIV3 } from 'openapi-types'

import { imagesPerRequestMax, promptCharsMax } from '../../kernel/limits.ts'
import { anyObject, lenientObject, namedObject } from '../../kernel/schema.ts'
import { modelSchema, sizeSchema } from '../request-schemas.ts'

/** Fields of every request for images. */
const common: OpenAPIV3.SchemaObject['properties'] = {
  model: modelSchema('The id of an image model.'),
  size: sizeSchema,
  n: { type: 'integer', minimum: 1, maximum: imagesPerRequestMax, default: 1 },
  response_format: { type: 'string', enum: ['url', 'b64_json'], default: 'url' },
  stream: { type: 'boolean', description: 'Sends an event for each image.' },
}
const prompt: OpenAPIV3.SchemaObject = { type: 'string', minLength: 1, maxLength: promptCharsMax }
const image: OpenAPIV3.SchemaObject = { type: 'string', format: 'binary' }

/** The body of an image request, which image-request.ts parses. */
export const imagesRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'prompt'],
  properties: {
    ...common,
    prompt,
    negative_prompt: { type: 'string', maxLength: promptCharsMax },
  },
}

/** The form of an edit, which edits.ts parses. */
export const editRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'image', 'prompt'],
  properties: {
    ...common,
    prompt,
    image: { ...image, description: 'PNG, JPEG, WebP or GIF. Up to 16, as image[].' },
    mask: { ...image, description: 'Its transparent areas are edited.' },
  },
}

/** The form of a variation, which edits.ts parses. */
export const variationRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  required: ['model', 'image'],
  properties: { ...common, image },
}

/** Images with their cost (document 2, section 2). */
export const ImagesSchema = namedObject('Images', {
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
})

export const SignedUrlQuerySchema = lenientObject({
  expires: Type.Optional(Type.String()),
  signature: Type.Optional(Type.String()),
})
