import type { AppContext } from '../../context.ts'
import { csv } from '../../core/csv.ts'
import { wholeOf } from '../../core/cursor.ts'
import { toUsd } from '../../core/money.ts'
import { isPlainLine } from '../../core/text.ts'
import { day, iso, utcDay } from '../../core/time.ts'
import { historyPageDefault, historyPageMax, modelIdCharsMax } from '../../limits.ts'
import { listUses, type Use } from '../../models/history.ts'
import { misfit } from '../fields.ts'
import { columns, type HistoryWantedShape, type UseShape } from './schemas.ts'

const pageMax = 1_000_000_000

/**
 * A page of what an account used, newest first (document 2, GET /queries/history; `page_count` is
 * the page's size). Refuses bad_request for a time that is none, and for what names no model.
 */
export async function historyOf(ctx: AppContext, account: string, wanted: HistoryWantedShape) {
  const { page = 1, page_count = historyPageDefault, from, to, model } = wanted
  if (model !== undefined && !isPlainLine(model, modelIdCharsMax)) {
    throw misfit('model', `"model" is the id of a model, of at most ${modelIdCharsMax} characters.`)
  }
  const size = wholeOf('page_count', page_count, historyPageMax)
  const { rows, total } = await listUses(ctx.db.read, {
    account,
    page: wholeOf('page', page, pageMax),
    size,
    ...(model !== undefined && { model }),
    ...(from !== undefined && { from: momentOf(from, 'from').start }),
    ...(to !== undefined && { to: momentOf(to, 'to').end }),
  })
  return { data: rows.map(present), page, page_count, total }
}

const moment =
  /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+-]\d{2}:\d{2})?)?$/

/** A day from its start to its end, or a moment, which is UTC when it names no zone. */
function momentOf(text: string, param: string): { start: number; end: number } {
  // An offset's plus is a space once a query has been read.
  const [, date, time, zone = 'Z'] = moment.exec(text.trim().replace(' ', '+')) ?? []
  const start = date === undefined ? Number.NaN : Date.parse(`${date}T${time ?? '00:00'}${zone}`)
  // A 30th of February would be read as a day in March.
  const isDay = !Number.isNaN(start) && utcDay(Date.parse(date ?? '')) === date
  if (isDay) return { start, end: time === undefined ? start + day - 1 : start }
  throw misfit(param, `"${param}" is a time of ISO 8601, 2026-11-21 or 2026-11-21T09:30:00Z.`)
}

const present = (use: Use): UseShape => ({
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
})

/** The rows as CSV with a line of names (RFC 4180). */
export const csvOf = (uses: UseShape[]): string => csv(columns, uses)
