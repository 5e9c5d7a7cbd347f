import {
  and,
  asc,
  count,
  desc,
  eq,
  gt,
  gte,
  inArray,
  isNotNull,
  isNull,
  lte,
  min,
} from 'drizzle-orm'

import type { After } from '../core/cursor.ts'
import { newId } from '../core/ids.ts'
import type { NanoUsd } from '../core/money.ts'
import { type Clock, day } from '../core/time.ts'
import type { Db, Engine } from '../db/engine.ts'
import { lock } from '../db/lock.ts'
import { changedRowCount, countRows, forUpdate, isAfterCursor } from '../db/query.ts'
import { ApiError } from '../errors.ts'
import { jobEventsMax, openJobsPerOwnerMax } from '../limits.ts'
import { type Job, LeaseLost } from './handler.ts'
import { newLease, tell } from './rows.ts'
import { events, jobs, type Queue } from './tables.ts'

export type JobEvent = typeof events.$inferSelect

/** A job to be done. */
export interface NewJob {
  kind: string
  queue: Queue
  /** Whose it is: an account's id. */
  owner: string
  /** What it is about. */
  item?: string
  /** A name that only one open job may have: "build:game:agent:<id>". */
  slot?: string
  /** As the handler's shape says. */
  input: unknown
  /** The most it can cost. */
  price: NanoUsd
  /** How long it may take in all, with its waiting. */
  ms: number
  /** So long it is the caller's own, who does its first part and hands it over. */
  reservedMs?: number
}

/**
 * Lets one job at a time be added to an owner's, until the transaction ends. `enqueue` does so; who
 * locks more before that does it first.
 */
export const lockOwner = (db: Db, owner: string): Promise<void> => lock(db, `jobs of ${owner}`)

/**
 * Writes a job inside the caller's transaction, before the holds that are made with its id. Tell
 * the runner once that is committed: `house.jobs.wake()`. Refuses busy when its slot is taken or
 * its owner has too many open jobs.
 */
export async function enqueue({ clock }: { clock: Clock }, db: Db, wanted: NewJob): Promise<Job> {
  const { ms, reservedMs: ownMs, ...rest } = wanted
  await lockOwner(db, wanted.owner)
  if ((await countOpen(db, wanted.owner)) >= openJobsPerOwnerMax) {
    throw new ApiError('busy', { what: `Each of your ${openJobsPerOwnerMax} jobs` })
  }
  const now = clock.now()
  const [job] = await db
    .insert(jobs)
    .values({
      ...rest,
      id: newId(),
      state: 'queued',
      due: now,
      deadline: now + ms,
      created: now,
      ...(ownMs !== undefined && { lease: newLease(), leaseUntil: now + ownMs }),
    })
    .onConflictDoNothing()
    .returning()
  if (!job) throw new ApiError('busy', { what: `A ${wanted.kind} of yours` })
  await tell(db, now, job)
  return job
}

/**
 * Refuses busy while a slot's job is open, and waits for one that is ending, before more is locked
 * than that ending may want.
 */
export async function checkSlot(db: Db, { kind, slot }: { kind: string; slot: string }) {
  const its = and(eq(jobs.slot, slot), isNull(jobs.ended))
  const open = await forUpdate(db.select({ id: jobs.id }).from(jobs).where(its).$dynamic(), jobs.id)
  if (open.length > 0) throw new ApiError('busy', { what: `A ${kind} of yours` })
}

/**
 * Hands a job over that was the caller's own (`ownMs`), with what its first run begins with and
 * when that may be. Throws LeaseLost.
 */
export async function handOff(
  { clock }: { clock: Clock },
  db: Db,
  { id, lease }: Job,
  { data, afterMs }: { data: unknown; afterMs: number },
): Promise<void> {
  const handed = await db
    .update(jobs)
    .set({ data, due: clock.now() + afterMs, lease: null, leaseUntil: null })
    .where(and(eq(jobs.id, id), eq(jobs.lease, lease ?? '')))
  if (changedRowCount(handed) === 0) throw new LeaseLost(id)
}

/** How many jobs of an owner have not ended. */
const countOpen = (db: Db, owner: string): Promise<number> =>
  countRows(db, jobs, and(eq(jobs.owner, owner), isNull(jobs.ended)))

/** The open jobs of an owner that are about an item, or about this one. */
export const listOpen = ({ db }: { db: Engine }, owner: string, item?: string) =>
  db.read
    .select({ id: jobs.id, progress: jobs.progress })
    .from(jobs)
    .where(
      and(
        eq(jobs.owner, owner),
        isNull(jobs.ended),
        item === undefined ? isNotNull(jobs.item) : eq(jobs.item, item),
      ),
    )

/** How many jobs wait and run, by lane. */
export const countByQueue = ({ db }: { db: Engine }) =>
  db.read
    .select({ lane: jobs.queue, state: jobs.state, count: count() })
    .from(jobs)
    .where(isNull(jobs.ended))
    .groupBy(jobs.queue, jobs.state)

/** How many jobs of a kind an owner began since a moment, and when the oldest of them. */
export async function countSince(
  db: Db,
  owner: string,
  kind: string,
  since: number,
): Promise<{ count: number; oldest: number | undefined }> {
  const [row] = await db
    .select({ count: count(), oldest: min(jobs.created).mapWith(Number) })
    .from(jobs)
    .where(and(eq(jobs.owner, owner), eq(jobs.kind, kind), gte(jobs.created, since)))
  return { count: row?.count ?? 0, oldest: row?.oldest ?? undefined }
}

/** A job by its id. */
export async function findJob({ db }: { db: Engine }, id: string): Promise<Job | undefined> {
  const [job] = await db.read.select().from(jobs).where(eq(jobs.id, id))
  return job
}

/** An owner's jobs of these kinds, newest first, going on after `after`. */
export const listJobs = (
  { db }: { db: Engine },
  owner: string,
  { kinds, limit, after }: { kinds: string[]; limit: number; after?: After | undefined },
): Promise<Job[]> =>
  db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.owner, owner), inArray(jobs.kind, kinds), isAfterCursor(jobs, after)))
    .orderBy(desc(jobs.created), desc(jobs.id))
    .limit(limit)

/** What a job's watcher is told after the event `after`, oldest first: all of it. */
export const listEventsAfter = (
  { db }: { db: Engine },
  job: string,
  after: number,
): Promise<JobEvent[]> =>
  db.read
    .select()
    .from(events)
    .where(and(eq(events.job, job), gt(events.number, after)))
    .orderBy(asc(events.number))
    .limit(jobEventsMax + 1)

const keptMs = 30 * day
const sweptAtOnce = 200

/** Forgets jobs that ended more than 30 days ago, some at a time. */
export async function deleteOldJobs({ db, clock }: { db: Engine; clock: Clock }): Promise<void> {
  for (let gone = sweptAtOnce; gone === sweptAtOnce;) {
    const old = await db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(lte(jobs.ended, clock.now() - keptMs))
      .orderBy(asc(jobs.ended))
      .limit(sweptAtOnce)
    const ids = old.map(({ id }) => id)
    gone = ids.length
    if (gone === 0) break
    await db.tx(async (tx) => {
      await tx.delete(events).where(inArray(events.job, ids))
      await tx.delete(jobs).where(inArray(jobs.id, ids))
    })
  }
}
