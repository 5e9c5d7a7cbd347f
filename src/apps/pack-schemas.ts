import { type Static, Type } from '@sinclair/typebox'

import { lineSchema, namedObject, oneOf } from '../kernel/schema.ts'
import { sharePercentMax, stepDoneCharsMax, stepTitleCharsMax } from './folders/limits.ts'
import { AppSchema } from './schemas.ts'

const { kind: _, ...itemFields } = AppSchema.properties

const packFields = {
  ...itemFields,
  name: Type.String({ description: 'Name in SKILL.md, unique among your packs.' }),
  license: Type.Optional(Type.String()),
  compatibility: Type.Optional(Type.String()),
  metadata: Type.Optional(Type.Record(Type.String(), Type.String())),
  allowedTools: Type.Optional(Type.String()),
}

/** A skill (docs/spec/packs-and-runs.md, "Packs"). */
export const SkillSchema = namedObject('Skill', { ...packFields, kind: Type.Literal('skill') })
type SkillBody = Static<typeof SkillSchema>

export const StepSchema = namedObject(
  'Step',
  {
    id: Type.String({ pattern: '^[a-z0-9-]{1,40}$' }),
    title: lineSchema(stepTitleCharsMax, { minLength: 1 }),
    done: lineSchema(stepDoneCharsMax, {
      minLength: 1,
      description: 'How one knows that the step is done.',
    }),
  },
  { additionalProperties: false },
)

export const ShareSchema = namedObject(
  'Share',
  {
    percent: Type.Number({ minimum: 0, maximum: sharePercentMax }),
    of: oneOf(['profit', 'revenue']),
    payTo: Type.String({ pattern: '^0x[0-9a-fA-F]{40}$', description: 'Address of the maker.' }),
    network: Type.String({ maxLength: 60, description: 'CAIP-2, such as eip155:8453.' }),
    asset: Type.String({ maxLength: 60, description: 'Contract of the token, or USDC.' }),
  },
  { additionalProperties: false },
)

/** A framework: a pack with steps. */
export const FrameworkSchema = namedObject('Framework', {
  ...packFields,
  kind: Type.Literal('framework'),
  steps: Type.Array(StepSchema),
  share: Type.Optional(ShareSchema),
})
type FrameworkBody = Static<typeof FrameworkSchema>

/** A pack under the name of its kind. */
export type PackBody = { skill: SkillBody } | { framework: FrameworkBody }
