import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'
import type { OpenAPIV3 } from 'openapi-types'

import { anyObject, lenientObject, mediaSchema, namedObject } from '../../kernel/schema.ts'

export const GeminiModelSchema = namedObject('GeminiModel', {
  name: Type.String({ description: '`models/` and the id.' }),
  version: Type.String(),
  displayName: Type.String(),
  inputTokenLimit: Type.Integer({ description: 'Tokens; 0 when unknown.' }),
  outputTokenLimit: Type.Integer({ description: 'Tokens; 0 when unknown.' }),
  supportedGenerationMethods: Type.Array(Type.String()),
})
export type GeminiModel = Static<typeof GeminiModelSchema>

export const GeminiModelsSchema = Type.Object({
  models: Type.Array(GeminiModelSchema),
  nextPageToken: Type.Optional(Type.String({ description: 'Absent on the last page.' })),
})
export type GeminiModels = Static<typeof GeminiModelsSchema>

export const GeminiModelsQuerySchema = lenientObject({
  pageSize: Type.Optional(
    t.Numeric({ minimum: 0, multipleOf: 1, description: 'Default 50, at most 1,000.' }),
  ),
  pageToken: Type.Optional(Type.String({ description: 'nextPageToken of the page before.' })),
})
export type GeminiModelsQuery = Static<typeof GeminiModelsQuerySchema>

export const MethodQuerySchema = lenientObject({
  alt: Type.Optional(Type.String({ description: 'sse, for streamGenerateContent.' })),
})

/** The documented request. The body is parsed by hand. */
export const methodRequestSchema: OpenAPIV3.SchemaObject = {
  ...anyObject,
  properties: {
    contents: { type: 'array', items: anyObject },
    systemInstruction: anyObject,
    tools: { type: 'array', items: anyObject },
    toolConfig: anyObject,
    generationConfig: anyObject,
    content: { ...anyObject, description: 'The text of an embedding.' },
    requests: { type: 'array', items: anyObject, description: 'The embeddings of a batch.' },
  },
}

export const MethodResponseSchema = Type.Union([
  Type.Record(Type.String(), Type.Unknown()),
  mediaSchema('text/event-stream', {
    description: 'Of streamGenerateContent: responses with the next part of the text.',
  }),
])
