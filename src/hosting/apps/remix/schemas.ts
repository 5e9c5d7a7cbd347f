import { type Static, Type } from '@sinclair/typebox'

import { IdSchema, nullable, TimeSchema } from '../../../core/schema.ts'
import { AppSchema, MaxCreditsSchema, RefSchema } from '../schemas.ts'

/** POST /apps/{id}/remix (document 1, operation 12). */
export const RemixSchema = Type.Object(
  {
    maxCredits: Type.Optional(MaxCreditsSchema),
    ref: Type.Optional(RefSchema),
  },
  { additionalProperties: false, examples: [{ maxCredits: 50 }] },
)
export type RemixRequest = Static<typeof RemixSchema>

const PurchaseSchema = Type.Object(
  {
    item: IdSchema,
    version: Type.Integer({ description: 'The copied version.' }),
    title: Type.String(),
    maker: Type.String(),
    credits: Type.Number({ description: 'Price paid; 0 for a free one.' }),
    makerCredits: Type.Number({ description: 'Share of the maker.' }),
    ref: nullable(Type.String()),
    at: TimeSchema,
  },
  { title: 'Purchase' },
)

/** Stored response of a remix. Its HTML is read from the copy. */
export const RemixRecordSchema = Type.Object({
  app: AppSchema,
  bought: PurchaseSchema,
  note: Type.String(),
})
export type RemixRecord = Static<typeof RemixRecordSchema>
export const RemixResponseSchema = Type.Object({
  ...RemixRecordSchema.properties,
  html: Type.String(),
})
export type RemixResponse = Static<typeof RemixResponseSchema>
