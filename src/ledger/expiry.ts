import { and, asc, isNull, lte, or, sql } from 'drizzle-orm'

import { hasEnded } from '../db/process.ts'
import type { Hold } from './holds.ts'
import { type Note, release, settle } from './ledger.ts'
import type { Books } from './paid-work.ts'
import { holds } from './tables.ts'

const batch = 256
const batchesMax = 10_000

/**
 * Ends every hold past its deadline, and at once those that dead processes left and no job has:
 * given back, or charged whole where the hold says so. One that cannot be ended is logged and left
 * for the next time. Answers how many ended which way. Run it at start and by a job. `note` is told
 * of each that is charged, in its transaction.
 */
export async function expireOrphans(
  ctx: Books,
  note?: Note,
): Promise<{ released: number; settled: number }> {
  const ended = { released: 0, settled: 0 }
  for (let round = 0; round < batchesMax; round++) {
    const orphans = await findOrphans(ctx)
    const ends = await Promise.all(orphans.map((orphan) => endOne(ctx, orphan, note)))
    for (const end of ends) if (end) ended[end] += 1
    if (orphans.length < batch || !ends.some((end) => end)) break
  }
  return ended
}

function findOrphans(ctx: Books): Promise<Hold[]> {
  const late = lte(holds.deadline, ctx.clock.now())
  const isLeft = and(isNull(holds.job), hasEnded(holds.process))
  // The literal lets both engines use the index over open holds alone.
  const orphan = and(sql`${holds.state} = 'held'`, or(late, isLeft))
  return ctx.db.read.select().from(holds).where(orphan).orderBy(asc(holds.deadline)).limit(batch)
}

async function endOne(
  ctx: Books,
  orphan: Hold,
  note: Note | undefined,
): Promise<'released' | 'settled' | undefined> {
  const { ref, amount, onExpiry } = orphan
  try {
    const ended = await ctx.db.tx((db) =>
      onExpiry === 'settle' ? settle(ctx, db, orphan, amount, note) : release(db, orphan),
    )
    ctx.log.warn('ledger.hold_expired', { ref, state: ended.state })
    return ended.state === 'held' ? undefined : ended.state
  } catch (error) {
    ctx.log.fault('ledger.hold_not_expired', error, { ref })
    return undefined
  }
}
