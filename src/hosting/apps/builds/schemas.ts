import { Type } from '@sinclair/typebox'

import { Id, Link } from '../../../core/schema.ts'
import { ScanResultSchema } from '../schemas.ts'
import { JobSchema } from '../../jobs/schemas.ts'

/** A build that has begun (document 1, operation 9). */
export const Building = Type.Object({
  job: JobSchema,
  app: Type.Object({ id: Id, link: Link }),
  price: Type.Number({ description: 'The most it can cost, in credits.' }),
  held: Type.Number(),
})

/** What a dry run answers: the scan of a page, or the price of a build. */
export const DryRun = Type.Object({ scan: Type.Optional(ScanResultSchema), price: Type.Number() })
