import { Type } from '@sinclair/typebox'

import { Id, oneOf, Time, Words } from '../../../core/schema.ts'
import { appealCharsMax } from '../../../limits.ts'

/** POST /apps/{id}/appeal. */
export const AppealSchema = Type.Object(
  { text: Words(appealCharsMax, { minLength: 1, description: 'Why the app is fine.' }) },
  { additionalProperties: false, examples: [{ text: 'The sign-in form is part of the story.' }] },
)

export const AppealResponseSchema = Type.Object({
  appeal: Type.Object({ id: Id, item: Id, text: Type.String(), state: oneOf(['open']), at: Time }),
  note: Type.String(),
})
