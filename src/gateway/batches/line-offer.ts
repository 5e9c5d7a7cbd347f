import { checkDailyCap } from '../../money/ledger/caps.ts'
import { shortfallOf } from '../../money/payment.ts'
import { createOffer } from '../../money/payments/x402/offer.ts'
import type { AppContext } from '../../server/context.ts'
import type { KeySpender } from '../authentication.ts'
import { errorEnvelope, isGatewayError } from '../error-response.ts'

/**
 * Returns the 402 of an agent's line with an offer, or throws its error. A line carries no payment,
 * so the offer is one of POST /topup, which pays for the line in another batch. Throws `daily_cap`
 * where paying would not help.
 */
export async function offerTopUp(
  { clock, db, urls, x402 }: AppContext,
  { owner, cap }: KeySpender,
  error: unknown,
): Promise<Response> {
  const shortfall = shortfallOf(error)
  if (!x402 || !shortfall || !isGatewayError(error) || owner.kind !== 'agent') throw error
  await checkDailyCap(db.read, cap, shortfall.spends, clock.now())
  const terms = await x402.termsFor(shortfall.amount, `${urls.base}/topup`)
  if (!terms) throw error
  const { status, body } = errorEnvelope(error)
  return Response.json({ ...body, ...createOffer(terms).fields }, { status })
}
