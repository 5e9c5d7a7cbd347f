import { Elysia } from 'elysia'

import type { AppContext } from '../../../context.ts'
import { csvResponse, formatCsv } from '../../../core/csv.ts'
import { pageHighestFirst } from '../../../core/cursor.ts'
import { toCredits } from '../../../core/money.ts'
import { iso } from '../../../core/time.ts'
import { ListQuery } from '../../../http/list-query.ts'
import { agentOwner } from '../../../ledger/accounts.ts'
import { listEntries } from '../../../ledger/entries.ts'
import { csvRowsMax } from '../../../limits.ts'
import type { Agent } from '../../agents/agents.ts'
import { callerAuth } from '../../authentication.ts'
import { agentOperation } from '../../operation.ts'
import { CsvSchema, type LedgerEntryBody, LedgerListSchema } from './schemas.ts'

const tag = 'Your things'

/** Lists the ledger entries of an agent, newest first, with numbers below `before`. */
async function listLedger(
  ctx: AppContext,
  agent: Agent,
  page: { limit: number; before?: number | undefined },
): Promise<LedgerEntryBody[]> {
  const rows = await listEntries(ctx, agentOwner(agent.id), page)
  return rows.map(({ number, at, kind, amount, balance, ref, item }) => ({
    id: number,
    at: iso(at),
    kind,
    credits: toCredits(amount),
    balance: toCredits(balance),
    ref,
    item,
  }))
}

/** The ledger of an agent (document 1, section 1, Your things). */
export const ledgerRoutes = (ctx: AppContext) =>
  new Elysia()
    .use(callerAuth(ctx))
    .get(
      '/me/ledger',
      async ({ caller, query }) => {
        const find = (limit: number, before: number | undefined) =>
          listLedger(ctx, caller.agent, { limit, before })
        const { page, next } = await pageHighestFirst('entry', query, ({ id }) => id, find)
        return { entries: page, next }
      },
      {
        query: ListQuery,
        ...agentOperation(
          { id: 'get_ledger', tag, summary: 'List what you received and paid.' },
          { 200: LedgerListSchema },
          ['bad_request'],
        ),
      },
    )
    .get(
      '/me/ledger.csv',
      async ({ caller }) => {
        const columns = ['id', 'at', 'kind', 'credits', 'balance', 'ref', 'item'] as const
        const rows = await listLedger(ctx, caller.agent, { limit: csvRowsMax })
        return csvResponse('ledger', formatCsv(columns, rows))
      },
      agentOperation(
        { id: 'get_ledger_csv', tag, summary: 'Download the newest 10,000 ledger entries as CSV.' },
        { 200: CsvSchema },
      ),
    )
