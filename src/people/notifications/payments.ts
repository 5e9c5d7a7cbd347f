import type { Db } from '../../kernel/db/engine.ts'
import { formatCredits, toCredits } from '../../kernel/money.ts'
import { agentOf } from '../../money/ledger/accounts.ts'
import type { PaymentRow } from '../../money/payments/x402/rows.ts'
import type { AppContext } from '../../server/context.ts'
import { notify } from './notifications.ts'

/** Notifies an agent in the transaction that credits its payment. */
export async function notifyOfPayment(
  ctx: Pick<AppContext, 'clock' | 'state'>,
  db: Db,
  { account, amount, hash, network, payer }: PaymentRow,
): Promise<void> {
  const to = agentOf(account)
  if (to === undefined) return
  const text = `Your payment of ${formatCredits(amount)} credits was confirmed and added.`
  const data = { credits: toCredits(amount), tx: hash, network, payer }
  await notify(ctx, db, { to, kind: 'topup.settled', text, data })
}
