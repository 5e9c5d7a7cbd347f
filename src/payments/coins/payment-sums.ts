import { and, eq, ne } from 'drizzle-orm'

import type { CoinContext } from './coins.ts'
import type { ObservedPayment } from './poll.ts'
import type { StoredInvoice } from './status.ts'
import { coinPayments } from './tables.ts'

/** Returns all ETH that is known to have arrived at the address of an invoice, in wei. */
export async function sumOfEther(
  { db }: CoinContext,
  { network, address }: StoredInvoice,
  observed: ObservedPayment[],
): Promise<bigint> {
  const stored = await db.read
    .select({ tx: coinPayments.tx, amount: coinPayments.amount })
    .from(coinPayments)
    .where(
      and(
        eq(coinPayments.network, network),
        eq(coinPayments.address, address),
        eq(coinPayments.asset, 'ETH'),
        ne(coinPayments.state, 'replaced'),
      ),
    )
  const known = new Set(stored.map(({ tx }) => tx))
  const fresh = observed.filter((one) => one.address === address && !known.has(one.tx))
  return [
    ...stored.map(({ amount }) => BigInt(amount)),
    ...fresh.map(({ amount }) => amount),
  ].reduce((sum, amount) => sum + amount, 0n)
}
