import { and, asc, eq, lt } from 'drizzle-orm'

import type { AppContext } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/engine.ts'
import { openMs } from './limits.ts'
import { addEndedRun, addOverdueShare, deleteRecords } from './record.ts'
import { lockPack, type Run } from './runs.ts'
import { runs } from './tables.ts'

const batch = 100

/** Ends the runs in a state whose time is over, the longest waiting first, each by itself. */
async function expire(
  { db: engine }: AppContext,
  state: Run['state'],
  time: typeof runs.created | typeof runs.dueBy,
  before: number,
  end: (db: Db, run: Run) => Promise<void>,
): Promise<void> {
  for (let found = batch; found === batch;) {
    const isDue = and(eq(runs.state, state), lt(time, before))
    const due = await engine.read.select().from(runs).where(isDue).orderBy(asc(time)).limit(batch)
    found = due.length
    for (const run of due) await engine.tx((db) => end(db, run))
  }
}

/** Expires runs that were not reported within seven days. They stay in the denominator. */
export const expireRuns = (ctx: AppContext): Promise<void> =>
  expire(ctx, 'open', runs.created, ctx.clock.now() - openMs, (db, run) => expireRun(ctx, db, run))

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
export const expireShares = (ctx: AppContext): Promise<void> =>
  expire(ctx, 'share_due', runs.dueBy, ctx.clock.now(), expireShare)

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
