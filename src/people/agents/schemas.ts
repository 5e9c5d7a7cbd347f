import { Type } from '@sinclair/typebox'

import { keyNameCharsMax } from '../../kernel/limits.ts'
import { IdSchema, lineSchema, LinkSchema, strictObject } from '../../kernel/schema.ts'

export const AppLinksSchema = Type.Array(
  Type.Object({ id: IdSchema, title: Type.String(), link: LinkSchema }),
  { description: 'The newest apps; GET /apps lists all.' },
)

export const CreateKeyRequestSchema = strictObject({
  name: Type.Optional(lineSchema(keyNameCharsMax, { minLength: 1 })),
})
export const CreateKeyResponseSchema = Type.Object({
  key: Type.String({ description: 'Shown once.' }),
  prefix: Type.String(),
})
export const RevokeKeyResponseSchema = Type.Object({
  prefix: Type.String(),
  revoked: Type.Literal(true),
})
