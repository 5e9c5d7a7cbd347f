import { type Static, Type } from '@sinclair/typebox'
import { t } from 'elysia'

import { oneOf, orNull, Time } from '../../core/schema.ts'

const Use = Type.Object(
  {
    id: Type.String(),
    request_id: Type.String({ description: 'The x-request-id of its answer.' }),
    timestamp: Time,
    model: Type.String(),
    type: Type.String(),
    source: oneOf(['api', 'web', 'build']),
    status: Type.String(),
    input_count: Type.Integer(),
    cached_count: Type.Integer({ description: 'Part of input_count.' }),
    output_count: Type.Integer(),
    reasoning_count: Type.Integer({ description: 'Part of output_count.' }),
    search_count: Type.Integer({ description: 'Web searches that were made.' }),
    estimated: Type.Boolean({ description: 'Counted here, because the upstream did not say.' }),
    price_in_usd: Type.Number(),
    held_in_usd: Type.Number({ description: 'The worst case that was held for it.' }),
    ms: Type.Integer(),
    ttft_ms: orNull(Type.Integer({ description: 'Until the first byte of the answer.' })),
  },
  { title: 'Use' },
)
export type UseShape = Static<typeof Use>

/** Those of the CSV. */
export const columns = Object.keys(Use.properties)

/** GET /queries/history, newest first. */
export const History = Type.Object({
  data: Type.Array(Use),
  page: Type.Integer(),
  page_count: Type.Integer({ description: 'Rows a page has at most.' }),
  total: Type.Integer(),
})

export const HistoryWanted = Type.Object(
  {
    page: Type.Optional(t.Numeric({ description: 'From 1, the newest.' })),
    page_count: Type.Optional(t.Numeric({ description: 'Rows of a page, 1 to 1,000; 100.' })),
    from: Type.Optional(Type.String({ description: 'ISO 8601; a day begins at 00:00 UTC.' })),
    to: Type.Optional(Type.String({ description: 'ISO 8601, inclusive; a day is its whole.' })),
    model: Type.Optional(Type.String()),
    format: Type.Optional(oneOf(['json', 'csv'])),
  },
  { additionalProperties: true },
)
export type HistoryWantedShape = Static<typeof HistoryWanted>
