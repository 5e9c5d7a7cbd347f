import { type Static, Type } from '@sinclair/typebox'

import { IdSchema, LinkSchema, oneOf } from '../../kernel/schema.ts'
import { JobSchema } from '../jobs/schemas.ts'
import { shelfNames } from '../kinds.ts'
import { ScanResultSchema } from '../schemas.ts'

export const BuildInputSchema = Type.Object({
  prompt: Type.String(),
  kind: Type.Union([Type.Literal('app'), Type.Literal('game')]),
  /** Lists the app on Explore when allowed. */
  store: Type.Boolean(),
  /** Version to change; undefined for a new app. */
  version: Type.Optional(Type.Integer()),
  /** Version note; the prompt when empty. */
  note: Type.Optional(Type.String()),
  /** Nano-USD of the price reserved from the free budget on the day of the start. */
  free: Type.String(),
})
export type BuildInput = Static<typeof BuildInputSchema>

/** Progress of a build that a restart resumes from: the page that passed, and its cost. */
export const BuildDataSchema = Type.Object({
  html: Type.String(),
  /** Nano-USD. */
  spent: Type.String(),
  used: Type.Object({
    prompt: Type.Integer(),
    cached: Type.Integer(),
    completion: Type.Integer(),
    reasoning: Type.Integer(),
    estimated: Type.Boolean(),
  }),
  plan: Type.Object({
    title: Type.String(),
    description: Type.String(),
    shelf: oneOf(shelfNames),
    plan: Type.String(),
  }),
})
export type BuildData = Static<typeof BuildDataSchema>

/** A started build (document 1, operation 9). */
export const BuildStartedSchema = Type.Object({
  job: JobSchema,
  app: Type.Object({ id: IdSchema, link: LinkSchema }),
  price: Type.Number({ description: 'Maximum price in credits.' }),
  held: Type.Number(),
})

/** Response of a dry run: the scan of a page, or the price of a build. */
export const DryRunSchema = Type.Object({
  scan: Type.Optional(ScanResultSchema),
  price: Type.Number(),
})
