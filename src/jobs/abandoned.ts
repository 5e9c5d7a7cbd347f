import { and, asc, isNotNull, lte, or } from 'drizzle-orm'

import type { Db } from '../kernel/db/engine.ts'
import { hasEnded } from '../kernel/db/replicas/process.ts'
import type { Job } from './handler.ts'
import { holder, isWaiting, type Leased } from './rows.ts'
import { jobs } from './tables.ts'

/** Filter of abandoned leases: those that expired, those of ended processes, or both. */
export interface AbandonedFilter {
  leaseUntil?: number
  hasEnded: boolean
}

/** Returns jobs with abandoned leases. */
export async function findAbandoned(
  db: Db,
  limit: number,
  filter: AbandonedFilter,
): Promise<(Job & Leased)[]> {
  const isExpired =
    filter.leaseUntil === undefined ? undefined : lte(jobs.leaseUntil, filter.leaseUntil)
  const isAbandoned = or(isExpired, filter.hasEnded ? hasEnded(holder) : undefined)
  const found = await db
    .select()
    .from(jobs)
    .where(and(isNotNull(jobs.lease), isAbandoned))
    .orderBy(asc(jobs.leaseUntil))
    .limit(limit)
  return found.flatMap((job) => (job.lease === null ? [] : [{ ...job, lease: job.lease }]))
}

export const findOverdue = (db: Db, limit: number, now: number): Promise<Job[]> =>
  db
    .select()
    .from(jobs)
    .where(and(isWaiting, lte(jobs.deadline, now)))
    .orderBy(asc(jobs.deadline))
    .limit(limit)
