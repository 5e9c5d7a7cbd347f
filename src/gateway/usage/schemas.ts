import { type Static, Type } from '@sinclair/typebox'

import { wholeQuery } from '../../kernel/http/list-query.ts'
import { historyPageMax, historyPagesMax, modelIdCharsMax } from '../../kernel/limits.ts'
import {
  lenientObject,
  lineSchema,
  momentSchema,
  namedObject,
  nullable,
  oneOf,
  TimeSchema,
} from '../../kernel/schema.ts'

const UsageRowSchema = namedObject('Use', {
  id: Type.String(),
  request_id: Type.String({ description: 'The x-request-id of the response.' }),
  timestamp: TimeSchema,
  model: Type.String(),
  type: Type.String(),
  source: oneOf(['api', 'web', 'build']),
  status: Type.String(),
  input_count: Type.Integer(),
  cached_count: Type.Integer({ description: 'Part of input_count.' }),
  output_count: Type.Integer(),
  reasoning_count: Type.Integer({ description: 'Part of output_count.' }),
  search_count: Type.Integer({ description: 'Web searches.' }),
  estimated: Type.Boolean({
    description: 'Counted by this server, because the upstream reported no usage.',
  }),
  price_in_usd: Type.Number(),
  held_in_usd: Type.Number({ description: 'The maximum cost that was held.' }),
  ms: Type.Integer(),
  ttft_ms: nullable(
    Type.Integer({ description: 'Milliseconds to the first byte of the response.' }),
  ),
  key: nullable(Type.String({ description: 'The prefix of the key; null for the web.' })),
  error: nullable(Type.String({ description: 'The name of the error of a failed call.' })),
})
export type UsageRow = Static<typeof UsageRowSchema>

export const columns = Object.keys(UsageRowSchema.properties)

export const HistorySchema = Type.Object({
  data: Type.Array(UsageRowSchema),
  page: Type.Integer(),
  page_count: Type.Integer({ description: 'Rows per page at most.' }),
  total: Type.Integer(),
})

export const HistoryQuerySchema = lenientObject({
  page: Type.Optional(wholeQuery(historyPagesMax, 'From 1; page 1 has the newest rows.')),
  page_count: Type.Optional(
    wholeQuery(historyPageMax, 'Rows per page, 1 to 1,000. The default is 100.'),
  ),
  from: Type.Optional(momentSchema('ISO 8601, inclusive. A date starts at 00:00 UTC.')),
  to: Type.Optional(momentSchema('ISO 8601, inclusive. A date includes the whole day.')),
  model: Type.Optional(lineSchema(modelIdCharsMax)),
  format: Type.Optional(oneOf(['json', 'csv'])),
})
export type HistoryQuery = Static<typeof HistoryQuerySchema>

const groups = 'day|key|model|upstream|tag|project'
/** No word of the list is there twice. */
const unique = '(?!(?:.*,)?(\\w+),(?:.*,)?\\1(?:,|$))'

export const UsageQuerySchema = lenientObject({
  group_by: Type.Optional(
    Type.String({
      maxLength: 100,
      described: { pattern: `^${unique}(?:${groups})(?:,(?:${groups})){0,2}$` },
      description: 'One to three of day, key, model, upstream, tag, project. The default is day.',
    }),
  ),
  from: Type.Optional(momentSchema('ISO 8601, inclusive. Default: 30 days ago.')),
  to: Type.Optional(momentSchema('ISO 8601, inclusive. Default: now.')),
  format: Type.Optional(oneOf(['json', 'csv'])),
})
export type UsageQuery = Static<typeof UsageQuerySchema>

const groupField = Type.Optional(nullable(Type.String()))

const UsageGroupRowSchema = namedObject('UsageGroup', {
  day: groupField,
  key: groupField,
  model: groupField,
  upstream: groupField,
  tag: groupField,
  project: groupField,
  requests: Type.Integer(),
  input_count: Type.Integer(),
  cached_count: Type.Integer(),
  output_count: Type.Integer(),
  reasoning_count: Type.Integer(),
  search_count: Type.Integer(),
  price_in_usd: Type.Number(),
})
export type UsageGroupRow = Static<typeof UsageGroupRowSchema>

export const UsageGroupsSchema = Type.Object({ data: Type.Array(UsageGroupRowSchema) })
