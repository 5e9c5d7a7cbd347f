import {
  and,
  asc,
  eq,
  inArray,
  isNotNull,
  isNull,
  lte,
  notInArray,
  or,
  type SQL,
  sql,
} from 'drizzle-orm'

import { dialect } from '../kernel/db/columns.ts'
import type { Db } from '../kernel/db/engine.ts'
import { changedRowCount, prepared } from '../kernel/db/query.ts'
import { hasEnded, thisProcess } from '../kernel/db/replicas/presence.ts'
import { newId } from '../kernel/ids.ts'
import { jobEventsMax, jobLeaseMs } from '../kernel/limits.ts'
import { type NanoUsd, zero } from '../kernel/money.ts'
import type { Clock } from '../kernel/time.ts'
import { type InTransaction, type Job, type JobProgress, LeaseLost } from './handlers.ts'
import { type EndState, events, type Failure, type JobResult, jobs, type Queue } from './tables.ts'

export interface JobContext {
  clock: Clock
  /** Releases the open holds of a job and returns the total charge of all its holds. */
  closeHolds(db: Db, job: string): Promise<NanoUsd>
}

export interface Leased {
  id: string
  lease: string
}

/** Returns a lease. It starts with the id of this process. */
export const newLease = (): string => thisProcess + newId()
const holder = sql<string>`substr(${jobs.lease}, 1, ${sql.raw(String(thisProcess.length))})`

const noLease = { lease: null, leaseUntil: null }
const isWaiting = and(isNull(jobs.ended), isNull(jobs.lease))
const isOurs = ({ id, lease }: Leased) => and(eq(jobs.id, id), eq(jobs.lease, lease))

/** Writes the current state of a job as its newest event. */
export async function recordEvent(db: Db, at: number, job: Job): Promise<void> {
  const { id, events: number, state, step, progress } = job
  await db
    .insert(events)
    .values({ job: id, number, at, state, step, progress })
    .onConflictDoUpdate({ target: [events.job, events.number], set: { at, step, progress } })
}

/** Finds a due job of a queue. Every queue is polled each second, and nearly all have none. */
export const findFirstDue = prepared((db) =>
  db
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        isWaiting,
        eq(jobs.queue, sql.placeholder('queue')),
        lte(jobs.due, sql.placeholder('now')),
      ),
    )
    .limit(1)
    .prepare(),
)

/** Filter of due jobs. `full` lists owners that have reached their limit. */
interface DueFilter {
  queue: Queue
  kinds: string[]
  full: string[]
  limit: number
  now: number
}

export type DueJob = Pick<Job, 'id' | 'state' | 'owner' | 'network'>

/**
 * Returns due jobs: the first of each network, then the second of each, and so on. In a network it
 * begins with the first of each owner.
 */
export const findDue = (
  db: Db,
  { queue, kinds, full, limit, now }: DueFilter,
): Promise<DueJob[]> => {
  const party = sql`coalesce(${jobs.network}, ${jobs.owner})`
  const placeOfOwner = sql<number>`row_number() over (partition by ${party}, ${jobs.owner}
    order by ${jobs.due})`
  const waiting = db
    .select({
      id: jobs.id,
      state: jobs.state,
      owner: jobs.owner,
      network: jobs.network,
      due: jobs.due,
      party: sql<string>`${party}`.as('party'),
      place: placeOfOwner.as('place'),
    })
    .from(jobs)
    .where(
      and(
        isWaiting,
        eq(jobs.queue, queue),
        inArray(jobs.kind, kinds),
        notInArray(jobs.owner, full),
        lte(jobs.due, now),
      ),
    )
    .as('waiting')
  const { id, state, owner, network, due } = waiting
  const place = sql`row_number() over (partition by ${waiting.party}
    order by ${waiting.place}, ${due})`
  return db
    .select({ id, state, owner, network })
    .from(waiting)
    .orderBy(place, asc(due))
    .limit(limit)
}

/** Skips a job that another process claims now, instead of waiting for it. */
const isUnlocked = (id: string): SQL | undefined =>
  dialect === 'sqlite'
    ? undefined
    : sql`${jobs.id} = (select id from ${jobs} where id = ${id} and lease is null
        for update skip locked)`

/** Claims a job. Returns undefined when another process was first. */
export async function claimJob(
  { clock }: JobContext,
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
    .where(and(isWaiting, eq(jobs.id, id), eq(jobs.state, state), isUnlocked(id)))
    .returning()
  if (job && isNew) await recordEvent(db, at, job)
  return job && { ...job, lease }
}

export async function renewLeases(
  { clock }: JobContext,
  db: Db,
  leases: string[],
): Promise<Set<string>> {
  const renewed = await db
    .update(jobs)
    .set({ leaseUntil: clock.now() + jobLeaseMs })
    .where(inArray(jobs.lease, leases))
    .returning({ lease: jobs.lease })
  return new Set(renewed.flatMap(({ lease }) => lease ?? []))
}

/** Stores a progress report and runs `also`. Throws LeaseLost. */
export async function reportProgress(
  { clock }: JobContext,
  db: Db,
  ours: Leased,
  { step, progress, data }: JobProgress,
  also?: InTransaction,
): Promise<void> {
  const isVisible = step !== undefined || progress !== undefined
  const next = sql`case when ${jobs.events} < ${jobEventsMax} then ${jobs.events} + 1
    else ${jobs.events} end`
  const [job] = await db
    .update(jobs)
    .set({
      leaseUntil: clock.now() + jobLeaseMs,
      ...(step !== undefined && { step }),
      ...(progress !== undefined && { progress: Math.round(progress * 100) }),
      ...(data !== undefined && { data }),
      ...(isVisible && { events: next }),
    })
    .where(isOurs(ours))
    .returning()
  if (!job) throw new LeaseLost(ours.id)
  if (isVisible) await recordEvent(db, clock.now(), job)
  await also?.(db, job)
}

export async function reschedule(
  { clock }: JobContext,
  db: Db,
  ours: Leased,
  { afterMs, data }: { afterMs: number; data?: unknown },
): Promise<void> {
  const changed = await db
    .update(jobs)
    .set({
      ...noLease,
      due: clock.now() + afterMs,
      interruptions: 0,
      ...(data !== undefined && { data }),
    })
    .where(isOurs(ours))
  if (changedRowCount(changed) === 0) throw new LeaseLost(ours.id)
}

export async function requeue({ clock }: JobContext, db: Db, leased: Leased): Promise<void> {
  const at = clock.now()
  const [job] = await db
    .update(jobs)
    .set({
      state: 'queued',
      ...noLease,
      due: at,
      interruptions: sql`${jobs.interruptions} + 1`,
      events: sql`${jobs.events} + 1`,
    })
    .where(isOurs(leased))
    .returning()
  if (job) await recordEvent(db, at, job)
}

export interface Ending {
  state: EndState
  error?: Failure
  record?: InTransaction<JobResult | void> | undefined
}

/** Condition of an ending: the lease of the caller, or a job that is waiting or open. */
export type EndCondition = Leased | { id: string; while: 'waiting' | 'open' }

const matches = (from: EndCondition): SQL | undefined =>
  'lease' in from
    ? isOurs(from)
    : and(eq(jobs.id, from.id), from.while === 'waiting' ? isWaiting : isNull(jobs.ended))

/** Ends a job, writes its `record` and closes its holds. Returns undefined if `from` fails. */
export async function endJob(
  { clock, closeHolds: closeBooks }: JobContext,
  db: Db,
  from: EndCondition,
  { state, error, record }: Ending,
): Promise<Job | undefined> {
  const at = clock.now()
  const [job] = await db
    .update(jobs)
    .set({
      state,
      ...noLease,
      ended: at,
      network: null,
      ...(error && { error }),
      ...(state === 'done' && { progress: 100 }),
      events: sql`${jobs.events} + 1`,
    })
    .where(matches(from))
    .returning()
  if (!job) return undefined
  const result = (await record?.(db, job)) ?? null
  const charged = await closeBooks(db, job.id)
  if (result || charged > zero)
    await db.update(jobs).set({ result, charged }).where(eq(jobs.id, job.id))
  await recordEvent(db, at, job)
  return { ...job, result, charged }
}

/** Returns a query of jobs whose leases are abandoned, the first that expired first. */
function abandoned(isAbandoned: SQL | undefined) {
  const find = prepared((db) =>
    db
      .select()
      .from(jobs)
      .where(and(isNotNull(jobs.lease), isAbandoned))
      .orderBy(asc(jobs.leaseUntil))
      .limit(sql.placeholder('limit'))
      .prepare(),
  )
  return async (db: Db, limit: number, now: number): Promise<(Job & Leased)[]> => {
    const found = await find(db).execute({ limit, now })
    return found.flatMap((job) => (job.lease === null ? [] : [{ ...job, lease: job.lease }]))
  }
}

const isExpired = lte(jobs.leaseUntil, sql.placeholder('now'))

/** Finds jobs with leases of ended processes. */
export const findOfEnded = abandoned(hasEnded(holder))

/** Finds jobs with expired leases, and on PostgreSQL also those of ended processes. */
export const findAbandoned = abandoned(
  dialect === 'postgres' ? or(isExpired, hasEnded(holder)) : isExpired,
)

const overdue = prepared((db) =>
  db
    .select()
    .from(jobs)
    .where(and(isWaiting, lte(jobs.deadline, sql.placeholder('now'))))
    .orderBy(asc(jobs.deadline))
    .limit(sql.placeholder('limit'))
    .prepare(),
)

/** Finds waiting jobs past their deadline. */
export const findOverdue = (db: Db, limit: number, now: number): Promise<Job[]> =>
  overdue(db).execute({ limit, now })

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
