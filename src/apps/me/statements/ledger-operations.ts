import type { AppContext } from '../../../kernel/context.ts'
import { formatCsv } from '../../../kernel/csv.ts'
import { ListQuery, pageHighestFirst } from '../../../kernel/cursor.ts'
import { csv } from '../../../kernel/http/outcome.ts'
import { csvRowsMax } from '../../../kernel/limits.ts'
import { toCredits } from '../../../kernel/money.ts'
import { iso } from '../../../kernel/time.ts'
import { agentOwner } from '../../../money/ledger/accounts.ts'
import { type Entry, listEntries } from '../../../money/ledger/reports.ts'
import type { Agent } from '../../../people/agents/agents.ts'
import { agent } from '../../../people/authentication.ts'
import { operationsOf } from '../../../people/operation.ts'
import { CsvSchema, type LedgerEntryBody, LedgerListSchema } from './schemas.ts'

const operation = operationsOf('Your things')

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
