import { and, asc, eq, lt } from 'drizzle-orm'

import type { Db } from '../../kernel/db/engine.ts'
import type { AppContext } from '../../server/context.ts'
import { openMs } from './limits.ts'
import { addEndedRun, addOverdueShare, deleteRecords } from './record.ts'
import { lockPack, type Run } from './runs.ts'
import { runs } from './tables.ts'

const batch = 100

/** Expires runs that were not reported within seven days. They stay in the denominator. */
export async function expireRuns(ctx: AppContext): Promise<void> {
  for (let found = batch; found === batch;) {
    const due = await ctx.db.read
      .select()
      .from(runs)
      .where(and(eq(runs.state, 'open'), lt(runs.created, ctx.clock.now() - openMs)))
      .orderBy(asc(runs.created))
      .limit(batch)
    found = due.length
    for (const run of due) await ctx.db.tx((db) => expireRun(ctx, db, run))
  }
}

async function expireRun({ clock }: AppContext, db: Db, { id, pack }: Run): Promise<void> {
  await lockPack(db, pack)
  const closed = clock.now()
  const [run] = await db
    .update(runs)
    .set({ state: 'expired', closed })
    .where(and(eq(runs.id, id), eq(runs.state, 'open')))
    .returning()
  if (run) await addEndedRun(db, run, { outcome: 'expired', at: closed })
}

/** Marks shares that were not paid within 30 days. They can still be paid. */
export async function expireShares(ctx: AppContext): Promise<void> {
  for (let found = batch; found === batch;) {
    const due = await ctx.db.read
      .select()
      .from(runs)
      .where(and(eq(runs.state, 'share_due'), lt(runs.dueBy, ctx.clock.now())))
      .orderBy(asc(runs.dueBy))
      .limit(batch)
    found = due.length
    for (const run of due) await ctx.db.tx((db) => expireShare(db, run))
  }
}

async function expireShare(db: Db, { id, pack }: Run): Promise<void> {
  await lockPack(db, pack)
  const isDue = and(eq(runs.id, id), eq(runs.state, 'share_due'))
  const [run] = await db.update(runs).set({ state: 'overdue' }).where(isDue).returning()
  if (run) await addOverdueShare(db, run)
}

/** Deletes the runs and records of a purged pack. */
export async function removeRuns(db: Db, pack: string): Promise<void> {
  await db.delete(runs).where(eq(runs.pack, pack))
  await deleteRecords(db, pack)
}
