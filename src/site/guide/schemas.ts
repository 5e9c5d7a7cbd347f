import { Type } from '@sinclair/typebox'

import { nullable } from '../../kernel/schema.ts'

export const IsOnSchema = Type.Object({ on: Type.Boolean() })

/** Document 1, operation 2. */
export const GuideSchema = Type.Object({
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
  skills: Type.Array(Type.String()),
  errors: Type.String(),
  limits: Type.Record(Type.String(), nullable(Type.Integer())),
  credits: Type.Object({ start: Type.Number(), perUsd: Type.Integer() }),
})

/** Document 1, operation 3. */
export const OpenApiSchema = Type.Object(
  { openapi: Type.String(), info: Type.Object({}, { additionalProperties: true }) },
  { additionalProperties: true },
)
