import { Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { listPageMax } from '../limits.ts'
import { nullable } from '../schema.ts'

/** A whole number of a query from 1 to `max`, which the operation checks. */
export const wholeQuery = (max: number, description: string) =>
  t.Numeric({ description, described: { minimum: 1, maximum: max, multipleOf: 1 } })

/** The query of all lists: `?limit=1..100&cursor=`. */
export const ListQuery = Type.Object({
  limit: Type.Optional(t.Numeric({ minimum: 1, maximum: listPageMax, multipleOf: 1 })),
  cursor: Type.Optional(
    Type.String({ maxLength: 200, described: { pattern: '^[A-Za-z0-9_-]+$' } }),
  ),
})

/** `next` of a list: the cursor of the next page; null on the last page. */
export const NextSchema = nullable(Type.String())
