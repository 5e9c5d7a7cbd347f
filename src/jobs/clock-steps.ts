import { and, eq, isNotNull, isNull, sql } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { thisProcess } from '../kernel/db/replicas/process.ts'
import { holder, isWaiting } from './rows.ts'
import { jobs } from './tables.ts'

/** Moves the due times of waiting jobs after the clock was set back. `ms` is negative. */
export async function shiftDue(db: Db, ms: number): Promise<void> {
  await db
    .update(jobs)
    .set({ due: sql`${jobs.due} + ${ms}` })
    .where(isWaiting)
}

/** Moves the deadlines of open jobs, and the leases of this process, after a step forward. */
export async function shiftDeadlines(db: Db, ms: number): Promise<void> {
  await db
    .update(jobs)
    .set({ deadline: sql`${jobs.deadline} + ${ms}` })
    .where(isNull(jobs.ended))
  await db
    .update(jobs)
    .set({ leaseUntil: sql`${jobs.leaseUntil} + ${ms}` })
    .where(and(isNotNull(jobs.lease), eq(holder, thisProcess)))
}
