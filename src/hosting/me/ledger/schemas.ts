import { type Static, Type } from '@sinclair/typebox'

import { mediaSchema, nullable, TimeSchema } from '../../../core/schema.ts'

const LedgerEntrySchema = Type.Object({
  id: Type.Integer(),
  at: TimeSchema,
  kind: Type.String(),
  credits: Type.Number({ description: 'Negative amounts are payments.' }),
  balance: Type.Number({ description: 'The balance after this entry.' }),
  ref: Type.String(),
  item: nullable(Type.String()),
})
export type LedgerEntryBody = Static<typeof LedgerEntrySchema>

export const LedgerListSchema = Type.Object({
  entries: Type.Array(LedgerEntrySchema),
  next: nullable(Type.String()),
})

export const CsvSchema = mediaSchema('text/csv', { description: 'RFC 4180, with a header row.' })
