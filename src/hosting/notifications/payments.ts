import type { AppContext } from '../../context.ts'
import { formatCredits, toCredits } from '../../core/money.ts'
import type { Db } from '../../db/engine.ts'
import { agentOf } from '../../ledger/accounts.ts'
import type { PaymentRow } from '../../payments/x402/rows.ts'
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
