import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../../kernel/context.ts'
import { formatCsv } from '../../../kernel/csv.ts'
import {
  makeCursor,
  pageHighestFirst,
  pageSize,
  parseCursor,
  takePage,
} from '../../../kernel/cursor.ts'
import { rejectRequest } from '../../../kernel/errors.ts'
import { ListQuery, NextSchema } from '../../../kernel/http/list-query.ts'
import { type Content, csv } from '../../../kernel/http/outcome.ts'
import { csvRowsMax } from '../../../kernel/limits.ts'
import { type NanoUsd, toCredits } from '../../../kernel/money.ts'
import {
  IdSchema,
  mediaSchema,
  momentSchema,
  nullable,
  TimeSchema,
} from '../../../kernel/schema.ts'
import { day, iso, utcDay } from '../../../kernel/time.ts'
import { agentOwner } from '../../../money/ledger/accounts.ts'
import {
  type Earnings,
  type Entry,
  listEarningsByItem,
  listEntries,
  type SalesFilter,
  sumEarnings,
} from '../../../money/ledger/reports.ts'
import type { Agent } from '../../../people/agents/agents.ts'
import { agent } from '../../../people/authentication.ts'
import { operationsOf } from '../../../people/operation.ts'
import * as apps from '../../apps.ts'

const LedgerEntrySchema = Type.Object({
  id: Type.Integer(),
  at: TimeSchema,
  kind: Type.String(),
  credits: Type.Number({ description: 'Negative amounts are payments.' }),
  balance: Type.Number({ description: 'The balance after this entry.' }),
  ref: Type.String(),
  item: nullable(Type.String()),
})
type LedgerEntryBody = Static<typeof LedgerEntrySchema>

const LedgerListSchema = Type.Object({
  entries: Type.Array(LedgerEntrySchema),
  next: NextSchema,
})

const CsvSchema = mediaSchema('text/csv', { description: 'RFC 4180, with a header row.' })

const period = {
  from: Type.Optional(momentSchema('ISO 8601: a day (UTC) or a moment.')),
  to: Type.Optional(momentSchema('A day (inclusive) or a moment (exclusive).')),
  item: Type.Optional(IdSchema),
}

const EarningsPeriodQuerySchema = Type.Object(period)
const EarningsQuerySchema = Type.Object({ ...period, ...ListQuery.properties })
type EarningsPeriodQuery = Static<typeof EarningsPeriodQuerySchema>

const earned = {
  sales: Type.Integer(),
  gross: Type.Number({ description: 'What buyers paid, in credits.' }),
  fee: Type.Number({ description: 'The share of the service.' }),
  net: Type.Number({ description: 'What you received.' }),
}
const EarnedSchema = Type.Object(earned)
type EarningsBody = Static<typeof EarnedSchema>

const ItemEarningsSchema = Type.Object({
  item: IdSchema,
  title: nullable(Type.String()),
  ...earned,
})
type ItemEarningsBody = Static<typeof ItemEarningsSchema>

/** The response of GET /me/earnings. */
const EarningsSchema = Type.Object({
  totals: EarnedSchema,
  byItem: Type.Array(ItemEarningsSchema),
  next: NextSchema,
})

const datePattern = /^\d{4}-\d\d-\d\d$/
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/

/** Parses a moment of the query; a day means its beginning. Throws `bad_request`. */
function parseMoment(param: 'from' | 'to', text: string): number {
  const at = datePattern.test(text) || momentPattern.test(text) ? Date.parse(text) : Number.NaN
  // Date.parse reads February 30 as a day in March.
  const date = text.slice(0, 10)
  if (!Number.isNaN(at) && utcDay(Date.parse(date)) === date) return at
  rejectRequest(`"${param}" must be a day (2026-11-21) or a moment (2026-11-21T08:00:00Z).`, param)
}

/** Parses the period of a query; a day in `to` is included. Throws `bad_request`. */
function parsePeriod({ from, to, item }: EarningsPeriodQuery): SalesFilter {
  const end = to === undefined ? undefined : parseMoment('to', to)
  return {
    from: from === undefined ? undefined : parseMoment('from', from),
    to: end !== undefined && datePattern.test(to ?? '') ? end + day : end,
    item,
  }
}

const present = ({ sales, gross, net }: Earnings): EarningsBody => ({
  sales,
  gross: toCredits(gross),
  fee: toCredits(gross - net),
  net: toCredits(net),
})

/** Returns the total earnings of an agent in a period. */
export const getEarningsTotals = async (
  ctx: AppContext,
  agent: Agent,
  period: SalesFilter,
): Promise<EarningsBody> => present(await sumEarnings(ctx, agentOwner(agent.id), period))

/** A position in the list by item: the net earnings and id of the last item. */
interface After {
  net: bigint
  item: string
}

/** Lists the earnings of an agent by item in a period, highest net first. */
async function listItemEarnings(
  ctx: AppContext,
  agent: Agent,
  period: SalesFilter,
  page: { limit: number; after?: After | undefined },
): Promise<(ItemEarningsBody & { netNano: NanoUsd })[]> {
  const rows = await listEarningsByItem(ctx, agentOwner(agent.id), period, page)
  return Promise.all(
    rows.map(async ({ item, ...earned }) => {
      const title = (await apps.findApp(ctx, item))?.title ?? null
      return { item, title, ...present(earned), netNano: earned.net }
    }),
  )
}

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
  input: { query: EarningsQuerySchema },
  output: { 200: EarningsSchema },
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
  input: { query: EarningsPeriodQuerySchema },
  output: { 200: CsvSchema },
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

/** Returns entries as a CSV file. */
export const ledgerCsv = (entries: Entry[]): Content => {
  const columns = ['id', 'at', 'kind', 'credits', 'balance', 'ref', 'item'] as const
  return csv('ledger', formatCsv(columns, entries.map(presentEntry)))
}

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
    return ledgerCsv(await listEntries(ctx, agentOwner(caller.agent.id), { limit: csvRowsMax }))
  },
})

/** The ledger of an agent (document 1, section 1, Your things). */
export const ledgerOperations = [getLedger, getLedgerCsv]
