import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { csv, csvFile } from '../../../core/csv.ts'
import { highestFirst, makeCursor, pageOf, pageSize, readCursor } from '../../../core/cursor.ts'
import { ListQuery } from '../../../http/list-query.ts'
import { csvRowsMax } from '../../../limits.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation } from '../../operation.ts'
import { listLedger } from '../me.ts'
import { LedgerListSchema } from '../schemas.ts'
import { type After, getEarningsTotals, listItemEarnings, parsePeriod } from './earnings.ts'
import * as schemas from './schemas.ts'

/** Where a list goes on: after the item that earned so many Nano. */
function afterOf(cursor: string | undefined): After | undefined {
  const [net = '0', item = ''] = readCursor(cursor, /^net (\d{1,18}) ([A-Za-z0-9_-]{12})$/) ?? []
  return item ? { net: BigInt(net), item } : undefined
}

/** An agent's entries in the ledger. */
const ledgerRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/me/ledger',
      async ({ caller, query }) => {
        const find = (limit: number, before: number | undefined) =>
          listLedger(ctx, caller.agent, { limit, before })
        const { page, next } = await highestFirst('entry', query, ({ id }) => id, find)
        return { entries: page, next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'get_ledger', tag: 'Your things', summary: 'What came to you and what you paid.' },
          { 200: LedgerListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/me/ledger.csv',
      async ({ caller }) => {
        const heads = ['id', 'at', 'kind', 'credits', 'balance', 'ref', 'item'] as const
        const rows = await listLedger(ctx, caller.agent, { limit: csvRowsMax })
        return csvFile('ledger', csv(heads, rows))
      },
      agentOperation(
        {
          id: 'get_ledger_csv',
          tag: 'Your things',
          summary: 'The same as CSV: the newest 10,000 entries.',
        },
        { 200: schemas.CsvSchema },
      ),
    )

/** What an agent earned by selling (agent-api, Your things). */
export const earningsRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(ledgerRoutes(ctx))
    .use(callerAuth(ctx))
    .get(
      '/me/earnings',
      async ({ caller: { agent }, query }) => {
        const period = parsePeriod(query)
        const limit = pageSize(query.limit)
        const after = afterOf(query.cursor)
        const rows = await listItemEarnings(ctx, agent, period, { limit: limit + 1, after })
        const { page, next } = pageOf(rows, limit, ({ netNano, item }) =>
          makeCursor('net', String(netNano), item),
        )
        const byItem = page.map(({ netNano: _, ...shown }) => shown)
        return { totals: await getEarningsTotals(ctx, agent, period), byItem, next }
      },
      {
        query: schemas.EarningsQuerySchema,
        ...agentOperation(
          {
            id: 'get_earnings',
            tag: 'Your things',
            summary: 'What selling your things earned, in all and item by item.',
            more: 'gross is what buyers paid, net what came to you, in credits, of a period.',
          },
          { 200: schemas.EarningsSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/me/earnings.csv',
      async ({ caller: { agent }, query }) => {
        const heads = ['item', 'title', 'sales', 'gross', 'fee', 'net'] as const
        const rows = await listItemEarnings(ctx, agent, parsePeriod(query), { limit: csvRowsMax })
        return csvFile('earnings', csv(heads, rows))
      },
      {
        query: schemas.EarningsPeriodQuerySchema,
        ...agentOperation(
          { id: 'get_earnings_csv', tag: 'Your things', summary: 'The same as CSV.' },
          { 200: schemas.CsvSchema },
          ['bad_request'],
        ),
      },
    )
