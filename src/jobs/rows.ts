import {
  and,
  asc,
  eq,
  inArray,
  isNotNull,
  isNull,
  lte,
  notInArray,
  type SQL,
  sql,
} from 'drizzle-orm'

import { newId } from '../core/ids.ts'
import { type NanoUsd, zero } from '../core/money.ts'
import type { Clock } from '../core/time.ts'
import type { Db } from '../db/engine.ts'
import { hasEnded, thisProcess } from '../db/process.ts'
import { changedRowCount } from '../db/query.ts'
import { jobEventsMax, jobLeaseMs } from '../limits.ts'
import { type InTransaction, type JobProgress, type Job, LeaseLost } from './handler.ts'
import { type EndState, events, type Failure, type JobResult, jobs, type Queue } from './tables.ts'

/** What every write needs beside its transaction. */
export interface Rows {
  clock: Clock
  /** Releases what a job's holds still keep back; answers what all of them were charged. */
  closeHolds(db: Db, job: string): Promise<NanoUsd>
}

/** A job that this process works on. */
export interface Leased {
  id: string
  lease: string
}

/** A lease of this process: its name begins with that of who holds it. */
export const newLease = (): string => thisProcess + newId()
const holder = sql<string>`substr(${jobs.lease}, 1, ${sql.raw(String(thisProcess.length))})`

const isWaiting = and(isNull(jobs.ended), isNull(jobs.lease))
const isOurs = ({ id, lease }: Leased) => and(eq(jobs.id, id), eq(jobs.lease, lease))

/** Writes how a job stands as its newest event. */
export async function tell(db: Db, at: number, job: Job): Promise<void> {
  const { id, events: number, state, step, progress } = job
  await db
    .insert(events)
    .values({ job: id, number, at, state, step, progress })
    .onConflictDoUpdate({ target: [events.job, events.number], set: { at, step, progress } })
}

/** Which jobs may be worked on now: none of the owners of `full`. */
interface Due {
  queue: Queue
  kinds: string[]
  full: string[]
  limit: number
  now: number
}

/** Jobs that may be worked on now, at most `limit`, those that wait longest first. */
export const findDue = (
  db: Db,
  { queue: lane, kinds, full, limit, now }: Due,
): Promise<Pick<Job, 'id' | 'state' | 'owner'>[]> =>
  db
    .select({ id: jobs.id, state: jobs.state, owner: jobs.owner })
    .from(jobs)
    .where(
      and(
        isWaiting,
        eq(jobs.queue, lane),
        inArray(jobs.kind, kinds),
        notInArray(jobs.owner, full),
        lte(jobs.due, now),
      ),
    )
    .orderBy(asc(jobs.due))
    .limit(limit)

/** Takes a job, unless another took it first. */
export async function claim(
  { clock }: Rows,
  db: Db,
  { id, state }: Pick<Job, 'id' | 'state'>,
): Promise<(Job & Leased) | undefined> {
  const at = clock.now()
  const lease = newLease()
  const isNew = state === 'queued'
  const [job] = await db
    .update(jobs)
    .set({
      state: 'running',
      lease,
      leaseUntil: at + jobLeaseMs,
      started: sql`coalesce(${jobs.started}, ${at})`,
      ...(isNew && { events: sql`${jobs.events} + 1` }),
    })
    .where(and(isWaiting, eq(jobs.id, id), eq(jobs.state, state)))
    .returning()
  if (job && isNew) await tell(db, at, job)
  return job && { ...job, lease }
}

/** Keeps the leases of what is worked on; answers those that still are ours. */
export async function renew({ clock }: Rows, db: Db, leases: string[]): Promise<Set<string>> {
  const kept = await db
    .update(jobs)
    .set({ leaseUntil: clock.now() + jobLeaseMs })
    .where(inArray(jobs.lease, leases))
    .returning({ lease: jobs.lease })
  return new Set(kept.flatMap(({ lease }) => lease ?? []))
}

/** A report, and what else is done with it. Throws LeaseLost. */
export async function note(
  { clock }: Rows,
  db: Db,
  ours: Leased,
  { step, progress, data }: JobProgress,
  also?: InTransaction,
): Promise<void> {
  const isSeen = step !== undefined || progress !== undefined
  const next = sql`case when ${jobs.events} < ${jobEventsMax} then ${jobs.events} + 1
    else ${jobs.events} end`
  const [job] = await db
    .update(jobs)
    .set({
      leaseUntil: clock.now() + jobLeaseMs,
      ...(step !== undefined && { step }),
      ...(progress !== undefined && { progress: Math.round(progress * 100) }),
      ...(data !== undefined && { data }),
      ...(isSeen && { events: next }),
    })
    .where(isOurs(ours))
    .returning()
  if (!job) throw new LeaseLost(ours.id)
  if (isSeen) await tell(db, clock.now(), job)
  await also?.(db, job)
}

/** Lets a job go until later. Throws LeaseLost. */
export async function wait({ clock }: Rows, db: Db, ours: Leased, afterMs: number): Promise<void> {
  const due = clock.now() + afterMs
  const left = await db
    .update(jobs)
    .set({ lease: null, leaseUntil: null, due, interruptions: 0 })
    .where(isOurs(ours))
  if (changedRowCount(left) === 0) throw new LeaseLost(ours.id)
}

/** Puts a job back that its process left; another may begin it again at once. */
export async function putBack({ clock }: Rows, db: Db, left: Leased): Promise<void> {
  const at = clock.now()
  const [job] = await db
    .update(jobs)
    .set({
      state: 'queued',
      lease: null,
      leaseUntil: null,
      due: at,
      interruptions: sql`${jobs.interruptions} + 1`,
      events: sql`${jobs.events} + 1`,
    })
    .where(isOurs(left))
    .returning()
  if (job) await tell(db, at, job)
}

/** Moves what waits by `ms`, as the clock was set. */
export async function move(db: Db, ms: number): Promise<void> {
  await db
    .update(jobs)
    .set({ due: sql`${jobs.due} + ${ms}` })
    .where(isWaiting)
}

/** How a job ends. */
export interface Ending {
  state: EndState
  error?: Failure
  record?: InTransaction<JobResult | void> | undefined
}

/** Whose ending it is: the one who works on it, or anyone while nobody does or it is not ended. */
export type From = Leased | { id: string; while: 'waiting' | 'open' }

const isFrom = (from: From): SQL | undefined => {
  if ('lease' in from) return isOurs(from)
  return and(eq(jobs.id, from.id), from.while === 'waiting' ? isWaiting : isNull(jobs.ended))
}

/**
 * Ends a job, once: its state, what `record` writes, and its holds, in one transaction. Undefined
 * when it is not to be ended from there any more; then nothing is written.
 */
export async function end(
  { clock, closeHolds: closeBooks }: Rows,
  db: Db,
  from: From,
  { state, error, record }: Ending,
): Promise<Job | undefined> {
  const at = clock.now()
  const [job] = await db
    .update(jobs)
    .set({
      state,
      lease: null,
      leaseUntil: null,
      ended: at,
      ...(error && { error }),
      ...(state === 'done' && { progress: 100 }),
      events: sql`${jobs.events} + 1`,
    })
    .where(isFrom(from))
    .returning()
  if (!job) return undefined
  const result = (await record?.(db, job)) ?? null
  const charged = await closeBooks(db, job.id)
  const landed = { result, charged }
  if (result || charged > zero) await db.update(jobs).set(landed).where(eq(jobs.id, job.id))
  await tell(db, at, job)
  return { ...job, ...landed }
}

/** Which leases nobody keeps: those that have run out, or those of processes that have ended. */
export type Left = { leaseUntil: number } | 'ended'

/** Jobs whose leases nobody keeps any more, at most `limit`. */
export async function findLeft(db: Db, limit: number, left: Left): Promise<(Job & Leased)[]> {
  const isLeft = left === 'ended' ? hasEnded(holder) : lte(jobs.leaseUntil, left.leaseUntil)
  const found = await db
    .select()
    .from(jobs)
    .where(and(isNotNull(jobs.lease), isLeft))
    .orderBy(asc(jobs.leaseUntil))
    .limit(limit)
  return found.flatMap((job) => (job.lease === null ? [] : [{ ...job, lease: job.lease }]))
}

/** Jobs that wait and are past their deadline, at most `limit`. */
export const findOverdue = (db: Db, limit: number, now: number): Promise<Job[]> =>
  db
    .select()
    .from(jobs)
    .where(and(isWaiting, lte(jobs.deadline, now)))
    .orderBy(asc(jobs.deadline))
    .limit(limit)
