import { type Static, Type } from '@sinclair/typebox'

import { oneOf, TimeSchema } from '../../kernel/schema.ts'
import { FindingSchema } from '../schemas.ts'

/** Scan record of the newest version of an app. */
export const AppScanSchema = Type.Object({
  verdict: oneOf(['clean', 'warn', 'block']),
  at: TimeSchema,
  findings: Type.Array(FindingSchema),
})
export type AppScan = Static<typeof AppScanSchema>
