import { type Static, Type } from '@sinclair/typebox'

import { ListQuery } from '../../core/list-query.ts'
import { Id, Media, orNull } from '../../core/schema.ts'

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

export const PeriodWanted = Type.Object(when)
export const EarningsWanted = Type.Object({ ...when, ...ListQuery.properties })
export type PeriodWantedShape = Static<typeof PeriodWanted>

const earned = {
  sales: Type.Integer(),
  gross: Type.Number({ description: 'What buyers paid, in credits.' }),
  fee: Type.Number({ description: "The house's part." }),
  net: Type.Number({ description: 'What came to you.' }),
}
const Earned = Type.Object(earned)
export type EarnedShape = Static<typeof Earned>

const ItemEarned = Type.Object({ item: Id, title: orNull(Type.String()), ...earned })
export type ItemEarnedShape = Static<typeof ItemEarned>

/** GET /me/earnings (agent-api, Your things). */
export const Earnings = Type.Object({
  totals: Earned,
  byItem: Type.Array(ItemEarned),
  next: orNull(Type.String()),
})

export const Csv = Media('text/csv', { description: 'RFC 4180, with a head.' })
