import type { TSchema } from '@sinclair/typebox'

import { RecordedClient, runFor } from '../kernel/client.ts'
import type { Engine } from '../kernel/db/engine.ts'
import { type Party, Turns } from '../kernel/fair-queue.ts'
import { jobHeartbeatMs } from '../kernel/limits.ts'
import { minute, monotonic, second, stopwatch } from '../kernel/time.ts'
import { type Handler, Handlers, type Job, LeaseLost } from './handlers.ts'
import { findJob, JobWaiters } from './jobs.ts'
import * as rows from './rows.ts'
import { type EndState, endStates, type Queue, queues } from './tables.ts'
import { type RunnerContext, Stopped, Worker } from './worker.ts'

/** Jobs that run at once in this process, by queue. */
export const queueConcurrency = {
  builds: 4,
  assets: 4,
  media: 32,
  hooks: 32,
  covers: 1,
  batches: 4,
}
/**
 * Running jobs of one owner: at most half, and fewer webhooks, whose receivers may hang. A network
 * has at most half too (see `Turns`).
 */
export const queueConcurrencyPerOwner = {
  builds: 2,
  assets: 2,
  media: 16,
  hooks: 2,
  covers: 1,
  batches: 1,
}

/** Due jobs of a queue that take turns at once. */
const candidatesMax = 256

interface ClaimRequest {
  queue: Queue
  kinds: string[]
  /** The owners of the running jobs. */
  owners: string[]
  /** Jobs that may start. */
  free: number
}

interface ClaimedJob {
  job: Job & rows.Leased
  endTurn: () => void
}

/**
 * Claims due jobs, so that networks and owners take turns: see `Turns`. None has more than half of
 * a queue, because a running job is not interrupted for those that come later.
 */
class DueJobs {
  private readonly turns: Record<Queue, Turns> = {
    builds: new Turns(),
    assets: new Turns(),
    media: new Turns(),
    hooks: new Turns(),
    covers: new Turns(),
    batches: new Turns(),
  }

  constructor(private readonly ctx: rows.JobContext & { db: Engine }) {}

  /**
   * Claims at most `free` jobs. Returns undefined where none is due, and no job where other
   * processes were first.
   */
  async claim({ queue, kinds, owners, free }: ClaimRequest): Promise<ClaimedJob[] | undefined> {
    const { db, clock } = this.ctx
    const [first] = await rows.findFirstDue(db.read).execute({ queue, now: clock.now() })
    if (!first) return undefined
    const counts = new Map<string, number>()
    const count = (owner: string) => counts.set(owner, (counts.get(owner) ?? 0) + 1)
    const isFull = (owner: string) => (counts.get(owner) ?? 0) >= queueConcurrencyPerOwner[queue]
    owners.forEach(count)
    const filter = { queue, kinds, full: [...counts.keys()].filter(isFull), limit: candidatesMax }
    const due = await rows.findDue(db.read, { ...filter, now: clock.now() })
    const turns = this.turns[queue]
    const claims: Promise<ClaimedJob[]>[] = []
    while (claims.length < free) {
      const ready = due.filter(
        (job) => !isFull(job.owner) && turns.hasShare(partyOf(job), queueConcurrency[queue]),
      )
      const next = ready[turns.next(ready, partyOf)]
      if (!next) break
      due.splice(due.indexOf(next), 1)
      count(next.owner)
      claims.push(this.claimOne(queue, next))
    }
    if (claims.length === 0) return undefined
    const results = await Promise.allSettled(claims)
    const claimed = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
    const failed = results.find(({ status }) => status === 'rejected')
    // What was claimed runs; the failure repeats with the next poll.
    if (failed?.status === 'rejected' && claimed.length === 0) throw failed.reason
    return claimed
  }

  private async claimOne(queue: Queue, due: rows.DueJob): Promise<ClaimedJob[]> {
    const endTurn = this.turns[queue].begin(partyOf(due))
    const job = await this.ctx.db
      .tx((tx) => rows.claimJob(this.ctx, tx, due))
      .catch((error: unknown) => {
        endTurn()
        throw error
      })
    if (job) return [{ job, endTurn }]
    endTurn()
    return []
  }
}

const partyOf = ({ network, owner }: rows.DueJob): Party => ({
  prefix: network ?? '',
  account: owner,
})

interface RunningJob extends rows.Leased {
  job: Job
  queue: Queue
  /** The deadline of the job, on the monotonic clock. */
  until: number
  stop: AbortController
  ended: Promise<void>
}

/** Interval of polling the queues, and a job that a caller waits for. */
const pollMs = second
const recoverBatch = 100
const roundsMax = 10_000
/** A smaller step of the clock forward is not told from a slow poll. */
const clockStepMs = minute

declare module '../kernel/context.ts' {
  interface AppContext {
    /** Runs jobs; remembers the running ones and the clients that wait for them. */
    readonly jobs: Runner
  }
}

/**
 * Runs the jobs of all queues. A process owns a job while it renews the lease; other processes
 * recover jobs with expired leases. Register every handler before `start`.
 */
export class Runner {
  private readonly handlers = new Handlers()
  private readonly running = new Map<string, RunningJob>()
  private readonly waiters: JobWaiters
  private readonly dueJobs: DueJobs
  private timer: Timer | undefined
  private renewedAt = -Infinity
  private lastTime = -Infinity
  private lastElapsed = 0
  private polling: Promise<void> | undefined
  private isPollRequested = false
  /** The runner is closing. Callers must stop waiting for jobs. */
  isClosed = false

  private readonly worker: Worker

  constructor(private readonly ctx: RunnerContext) {
    this.waiters = new JobWaiters(ctx.signals)
    this.worker = new Worker(ctx, this.handlers, this.waiters)
    ctx.signals?.on('jobs', () => this.requestPoll())
    this.dueJobs = new DueJobs(ctx)
  }

  /** Registers the handler of a kind of job. It is loaded with its first job. */
  register<Input extends TSchema, Data extends TSchema>(
    kind: string,
    queue: Queue,
    load: () => Promise<Handler<Input, Data>>,
  ): void {
    this.handlers.add(kind, queue, load)
  }

  /** Returns the number of jobs that ended since the start, by queue and state. */
  ended(): { queue: Queue; state: EndState; count: number }[] {
    return queues.flatMap((queue) =>
      endStates.map((state) => {
        const count = this.worker.ended.get(`${queue} ${state}`) ?? 0
        return { queue, state, count }
      }),
    )
  }

  /** Recovers the jobs of ended processes and polls until `close`. */
  async start(): Promise<void> {
    // A job that cannot be recovered now is found when its lease expires.
    await this.recover(rows.findOfEnded).catch((error: unknown) =>
      this.ctx.log.error('jobs.start', error),
    )
    if (this.isClosed) return
    this.timer = setInterval(() => this.requestPoll(), pollMs)
    this.requestPoll()
  }

  /** Polls now, in all processes. Call it after the transaction of an `enqueue` is committed. */
  wake(): void {
    this.requestPoll()
    void this.ctx.signals?.send('jobs')
  }

  private requestPoll(): void {
    if (!this.timer) return
    this.isPollRequested = true
    this.polling ??= this.pollWhileRequested()
  }

  /** Runs all due jobs to their end. Tests use it instead of `start`. */
  async runDue(): Promise<void> {
    for (let rounds = 0; rounds < roundsMax; rounds += 1) {
      const wasIdle = this.running.size === 0
      const started = await this.poll()
      if (this.running.size > 0) {
        await Promise.race([...this.running.values()].map(({ ended }) => ended))
      } else if (wasIdle && started === 0) break
    }
  }

  /** Cancels a job, releases its holds and aborts its run. Returns undefined when it has ended. */
  async cancel(id: string): Promise<Job | undefined> {
    const job = await this.worker.end({ id, while: 'open' }, { state: 'cancelled' })
    if (job) this.running.get(id)?.stop.abort(new LeaseLost(id))
    return job
  }

  /** Returns a job once it has more than `seen` events or has ended, or after `ms`. */
  async waitFor(
    id: string,
    { seen, ms, signal }: { seen: number; ms: number; signal?: AbortSignal },
  ): Promise<Job | undefined> {
    const until = stopwatch() + ms
    for (;;) {
      const left = until - stopwatch()
      const waitMs = Math.max(0, Math.min(left, pollMs))
      const { changed, stop } = this.waiters.begin(id, waitMs, signal)
      const job = await findJob(this.ctx, id)
      const isOver = left <= 0 || signal?.aborted === true || this.isClosed
      if (!job || job.events > seen || job.ended !== null || isOver) {
        stop()
        return job
      }
      await changed
    }
  }

  /** Stops claiming jobs, gives running ones `ms` to finish, and requeues the rest. */
  async close(ms: number): Promise<void> {
    this.isClosed = true
    this.worker.isClosing = true
    clearInterval(this.timer)
    this.timer = undefined
    await this.polling
    const all = Promise.all([...this.running.values()].map(({ ended }) => ended))
    await Promise.race([all, Bun.sleep(ms)])
    for (const { stop } of this.running.values()) stop.abort(new Stopped('closing'))
    await all
  }

  private async pollWhileRequested(): Promise<void> {
    while (this.isPollRequested) {
      this.isPollRequested = false
      await this.poll().catch((error: unknown) => this.ctx.log.error('jobs.turn', error))
    }
    this.polling = undefined
  }

  /** Renews leases, recovers abandoned jobs and starts due ones. Returns the number started. */
  async poll(): Promise<number> {
    await this.followClock()
    await this.renewLeases()
    await this.recover(rows.findAbandoned)
    let started = 0
    for (const queue of queues) started += await this.startDue(queue)
    return started
  }

  /**
   * Shifts the times of jobs when the clock was set: waiting jobs would wait longer after a step
   * back, and jobs would lose their time and their leases after a step forward.
   */
  private async followClock(): Promise<void> {
    const { clock, db } = this.ctx
    const [now, elapsed] = [clock.now(), monotonic(clock)]
    const step = now - this.lastTime
    const ahead = step - (elapsed - this.lastElapsed)
    if (step < 0) await db.tx((tx) => rows.shiftDue(tx, step))
    else if (ahead > clockStepMs && this.lastTime > -Infinity) {
      this.ctx.log.warn('jobs.clock_set', { aheadMs: Math.round(ahead) })
      await db.tx((tx) => rows.shiftDeadlines(tx, Math.round(ahead)))
    }
    this.lastTime = now
    this.lastElapsed = elapsed
  }

  private async renewLeases(): Promise<void> {
    const { clock, db } = this.ctx
    const now = monotonic(clock)
    for (const { until, stop } of this.running.values()) {
      if (until <= now) stop.abort(new Stopped('deadline'))
    }
    const ours = [...this.running.values()]
    if (ours.length === 0 || now < this.renewedAt + jobHeartbeatMs) return
    const leases = ours.map(({ lease }) => lease)
    const renewed = await db.tx((tx) => rows.renewLeases(this.ctx, tx, leases))
    this.renewedAt = now
    for (const { id, lease, stop } of ours) if (!renewed.has(lease)) stop.abort(new LeaseLost(id))
  }

  /** Recovers abandoned jobs and ends waiting jobs past their deadline. */
  private async recover(findAbandoned: typeof rows.findAbandoned): Promise<void> {
    const { db, clock } = this.ctx
    for (const job of await findAbandoned(db.read, recoverBatch, clock.now())) {
      if (!this.running.has(job.id)) await this.worker.recover(job)
    }
    for (const job of await rows.findOverdue(db.read, recoverBatch, clock.now())) {
      await this.worker.timeOut(job)
    }
  }

  /** Starts due jobs within the concurrency of the queue. Returns the number. */
  private async startDue(queue: Queue): Promise<number> {
    const kinds = this.handlers.kindsOf(queue)
    let started = 0
    for (;;) {
      const busy = [...this.running.values()].filter((one) => one.queue === queue)
      const free = queueConcurrency[queue] - busy.length
      if (this.isClosed || free <= 0 || kinds.length === 0) return started
      const owners = busy.map(({ job }) => job.owner)
      const claimed = await this.dueJobs.claim({ queue, kinds, owners, free })
      if (claimed === undefined) return started
      for (const { job, endTurn } of claimed) this.runJob(job, endTurn)
      started += claimed.length
    }
  }

  private runJob(job: Job & rows.Leased, endTurn: () => void): void {
    const { id, lease, queue } = job
    const { clock } = this.ctx
    const until = monotonic(clock) + job.deadline - clock.now()
    const stop = new AbortController()
    this.waiters.notify(id)
    const client = new RecordedClient(job.network ?? '', job.owner, this.ctx.costs)
    const ended = runFor(client, () => this.worker.run(job, stop.signal))
      .catch((error: unknown) => this.ctx.log.error('jobs.not_ended', error, { job: id }))
      .finally(() => {
        endTurn()
        if (this.running.get(id)?.lease === lease) this.running.delete(id)
        this.requestPoll()
      })
    this.running.set(id, { id, lease, job, queue, until, stop, ended })
  }
}
