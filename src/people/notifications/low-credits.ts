import type { Db } from '../../kernel/db/engine.ts'
import { lowCredits } from '../../kernel/limits.ts'
import { fromCredits, type NanoUsd, toCredits } from '../../kernel/money.ts'
import { agentOf } from '../../money/ledger/accounts.ts'
import type { Hold } from '../../money/ledger/holds.ts'
import type { AppContext } from '../../server/context.ts'
import { notify } from './notifications.ts'

const low = fromCredits(lowCredits)

/** Notifies an agent in the transaction of a charge that takes its credits below 50. */
export async function notifyIfLow(
  ctx: Pick<AppContext, 'clock' | 'state'>,
  db: Db,
  { account, charged }: Hold,
  left: NanoUsd,
): Promise<void> {
  const to = agentOf(account)
  if (to === undefined || left >= low || left + charged < low) return
  const credits = toCredits(left)
  const text = `You have ${credits} credits left. A person who claims you (POST /me/claim) can send you credits. Publishing html is always free.`
  await notify(ctx, db, { to, kind: 'credits.low', text, data: { credits } })
}
