import { Type } from '@sinclair/typebox'

import { IdSchema, lineSchema, LinkSchema } from '../../core/schema.ts'
import { keyNameCharsMax } from '../../limits.ts'

export const AppLinksSchema = Type.Array(
  Type.Object({ id: IdSchema, title: Type.String(), link: LinkSchema }),
  { description: 'The newest apps; GET /apps lists all.' },
)

export const CreateKeyRequestSchema = Type.Object(
  { name: Type.Optional(lineSchema(keyNameCharsMax, { minLength: 1 })) },
  { additionalProperties: false },
)
export const CreateKeyResponseSchema = Type.Object({
  key: Type.String({ description: 'Shown once.' }),
  prefix: Type.String(),
})
export const RevokeKeyResponseSchema = Type.Object({
  prefix: Type.String(),
  revoked: Type.Literal(true),
})
