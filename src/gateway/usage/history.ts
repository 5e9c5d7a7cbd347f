import { formatCsv } from '../../kernel/csv.ts'
import { requireWhole } from '../../kernel/cursor.ts'
import {
  historyPageDefault,
  historyPageMax,
  historyPagesMax,
  modelIdCharsMax,
} from '../../kernel/limits.ts'
import { toUsd } from '../../kernel/money.ts'
import { isPlainLine } from '../../kernel/text.ts'
import { day, iso, utcDay } from '../../kernel/time.ts'
import type { AppContext } from '../../server/context.ts'
import { invalidField } from '../fields.ts'
import { listUses, type Use } from '../models/history.ts'
import { columns, type HistoryQuery, type UsageRow } from './schemas.ts'

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
