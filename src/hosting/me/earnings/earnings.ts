import type { AppContext } from '../../../context.ts'
import { type NanoUsd, toCredits } from '../../../core/money.ts'
import { day, utcDay } from '../../../core/time.ts'
import { ApiError } from '../../../errors.ts'
import { agentOwner } from '../../../ledger/accounts.ts'
import { type Earnings, listEarningsByItem, sumEarnings, type SalesFilter } from '../../../ledger/earnings.ts'
import type { Agent } from '../../agents/agents.ts'
import * as apps from '../../apps/apps.ts'
import type { EarningsBody, ItemEarningsBody, EarningsPeriodQuery } from './schemas.ts'

const datePattern = /^\d{4}-\d\d-\d\d$/
const momentPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)$/

/** A moment of the query; a day stands for its beginning. Refuses bad_request. */
function parseMoment(param: 'from' | 'to', text: string): number {
  const at = datePattern.test(text) || momentPattern.test(text) ? Date.parse(text) : Number.NaN
  // A 30th of February would be read as a day in March.
  const date = text.slice(0, 10)
  if (!Number.isNaN(at) && utcDay(Date.parse(date)) === date) return at
  const problem = `"${param}" is a day (2026-11-21) or a moment (2026-11-21T08:00:00Z).`
  throw new ApiError('bad_request', { problem, param })
}

/** The period of a query: a day in `to` is included. Refuses bad_request. */
export function parsePeriod({ from, to, item }: EarningsPeriodQuery): SalesFilter {
  const end = to === undefined ? undefined : parseMoment('to', to)
  return {
    from: from === undefined ? undefined : parseMoment('from', from),
    to: end !== undefined && datePattern.test(to ?? '') ? end + day : end,
    item,
  }
}

/** The house's part is what the maker did not get. */
const present = ({ sales, gross, net }: Earnings): EarningsBody => ({
  sales,
  gross: toCredits(gross),
  fee: toCredits(gross - net),
  net: toCredits(net),
})

/** What an agent earned in a period, in all. */
export const getTotals = async (
  ctx: AppContext,
  agent: Agent,
  period: SalesFilter,
): Promise<EarningsBody> => present(await sumEarnings(ctx, agentOwner(agent.id), period))

/** Where a list goes on: after an item that earned so much. */
export interface After {
  net: bigint
  item: string
}

/** What each item earned in a period, what earned most first. */
export async function listEarningsByItem(
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
