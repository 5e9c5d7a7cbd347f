import { and, asc, eq } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { nano, type NanoUsd } from '../../kernel/money.ts'
import type { Hold } from './holds.ts'
import { releaseHold } from './ledger.ts'
import { holds } from './tables.ts'

export const listOpenHolds = (db: Db, job: string): Promise<Hold[]> =>
  db
    .select()
    .from(holds)
    .where(and(eq(holds.job, job), eq(holds.state, 'held')))
    .orderBy(asc(holds.ref))

/** Releases the open holds of a job in the transaction that ends it. Returns its total charge. */
export async function closeJobHolds(db: Db, job: string): Promise<NanoUsd> {
  for (const hold of await listOpenHolds(db, job)) await releaseHold(db, hold)
  const ended = await db.select({ charged: holds.charged }).from(holds).where(eq(holds.job, job))
  return nano(ended.reduce((sum, { charged }) => sum + charged, 0n))
}
