import { type Static, Type } from '@sinclair/typebox'

import { ListQuery, NextSchema } from '../../../kernel/cursor.ts'
import {
  IdSchema,
  mediaSchema,
  momentSchema,
  nullable,
  TimeSchema,
} from '../../../kernel/schema.ts'

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

const period = {
  from: Type.Optional(momentSchema('ISO 8601: a day (UTC) or a moment.')),
  to: Type.Optional(momentSchema('A day (inclusive) or a moment (exclusive).')),
  item: Type.Optional(IdSchema),
}

export const EarningsPeriodQuerySchema = Type.Object(period)
export const EarningsQuerySchema = Type.Object({ ...period, ...ListQuery.properties })
export type EarningsPeriodQuery = Static<typeof EarningsPeriodQuerySchema>

const earned = {
  sales: Type.Integer(),
  gross: Type.Number({ description: 'What buyers paid, in credits.' }),
  fee: Type.Number({ description: 'The share of the service.' }),
  net: Type.Number({ description: 'What you received.' }),
}
const EarnedSchema = Type.Object(earned)
export type EarningsBody = Static<typeof EarnedSchema>

const ItemEarningsSchema = Type.Object({
  item: IdSchema,
  title: nullable(Type.String()),
  ...earned,
})
export type ItemEarningsBody = Static<typeof ItemEarningsSchema>

/** The response of GET /me/earnings. */
export const EarningsSchema = Type.Object({
  totals: EarnedSchema,
  byItem: Type.Array(ItemEarningsSchema),
  next: NextSchema,
})
