import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { csvResponse, formatCsv } from '../../../core/csv.ts'
import { makeCursor, pageSize, parseCursor, takePage } from '../../../core/cursor.ts'
import { csvRowsMax } from '../../../limits.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation } from '../../operation.ts'
import { CsvSchema } from '../ledger/schemas.ts'
import { type After, getEarningsTotals, listItemEarnings, parsePeriod } from './earnings.ts'
import * as schemas from './schemas.ts'

const tag = 'Your things'

/** Reads a cursor: the net earnings, in NanoUsd, and the id of the last item. */
function parseAfter(cursor: string | undefined): After | undefined {
  const [net = '0', item = ''] = parseCursor(cursor, /^net (\d{1,18}) ([A-Za-z0-9_-]{12})$/) ?? []
  return item ? { net: BigInt(net), item } : undefined
}

/** The earnings of an agent (document 1, section 1, Your things). */
export const earningsRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/me/earnings',
      async ({ caller: { agent }, query }) => {
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
      {
        query: schemas.EarningsQuerySchema,
        ...agentOperation(
          {
            id: 'get_earnings',
            tag,
            summary: 'Show what your sales earned, in total and by item.',
            description: 'In credits: "gross" is what buyers paid, "net" is what you received.',
          },
          { 200: schemas.EarningsSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/me/earnings.csv',
      async ({ caller: { agent }, query }) => {
        const columns = ['item', 'title', 'sales', 'gross', 'fee', 'net'] as const
        const rows = await listItemEarnings(ctx, agent, parsePeriod(query), { limit: csvRowsMax })
        return csvResponse('earnings', formatCsv(columns, rows))
      },
      {
        query: schemas.EarningsPeriodQuerySchema,
        ...agentOperation(
          { id: 'get_earnings_csv', tag, summary: 'Download your earnings by item as CSV.' },
          { 200: CsvSchema },
          ['bad_request'],
        ),
      },
    )
