import { type Static, Type } from '@sinclair/typebox'

import { iconPromptCharsMax, remixPriceCreditsMax } from '../../kernel/limits.ts'
import {
  base64Pattern,
  LinkSchema,
  nullable,
  sixDecimals,
  strictObject,
  textSchema,
} from '../../kernel/schema.ts'

/** An image in a body. The operation reads its bytes. */
export const ImageUrlSchema = Type.String({
  description: 'A data URL of a JPEG, PNG or WebP, up to 6 MB.',
  described: { pattern: `^data:image/[^,]{1,100};base64,${base64Pattern}$` },
})

/** PUT /apps/{id}/icon (document 1, operation 13). */
export const PutIconSchema = strictObject(
  {
    image: Type.Optional(ImageUrlSchema),
    make: Type.Optional(
      Type.Boolean({ description: 'true: generate it from the title and the description.' }),
    ),
    prompt: Type.Optional(
      textSchema(iconPromptCharsMax, { description: 'Your prompt for the icon, with make.' }),
    ),
    maxCredits: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: remixPriceCreditsMax,
        description: 'Highest price you accept, with make.',
        ...sixDecimals,
      }),
    ),
  },
  {
    described: {
      anyOf: [
        {
          required: ['image'],
          properties: {
            make: { enum: [false] },
            prompt: { maxLength: 0 },
            maxCredits: { not: {} },
          },
        },
        { required: ['make'], properties: { image: { not: {} }, make: { enum: [true] } } },
      ],
    },
    examples: [{ make: true, prompt: 'a lighthouse at night' }],
  },
)
export type PutIconRequest = Static<typeof PutIconSchema>

export const IconSchema = Type.Object({
  icon: LinkSchema,
  credits: Type.Optional(Type.Number({ description: 'Price in credits; 0 for the free one.' })),
  free: Type.Optional(Type.Boolean()),
  note: Type.Optional(Type.String()),
})
export type IconResponse = Static<typeof IconSchema>

export const DeletedIconSchema = Type.Object({ icon: nullable(LinkSchema) })
