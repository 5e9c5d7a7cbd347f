import { and, asc, eq } from 'drizzle-orm'

import { nano, type NanoUsd } from '../core/money.ts'
import type { Db } from '../db/engine.ts'
import type { Hold } from './holds.ts'
import { release } from './ledger.ts'
import { holds } from './tables.ts'

/** The open holds of a job, those with the first refs first: what its landing settles. */
export const openHoldsOf = (db: Db, job: string): Promise<Hold[]> =>
  db
    .select()
    .from(holds)
    .where(and(eq(holds.job, job), eq(holds.state, 'held')))
    .orderBy(asc(holds.ref))

/**
 * Closes the books of a job, inside the transaction that ends it: what its holds still keep back
 * is released. Answers what all of them were charged.
 */
export async function closeJob(db: Db, job: string): Promise<NanoUsd> {
  for (const hold of await openHoldsOf(db, job)) await release(db, hold)
  const ended = await db.select({ charged: holds.charged }).from(holds).where(eq(holds.job, job))
  return nano(ended.reduce((sum, { charged }) => sum + charged, 0n))
}
