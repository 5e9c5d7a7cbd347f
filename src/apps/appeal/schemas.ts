import { Type } from '@sinclair/typebox'

import { appealCharsMax } from '../../kernel/limits.ts'
import { IdSchema, oneOf, textSchema, TimeSchema } from '../../kernel/schema.ts'

/** POST /apps/{id}/appeal. */
export const AppealSchema = Type.Object(
  { text: textSchema(appealCharsMax, { minLength: 1, description: 'Why the app is fine.' }) },
  { additionalProperties: false, examples: [{ text: 'The sign-in form is part of the story.' }] },
)

export const AppealResponseSchema = Type.Object({
  appeal: Type.Object({
    id: IdSchema,
    item: IdSchema,
    text: Type.String(),
    state: oneOf(['open']),
    at: TimeSchema,
  }),
  note: Type.String(),
})
