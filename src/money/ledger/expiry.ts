import { and, asc, eq, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import { hasEnded, thisProcess } from '../../kernel/db/replicas/presence.ts'
import type { Hold, SettlementRecorder } from './holds.ts'
import { releaseHold, settleHold } from './ledger.ts'
import type { PaymentContext } from './outcomes.ts'
import { holds } from './tables.ts'

const batch = 256

/** Functions of modules that the ledger does not know. */
export interface ExpiryOptions {
  /** Runs in the transaction of each charge. */
  record?: SettlementRecorder
  /** Returns which of these jobs are open. The end of an open job ends its holds. */
  findOpenJobs?(db: Db, jobs: string[]): Promise<Set<string>>
}

/**
 * Ends the holds whose work can no longer end them: those of dead processes, those of this process
 * that its `pendingSettlements` do not own, and late ones of ended jobs. `onExpiry` of the hold
 * decides between a release and a charge of all of it. A hold that cannot be ended is logged and
 * stays for the next run. Returns the counts. Runs at start and as maintenance.
 */
export async function expireOrphans(
  ctx: PaymentContext,
  { record, findOpenJobs }: ExpiryOptions = {},
): Promise<{ released: number; settled: number }> {
  const ended = { released: 0, settled: 0 }
  let last: Hold | undefined
  do {
    const candidates: Hold[] = await findCandidates(ctx, last)
    last = candidates.length === batch ? candidates.at(-1) : undefined
    const jobs = candidates.flatMap(({ job }) => job ?? [])
    const openJobs = jobs.length > 0 ? await findOpenJobs?.(ctx.db.read, jobs) : undefined
    const orphans = candidates.filter(
      (hold) => !ctx.pendingSettlements.owns(ctx, hold) && !openJobs?.has(hold.job ?? ''),
    )
    const ends = await Promise.all(orphans.map((orphan) => endOrphan(ctx, orphan, record)))
    for (const end of ends) if (end) ended[end] += 1
  } while (last)
  return ended
}

/** Holds of other live processes are those processes' business, whatever the clock says. */
function findCandidates({ db, clock }: PaymentContext, after: Hold | undefined): Promise<Hold[]> {
  const isLate = lte(holds.deadline, clock.now())
  const isAbandoned = and(isNull(holds.job), hasEnded(holds.process))
  const isOwn = or(isNotNull(holds.job), eq(holds.process, thisProcess))
  const isNext = after && sql`(${holds.deadline}, ${holds.ref}) > (${after.deadline}, ${after.ref})`
  return db.read
    .select()
    .from(holds)
    .where(
      and(
        // The literal lets both engines use the partial index over open holds.
        sql`${holds.state} = 'held'`,
        or(isAbandoned, and(isLate, isOwn)),
        isNext,
      ),
    )
    .orderBy(asc(holds.deadline), asc(holds.ref))
    .limit(batch)
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
