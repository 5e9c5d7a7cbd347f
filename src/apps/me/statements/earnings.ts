import { type Static, Type } from '@sinclair/typebox'

import type { AppContext } from '../../../kernel/context.ts'
import { rejectRequest } from '../../../kernel/errors.ts'
import { ListQuery, NextSchema } from '../../../kernel/http/list-query.ts'
import { type NanoUsd, toCredits } from '../../../kernel/money.ts'
import {
  IdSchema,
  mediaSchema,
  momentSchema,
  nullable,
  TimeSchema,
} from '../../../kernel/schema.ts'
import { day, utcDay } from '../../../kernel/time.ts'
import { agentOwner } from '../../../money/ledger/accounts.ts'
import {
  type Earnings,
  listEarningsByItem,
  type SalesFilter,
  sumEarnings,
} from '../../../money/ledger/reports.ts'
import type { Agent } from '../../../people/agents/agents.ts'
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
export type LedgerEntryBody = Static<typeof LedgerEntrySchema>

export const LedgerListSchema = Type.Object({
  entries: Type.Array(LedgerEntrySchema),
  next: NextSchema,
})

export const CsvSchema = mediaSchema('text/csv', { description: 'RFC 4180, with a header row.' })

const period = {
  from: Type.Optional(momentSchema('ISO 8601: a day (UTC) or a moment.')),
  to: Type.Optional(momentSchema('A day (inclusive) or a moment (exclusive).')),
  item: Type.Optional(IdSchema),
}

export const EarningsPeriodQuerySchema = Type.Object(period)
export const EarningsQuerySchema = Type.Object({ ...period, ...ListQuery.properties })
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
export const EarningsSchema = Type.Object({
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
export function parsePeriod({ from, to, item }: EarningsPeriodQuery): SalesFilter {
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
export interface After {
  net: bigint
  item: string
}

/** Lists the earnings of an agent by item in a period, highest net first. */
export async function listItemEarnings(
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
