import type { AppContext } from '../../../kernel/context.ts'
import { formatCsv } from '../../../kernel/csv.ts'
import {
  makeCursor,
  pageHighestFirst,
  pageSize,
  parseCursor,
  takePage,
} from '../../../kernel/cursor.ts'
import { ListQuery } from '../../../kernel/http/list-query.ts'
import { csv } from '../../../kernel/http/outcome.ts'
import { csvRowsMax } from '../../../kernel/limits.ts'
import { toCredits } from '../../../kernel/money.ts'
import { iso } from '../../../kernel/time.ts'
import { agentOwner } from '../../../money/ledger/accounts.ts'
import { type Entry, listEntries } from '../../../money/ledger/reports.ts'
import type { Agent } from '../../../people/agents/agents.ts'
import { agent } from '../../../people/authentication.ts'
import { operationsOf } from '../../../people/operation.ts'
import * as schemas from './earnings.ts'
import {
  type After,
  CsvSchema,
  getEarningsTotals,
  type LedgerEntryBody,
  LedgerListSchema,
  listItemEarnings,
  parsePeriod,
} from './earnings.ts'

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

/** Lists the ledger entries of an agent, newest first, with numbers below `before`. */
export async function listLedger(
  ctx: AppContext,
  agent: Agent,
  page: { limit: number; before?: number | undefined },
): Promise<LedgerEntryBody[]> {
  return (await listEntries(ctx, agentOwner(agent.id), page)).map(presentEntry)
}

export const presentEntry = (entry: Entry): LedgerEntryBody => ({
  id: entry.number,
  at: iso(entry.at),
  kind: entry.kind,
  credits: toCredits(entry.amount),
  balance: toCredits(entry.balance),
  ref: entry.ref,
  item: entry.item,
})

const getLedger = operation({
  id: 'get_ledger',
  route: 'GET /me/ledger',
  summary: 'List what you received and paid.',
  access: agent,
  input: { query: ListQuery },
  output: { 200: LedgerListSchema },
  errors: ['bad_request'],
  async run(ctx, { caller, query }) {
    const find = (limit: number, before: number | undefined) =>
      listLedger(ctx, caller.agent, { limit, before })
    const { page, next } = await pageHighestFirst('entry', query, ({ id }) => id, find)
    return { entries: page, next }
  },
})

const getLedgerCsv = operation({
  id: 'get_ledger_csv',
  route: 'GET /me/ledger.csv',
  summary: 'Download the newest 10,000 ledger entries as CSV.',
  access: agent,
  output: { 200: CsvSchema },
  async run(ctx, { caller }) {
    const columns = ['id', 'at', 'kind', 'credits', 'balance', 'ref', 'item'] as const
    const rows = await listLedger(ctx, caller.agent, { limit: csvRowsMax })
    return csv('ledger', formatCsv(columns, rows))
  },
})

/** The ledger of an agent (document 1, section 1, Your things). */
export const ledgerOperations = [getLedger, getLedgerCsv]
