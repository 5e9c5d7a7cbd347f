import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../kernel/context.ts'
import { formatCsv } from '../../kernel/csv.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import { wholeQuery } from '../../kernel/http/list-query.ts'
import {
  historyPageDefault,
  historyPageMax,
  historyPagesMax,
  modelIdCharsMax,
} from '../../kernel/limits.ts'
import { toUsd } from '../../kernel/money.ts'
import {
  lenientObject,
  lineSchema,
  momentSchema,
  namedObject,
  nullable,
  oneOf,
  TimeSchema,
} from '../../kernel/schema.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { day, iso, utcDay } from '../../kernel/time.ts'
import { invalidField } from '../fields.ts'
import { listUses, type Use } from '../models/history.ts'

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

const columns = Object.keys(UsageRowSchema.properties)

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

/**
 * Returns a page of an account's usage, newest first (document 2, GET /queries/history;
 * `page_count` is the page size). Throws `bad_request` for an invalid time or model id.
 */
export async function listHistory(ctx: AppContext, account: string, query: HistoryQuery) {
  const { page = 1, page_count = historyPageDefault, from, to, model } = query
  if (model !== undefined && !isPlainLine(model, modelIdCharsMax)) {
    throw invalidField(
      'model',
      `"model" must be a model id of at most ${modelIdCharsMax} characters.`,
    )
  }
  const size = requireWhole('page_count', page_count, historyPageMax)
  const { rows, total } = await listUses(ctx.db.read, {
    account,
    page: requireWhole('page', page, historyPagesMax),
    size,
    ...(model !== undefined && { model }),
    ...(from !== undefined && { from: parseTime(from, 'from').start }),
    ...(to !== undefined && { to: parseTime(to, 'to').end }),
  })
  return { data: rows.map(present), page, page_count, total }
}

const timePattern =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/** Parses a date, from its start to its end, or a time. Without a zone it is UTC. */
export function parseTime(text: string, param: string): { start: number; end: number } {
  // A query string decodes the plus of an offset as a space.
  const [, date, time, zone = 'Z'] = timePattern.exec(text.trim().replace(' ', '+')) ?? []
  const start = date === undefined ? Number.NaN : Date.parse(`${date}T${time ?? '00:00'}${zone}`)
  // Date.parse accepts February 30 as a day in March.
  const isDay = !Number.isNaN(start) && utcDay(Date.parse(date ?? '')) === date
  if (isDay) return { start, end: time === undefined ? start + day - 1 : start }
  throw invalidField(
    param,
    `"${param}" must be an ISO 8601 time, for example 2026-11-21 or 2026-11-21T09:30:00Z.`,
  )
}

const present = (use: Use): UsageRow => ({
  id: use.id,
  request_id: use.requestId,
  timestamp: iso(use.at),
  model: use.model,
  type: use.type,
  source: use.source,
  status: use.status,
  input_count: use.input,
  cached_count: use.cached,
  output_count: use.output,
  reasoning_count: use.reasoning,
  search_count: use.searches,
  estimated: use.estimated,
  price_in_usd: toUsd(use.charged),
  held_in_usd: toUsd(use.held),
  ms: use.ms,
  ttft_ms: use.firstByteMs,
  key: use.key,
  error: use.error,
})

/** Formats rows as CSV with a header line (RFC 4180). */
export const formatHistory = (uses: UsageRow[]): string => formatCsv(columns, uses)
