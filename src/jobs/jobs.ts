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
  ne,
} from 'drizzle-orm'

import { currentClient } from '../kernel/client.ts'
import type { PagePosition } from '../kernel/cursor.ts'
import type { Db, Engine } from '../kernel/db/engine.ts'
import {
  changedRowCount,
  countRows,
  forUpdate,
  listNewest,
  listOldest,
  lock,
} from '../kernel/db/query.ts'
import type { Signals } from '../kernel/db/signals.ts'
import { ApiError } from '../kernel/errors.ts'
import { newId } from '../kernel/ids.ts'
import { jobEventsMax, openJobsPerOwnerMax } from '../kernel/limits.ts'
import type { NanoUsd } from '../kernel/money.ts'
import { type Clock, day } from '../kernel/time.ts'
import { type Job, LeaseLost } from './handlers.ts'
import { newLease, recordEvent } from './rows.ts'
import { events, jobs, type Queue } from './tables.ts'

export type JobEvent = typeof events.$inferSelect

export interface NewJob {
  kind: string
  queue: Queue
  owner: string
  item?: string
  /** Unique among open jobs: "build:game:agent:<id>". */
  slot?: string
  /** Matches the handler's schema. */
  input: unknown
  /** Maximum charge. */
  price: NanoUsd
  /** Time limit including waiting, in milliseconds. */
  ms: number
  /** Lease of a caller that does the first part and then calls `handOff`, in milliseconds. */
  reservedMs?: number
}

/** Serializes the jobs of an owner. `enqueue` does this; callers with more locks call it first. */
export const lockOwner = (db: Db, owner: string): Promise<void> => lock(db, `jobs of ${owner}`)

/**
 * Call it before `openHold`, and `ctx.jobs.wake()` after the commit. Throws `busy` when the slot is
 * taken or the owner has too many open jobs.
 */
export async function enqueue({ clock }: { clock: Clock }, db: Db, request: NewJob): Promise<Job> {
  const { ms, reservedMs, ...rest } = request
  await lockOwner(db, request.owner)
  if ((await countOpen(db, request.owner)) >= openJobsPerOwnerMax) {
    throw new ApiError('busy', {
      what: `Your limit of ${openJobsPerOwnerMax} jobs is reached. Each of them`,
    })
  }
  const now = clock.now()
  const [job] = await db
    .insert(jobs)
    .values({
      ...rest,
      id: newId(),
      network: currentClient().prefix || null,
      state: 'queued',
      due: now,
      deadline: now + ms,
      created: now,
      ...(reservedMs !== undefined && { lease: newLease(), leaseUntil: now + reservedMs }),
    })
    .onConflictDoNothing()
    .returning()
  if (!job) throw new ApiError('busy', { what: `Your ${request.kind} job` })
  await recordEvent(db, now, job)
  return job
}

/** Throws `busy` while the job of a slot is open. Waits for a job that is ending. */
export async function checkSlot(db: Db, { kind, slot }: { kind: string; slot: string }) {
  const isOpen = and(eq(jobs.slot, slot), isNull(jobs.ended))
  const query = db.select({ id: jobs.id }).from(jobs).where(isOpen)
  const open = await forUpdate(query.$dynamic(), jobs.id)
  if (open.length > 0) throw new ApiError('busy', { what: `Your ${kind} job` })
}

/** Hands a reserved job to the runner, with data for its first run. Throws LeaseLost. */
export async function handOff(
  { clock }: { clock: Clock },
  db: Db,
  { id, lease }: Job,
  { data, afterMs }: { data: unknown; afterMs: number },
): Promise<void> {
  const changed = await db
    .update(jobs)
    .set({ data, due: clock.now() + afterMs, lease: null, leaseUntil: null })
    .where(and(eq(jobs.id, id), eq(jobs.lease, lease ?? '')))
  if (changedRowCount(changed) === 0) throw new LeaseLost(id)
}

const countOpen = (db: Db, owner: string): Promise<number> =>
  countRows(db, jobs, and(eq(jobs.owner, owner), isNull(jobs.ended)))

/** Returns the open jobs of an owner about apps, or about one app. */
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

/** Returns the number of open jobs by queue and state. */
export const countByQueue = ({ db }: { db: Engine }) =>
  db.read
    .select({ queue: jobs.queue, state: jobs.state, count: count() })
    .from(jobs)
    .where(isNull(jobs.ended))
    .groupBy(jobs.queue, jobs.state)

/** Returns the number of jobs since a time, and the start of the oldest. */
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

export async function findJob({ db }: { db: Engine }, id: string): Promise<Job | undefined> {
  const [job] = await db.read.select().from(jobs).where(eq(jobs.id, id))
  return job
}

/** Returns the ids of those jobs that are open. */
export async function findOpenJobs(db: Db, ids: string[]): Promise<Set<string>> {
  const isOpen = and(inArray(jobs.id, ids), isNull(jobs.ended))
  const open = await db.select({ id: jobs.id }).from(jobs).where(isOpen)
  return new Set(open.map(({ id }) => id))
}

interface JobQuery {
  kinds: string[]
  /** Only jobs about this app. */
  item?: string
  limit: number
  after?: PagePosition | undefined
  /** Default: newest first. */
  isOldestFirst?: boolean
  /** Default: lists canceled jobs too. */
  isCanceledHidden?: boolean
}

/** Returns an owner's jobs of these kinds after a cursor. */
export const listJobs = (
  { db }: { db: Engine },
  owner: string,
  { kinds, item, limit, after, isOldestFirst = false, isCanceledHidden = false }: JobQuery,
): Promise<Job[]> =>
  (isOldestFirst ? listOldest : listNewest)(
    db.read,
    jobs,
    and(
      eq(jobs.owner, owner),
      inArray(jobs.kind, kinds),
      item === undefined ? undefined : eq(jobs.item, item),
      isCanceledHidden ? ne(jobs.state, 'cancelled') : undefined,
    ),
    limit,
    after,
  )

/** The jobs that ended last, among which those of one kind are looked for. */
const endedMax = 500
const chargesMin = 3
const chargesMax = 20

/**
 * Returns the usual charge of a kind of jobs: the median of the last 20 that succeeded. Undefined
 * where there are fewer than three among the jobs that ended last.
 */
export async function findUsualCharge(
  { db }: { db: Engine },
  kind: string,
): Promise<NanoUsd | undefined> {
  const ended = await db.read
    .select({ kind: jobs.kind, state: jobs.state, charged: jobs.charged })
    .from(jobs)
    .where(isNotNull(jobs.ended))
    .orderBy(desc(jobs.ended))
    .limit(endedMax)
  const charges = ended
    .filter((job) => job.kind === kind && job.state === 'done')
    .slice(0, chargesMax)
    .map(({ charged }) => charged)
    .toSorted((a, b) => Number(a - b))
  return charges.length < chargesMin ? undefined : charges[Math.floor(charges.length / 2)]
}

/** Returns all events of a job after a number, oldest first. */
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

const retentionMs = 30 * day
const batch = 200

/** Deletes jobs that ended more than 30 days ago, in batches. */
export async function deleteOldJobs({ db, clock }: { db: Engine; clock: Clock }): Promise<void> {
  for (let deleted = batch; deleted === batch;) {
    const old = await db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(lte(jobs.ended, clock.now() - retentionMs))
      .orderBy(asc(jobs.ended))
      .limit(batch)
    const ids = old.map(({ id }) => id)
    deleted = ids.length
    if (deleted === 0) break
    await db.tx((tx) => deleteJobs(tx, ids))
  }
}

/** Deletes jobs that have ended, with their events. */
export async function deleteJobs(db: Db, ids: string[]): Promise<void> {
  await db.delete(events).where(inArray(events.job, ids))
  await db.delete(jobs).where(inArray(jobs.id, ids))
}

/** Callers in this process that wait for a job to change. */
export class JobWaiters {
  private readonly byJob = new Map<string, Set<() => void>>()

  constructor(private readonly signals?: Pick<Signals, 'on' | 'send'>) {
    signals?.on('job', (job) => {
      for (const id of job === undefined ? this.byJob.keys() : [job]) this.wake(id)
    })
  }

  /** Waits for a change of a job, at most `ms` milliseconds; `stop` ends the wait early. */
  begin(job: string, ms: number, signal?: AbortSignal): { changed: Promise<void>; stop(): void } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiters = this.byJob.get(job) ?? new Set()
    const stop = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', stop)
      waiters.delete(stop)
      if (waiters.size === 0) this.byJob.delete(job)
      resolve()
    }
    const timer = setTimeout(stop, ms)
    signal?.addEventListener('abort', stop)
    this.byJob.set(job, waiters.add(stop))
    return { changed: promise, stop }
  }

  /** Ends all waits for a job, in all processes. */
  notify(job: string): void {
    this.wake(job)
    void this.signals?.send('job', job)
  }

  private wake(job: string): void {
    for (const stop of this.byJob.get(job) ?? []) stop()
  }
}
