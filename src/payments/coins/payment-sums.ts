import { and, eq } from 'drizzle-orm'

import type { CoinContext } from './coins.ts'
import type { StoredInvoice } from './status.ts'
import { coinPayments } from './tables.ts'

/** Returns the ETH that was credited for the address of an invoice in wei, and its transactions. */
export async function readCreditedEther(
  { db }: CoinContext,
  { network, address }: StoredInvoice,
): Promise<{ sum: bigint; txs: Set<string> }> {
  const rows = await db.read
    .select({ tx: coinPayments.tx, amount: coinPayments.amount })
    .from(coinPayments)
    .where(
      and(
        eq(coinPayments.network, network),
        eq(coinPayments.address, address),
        eq(coinPayments.asset, 'ETH'),
        eq(coinPayments.state, 'credited'),
      ),
    )
  return {
    sum: rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
    txs: new Set(rows.map(({ tx }) => tx)),
  }
}
