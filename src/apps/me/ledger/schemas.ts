import { type Static, Type } from '@sinclair/typebox'

import { NextSchema } from '../../../kernel/http/list-query.ts'
import { mediaSchema, nullable, TimeSchema } from '../../../kernel/schema.ts'

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
  next: NextSchema,
})

export const CsvSchema = mediaSchema('text/csv', { description: 'RFC 4180, with a header row.' })
