import { and, asc, isNull, lte, or, sql } from 'drizzle-orm'

import { hasEnded } from '../db/process.ts'
import type { Hold, SettlementRecorder } from './holds.ts'
import { releaseHold, settleHold } from './ledger.ts'
import type { PaymentContext } from './paid-work.ts'
import { holds } from './tables.ts'

const batch = 256
const batchesMax = 10_000

/**
 * Ends every hold past its deadline, and every hold of a dead process that no job owns. `onExpiry`
 * of the hold decides between a release and a charge of all of it. A hold that cannot be ended is
 * logged and stays for the next run. `record` runs in the transaction of each charge. Returns the
 * counts. Runs at start and as maintenance.
 */
export async function expireOrphans(
  ctx: PaymentContext,
  record?: SettlementRecorder,
): Promise<{ released: number; settled: number }> {
  const ended = { released: 0, settled: 0 }
  for (let round = 0; round < batchesMax; round++) {
    const orphans = await findOrphans(ctx)
    const ends = await Promise.all(orphans.map((orphan) => endOrphan(ctx, orphan, record)))
    for (const end of ends) if (end) ended[end] += 1
    if (orphans.length < batch || !ends.some((end) => end)) break
  }
  return ended
}

function findOrphans(ctx: PaymentContext): Promise<Hold[]> {
  const isLate = lte(holds.deadline, ctx.clock.now())
  const isAbandoned = and(isNull(holds.job), hasEnded(holds.process))
  // The literal lets both engines use the partial index over open holds.
  const isOrphan = and(sql`${holds.state} = 'held'`, or(isLate, isAbandoned))
  return ctx.db.read.select().from(holds).where(isOrphan).orderBy(asc(holds.deadline)).limit(batch)
}

async function endOrphan(
  ctx: PaymentContext,
  orphan: Hold,
  record: SettlementRecorder | undefined,
): Promise<'released' | 'settled' | undefined> {
  const { ref, amount, onExpiry } = orphan
  try {
    const ended = await ctx.db.tx((db) =>
      onExpiry === 'settle' ? settleHold(ctx, db, orphan, amount, record) : releaseHold(db, orphan),
    )
    ctx.log.warn('ledger.hold_expired', { ref, state: ended.state })
    return ended.state === 'held' ? undefined : ended.state
  } catch (error) {
    ctx.log.error('ledger.hold_not_expired', error, { ref })
    return undefined
  }
}
