import { Type } from '@sinclair/typebox'

import { IdSchema, LinkSchema } from '../../kernel/schema.ts'
import { JobSchema } from '../jobs/schemas.ts'
import { ScanResultSchema } from '../schemas.ts'

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
