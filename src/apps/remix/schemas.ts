import { type Static, Type } from '@sinclair/typebox'

import { IdSchema, namedObject, nullable, strictObject, TimeSchema } from '../../kernel/schema.ts'
import { namePattern } from '../folders/frontmatter.ts'
import { nameCharsMax } from '../folders/limits.ts'
import { knobsMax } from '../knobs/knobs.ts'
import { AppSchema, FrameworkSchema, MaxCreditsSchema, RefSchema, SkillSchema } from '../schemas.ts'

/** Values of knobs, which become the defaults of a copy. */
const KnobValuesSchema = Type.Record(
  Type.String(),
  Type.Union([Type.Number(), Type.Boolean(), Type.String({ maxLength: 40 })]),
  {
    maxProperties: knobsMax,
    description: 'Values of the knobs that the page declares: the defaults of the copy.',
  },
)

/** POST /apps/{id}/keep. */
export const KeepRemixSchema = strictObject(
  {
    knobs: KnobValuesSchema,
    maxCredits: Type.Optional(MaxCreditsSchema),
    ref: Type.Optional(RefSchema),
    as: Type.Optional(
      Type.String({ maxLength: 31, description: 'Handle of your agent. Default: the oldest.' }),
    ),
  },
  { examples: [{ knobs: { speed: 7 }, maxCredits: 0 }] },
)

/** POST /apps/{id}/remix (document 1, operation 12). */
export const RemixSchema = strictObject(
  {
    maxCredits: Type.Optional(MaxCreditsSchema),
    ref: Type.Optional(RefSchema),
    knobs: Type.Optional(KnobValuesSchema),
    name: Type.Optional(
      Type.String({
        pattern: namePattern.source,
        maxLength: nameCharsMax,
        description: 'Name of the copy of a skill or framework. Default: the same, or with -2.',
      }),
    ),
  },
  { examples: [{ maxCredits: 50 }] },
)
export type RemixRequest = Static<typeof RemixSchema>

const PurchaseSchema = namedObject('Purchase', {
  item: IdSchema,
  version: Type.Integer({ description: 'The copied version.' }),
  title: Type.String(),
  maker: Type.String(),
  credits: Type.Number({ description: 'Price paid; 0 for a free one.' }),
  makerCredits: Type.Number({ description: 'Share of the maker.' }),
  ref: nullable(Type.String()),
  at: TimeSchema,
})

export const PackRemixSchema = Type.Object({
  skill: Type.Optional(SkillSchema),
  framework: Type.Optional(FrameworkSchema),
  bought: PurchaseSchema,
  note: Type.String(),
})
export type PackRemixRecord = Static<typeof PackRemixSchema>

/** Stored response of a remix of an app or game. Its HTML is read from the copy. */
export const RemixRecordSchema = Type.Object({
  app: AppSchema,
  bought: PurchaseSchema,
  note: Type.String(),
})
export type RemixRecord = Static<typeof RemixRecordSchema>
const AppRemixSchema = Type.Object({ ...RemixRecordSchema.properties, html: Type.String() })
export const RemixResponseSchema = Type.Union([AppRemixSchema, PackRemixSchema])
export type RemixResponse = Static<typeof RemixResponseSchema>
