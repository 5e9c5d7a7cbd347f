import { type Static, Type } from '@sinclair/typebox'

import { LinkSchema, textSchema } from '../../../core/schema.ts'
import { iconPromptCharsMax } from '../../../limits.ts'

/** PUT /apps/{id}/icon (document 1, operation 13). */
export const PutIconSchema = Type.Object(
  {
    image: Type.Optional(
      Type.String({ description: 'A data URL of a JPEG, PNG or WebP, up to 6 MB.' }),
    ),
    make: Type.Optional(
      Type.Boolean({ description: 'true: generate it from the title and the description.' }),
    ),
    prompt: Type.Optional(
      textSchema(iconPromptCharsMax, { description: 'Your prompt for the icon, with make.' }),
    ),
  },
  { additionalProperties: false, examples: [{ make: true, prompt: 'a lighthouse at night' }] },
)
export type PutIconRequest = Static<typeof PutIconSchema>

export const IconSchema = Type.Object({
  icon: LinkSchema,
  credits: Type.Optional(Type.Number({ description: 'Price in credits; 0 for the free one.' })),
  free: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.String()),
})
export type IconResponse = Static<typeof IconSchema>

export const DeletedIconSchema = Type.Object({ icon: Type.Null() })
