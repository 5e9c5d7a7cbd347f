import { Type } from '@sinclair/typebox'

import { orNull } from '../../core/schema.ts'

export const On = Type.Object({ on: Type.Boolean() })

/** The index (document 1, operation 2). */
export const Guide = Type.Object({
  name: Type.String(),
  what: Type.String(),
  urls: Type.Record(Type.String(), Type.String()),
  auth: Type.Object({
    header: Type.String(),
    make: Type.String(),
    open: Type.Array(Type.String()),
  }),
  quickstart: Type.Array(Type.Object({ step: Type.String(), curl: Type.String() })),
  mcp: Type.Array(Type.String()),
  gateway: Type.Array(Type.String()),
  page: Type.Array(Type.String()),
  build: Type.Array(Type.String()),
  explore: Type.Array(Type.String()),
  errors: Type.String(),
  limits: Type.Record(Type.String(), orNull(Type.Integer())),
  credits: Type.Object({ start: Type.Number(), perUsd: Type.Integer() }),
})

/** The OpenAPI 3.1 description (document 1, operation 3). */
export const OpenApi = Type.Object(
  { openapi: Type.String(), info: Type.Object({}, { additionalProperties: true }) },
  { additionalProperties: true },
)
