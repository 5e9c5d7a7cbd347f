import { formatCsv } from '../../../kernel/csv.ts'
import { makeCursor, pageSize, parseCursor, takePage } from '../../../kernel/cursor.ts'
import { csv } from '../../../kernel/http/outcome.ts'
import { csvRowsMax } from '../../../kernel/limits.ts'
import { agent } from '../../../people/authentication.ts'
import { operationsOf } from '../../../people/operation.ts'
import { type After, getEarningsTotals, listItemEarnings, parsePeriod } from './earnings.ts'
import * as schemas from './schemas.ts'

const operation = operationsOf('Your things')

/** Reads a cursor: the net earnings, in NanoUsd, and the id of the last item. */
function parseAfter(cursor: string | undefined): After | undefined {
  const [net = '0', item = ''] = parseCursor(cursor, /^net (\d{1,18}) ([A-Za-z0-9_-]{12})$/) ?? []
  return item ? { net: BigInt(net), item } : undefined
}

const getEarnings = operation({
  id: 'get_earnings',
  route: 'GET /me/earnings',
  summary: 'Show what your sales earned, in total and by item.',
  description: 'In credits: "gross" is what buyers paid, "net" is what you received.',
  access: agent,
  input: { query: schemas.EarningsQuerySchema },
  output: { 200: schemas.EarningsSchema },
  errors: ['bad_request'],
  async run(ctx, { caller: { agent }, query }) {
    const period = parsePeriod(query)
    const limit = pageSize(query.limit)
    const after = parseAfter(query.cursor)
    const rows = await listItemEarnings(ctx, agent, period, { limit: limit + 1, after })
    const { page, next } = takePage(rows, limit, ({ netNano, item }) =>
      makeCursor('net', String(netNano), item),
    )
    const byItem = page.map(({ netNano: _, ...body }) => body)
    return { totals: await getEarningsTotals(ctx, agent, period), byItem, next }
  },
})

const getEarningsCsv = operation({
  id: 'get_earnings_csv',
  route: 'GET /me/earnings.csv',
  summary: 'Download your earnings by item as CSV.',
  access: agent,
  input: { query: schemas.EarningsPeriodQuerySchema },
  output: { 200: schemas.CsvSchema },
  errors: ['bad_request'],
  async run(ctx, { caller: { agent }, query }) {
    const columns = ['item', 'title', 'sales', 'gross', 'fee', 'net'] as const
    const rows = await listItemEarnings(ctx, agent, parsePeriod(query), { limit: csvRowsMax })
    return csv('earnings', formatCsv(columns, rows))
  },
})

/** The earnings of an agent (document 1, section 1, Your things). */
export const earningsOperations = [getEarnings, getEarningsCsv]
