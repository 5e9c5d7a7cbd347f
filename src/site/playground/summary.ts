import { isTimed } from '../../gateway/models/price.ts'
import { listHistory } from '../../gateway/usage/history.ts'
import type { UsageRow } from '../../gateway/usage/schemas.ts'
import { formatCredits, fromUsd, toCredits, toUsd, zero } from '../../kernel/money.ts'
import { accountOf, type Owner } from '../../money/ledger/accounts.ts'
import * as ledger from '../../money/ledger/ledger.ts'
import type { AppContext } from '../../server/context.ts'
import { formatAmount, formatDuration, formatUsd, shortCredits } from '../format.ts'

/** The number of requests to search for the one that just ended. */
const recentRequestsMax = 100

/** The summary of a request and the balance after it. */
export interface RequestSummary {
  summary: string
  /** The exact cost, for a tooltip. */
  exact: string
  left: string
}

/** Summarizes a request of a wallet once it is settled. */
export async function findRequestSummary(
  ctx: AppContext,
  owner: Owner,
  requestId: string,
): Promise<RequestSummary | undefined> {
  const { data } = await listHistory(ctx, accountOf(owner), { page_count: recentRequestsMax })
  const use = data.find(({ request_id }) => request_id === requestId)
  if (!use) return undefined
  const amount = fromUsd(use.price_in_usd.toFixed(9)) ?? zero
  const words = [
    `${countedUnits(ctx, use)}${use.estimated ? ' (estimated)' : ''}`,
    formatAmount(toCredits(amount), 'credit'),
    formatDuration(use.ms),
    ...(use.status === 'interrupted' ? ['stopped'] : []),
    ...(use.status === 'failed' ? ['failed'] : []),
  ]
  return {
    summary: words.join(' · '),
    exact: `${formatCredits(amount)} credits, ${formatUsd(toUsd(amount))}`,
    left: formatBalance(await ledger.balanceOf(ctx, owner)),
  }
}

const count = (value: number, noun: string): string =>
  `${value.toLocaleString('en')} ${noun}${value === 1 ? '' : 's'}`

/** Names the counts of a request by the units that its model charges. */
function countedUnits({ catalog }: AppContext, { model, input_count, output_count }: UsageRow) {
  const { price, type } = catalog.find(model)?.model ?? {}
  if (type === 'image' && price?.perImage !== undefined) return count(output_count, 'image')
  if (type === 'audio' && price?.perCharacter !== undefined) return count(input_count, 'character')
  if (price && isTimed(price)) return count(input_count, 'second')
  if (type === 'embedding') return count(input_count, 'token')
  return `${input_count.toLocaleString('en')} tokens in, ${output_count.toLocaleString('en')} out`
}

export const formatBalance = ({ available }: { available: bigint }): string =>
  `${shortCredits(toCredits(available))} credits`
