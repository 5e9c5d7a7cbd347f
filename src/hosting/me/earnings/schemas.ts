import { type Static, Type } from '@sinclair/typebox'

import { ListQuery } from '../../../http/list-query.ts'
import { Id, Media, orNull } from '../../../core/schema.ts'

const when = {
  from: Type.Optional(
    Type.String({ maxLength: 40, description: 'A day (UTC) or a moment, ISO 8601.' }),
  ),
  to: Type.Optional(
    Type.String({
      maxLength: 40,
      description: 'A day, which is included, or a moment, which is not.',
    }),
  ),
  item: Type.Optional(Id),
}

export const EarningsPeriodQuerySchema = Type.Object(when)
export const EarningsQuerySchema = Type.Object({ ...when, ...ListQuery.properties })
export type EarningsPeriodQuery = Static<typeof EarningsPeriodQuerySchema>

const earned = {
  sales: Type.Integer(),
  gross: Type.Number({ description: 'What buyers paid, in credits.' }),
  fee: Type.Number({ description: "The house's part." }),
  net: Type.Number({ description: 'What came to you.' }),
}
const EarnedSchema = Type.Object(earned)
export type EarningsBody = Static<typeof EarnedSchema>

const ItemEarningsSchema = Type.Object({ item: Id, title: orNull(Type.String()), ...earned })
export type ItemEarningsBody = Static<typeof ItemEarningsSchema>

/** GET /me/earnings (agent-api, Your things). */
export const EarningsSchema = Type.Object({
  totals: EarnedSchema,
  byItem: Type.Array(ItemEarningsSchema),
  next: orNull(Type.String()),
})

export const CsvSchema = Media('text/csv', { description: 'RFC 4180, with a head.' })
