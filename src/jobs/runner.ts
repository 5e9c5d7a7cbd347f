import type { TSchema } from '@sinclair/typebox'

import { second, stopwatch } from '../core/time.ts'
import { jobHeartbeatMs, queueConcurrencyPerOwner, queueConcurrency } from '../limits.ts'
import { type Handler, type Job, LeaseLost } from './handler.ts'
import { findJob } from './jobs.ts'
import { Kinds } from './handlers.ts'
import * as rows from './rows.ts'
import { type EndState, endStates, type Queue, queues } from './tables.ts'
import { Waiting } from './job-waiters.ts'
import { type Parts, Stopped, Worker } from './worker.ts'

interface Running extends rows.Leased {
  job: Job
  queue: Queue
  stop: AbortController
  ended: Promise<void>
}

/** Between two looks at the rows, and at a job that somebody waits for. */
const lookMs = second
const leftAtOnce = 100
const turnsMax = 10_000

/**
 * Works on the rows of `jobs`, each kind in its lane. A job is ours while its lease is renewed; a
 * process that dies leaves it to the next start, and to whoever finds the lease run out. Register
 * every kind before `start`.
 */
export class Runner {
  private readonly kinds = new Kinds()
  private readonly running = new Map<string, Running>()
  private readonly waiting = new Waiting()
  private timer: Timer | undefined
  private renewedAt = -Infinity
  private seenAt = -Infinity
  private turning: Promise<void> | undefined
  private isAsked = false
  /** Whether it takes nothing more: who waits may leave. */
  isClosed = false

  private readonly worker: Worker

  constructor(private readonly parts: Parts) {
    this.worker = new Worker(parts, this.kinds, this.waiting)
  }

  /** How jobs of a kind are done. */
  register<Input extends TSchema, Data extends TSchema>(
    kind: string,
    handler: Handler<Input, Data>,
  ): void {
    this.kinds.add(kind, handler)
  }

  /** How many jobs ended here since the start, by lane and state. */
  ended(): { lane: Queue; state: EndState; count: number }[] {
    return queues.flatMap((lane) =>
      endStates.map((state) => {
        const count = this.worker.ended.get(`${lane} ${state}`) ?? 0
        return { lane, state, count }
      }),
    )
  }

  /** Takes up what processes that have ended left, and goes on until `close`. */
  async start(): Promise<void> {
    // What could not be taken up now is found when its lease has run out.
    await this.takeUp('ended').catch((error: unknown) => this.parts.log.fault('jobs.start', error))
    if (this.isClosed) return
    this.timer = setInterval(() => this.wake(), lookMs)
    this.wake()
  }

  /** Looks for work now: call it once the transaction of an `enqueue` is committed. */
  wake(): void {
    if (!this.timer) return
    this.isAsked = true
    this.turning ??= this.turnWhileAsked()
  }

  /** Runs everything that is due to its end, as tests do instead of `start`. */
  async runDue(): Promise<void> {
    for (let turns = 0; turns < turnsMax; turns += 1) {
      const wasIdle = this.running.size === 0
      const begun = await this.turn()
      if (this.running.size > 0) {
        await Promise.race([...this.running.values()].map(({ ended }) => ended))
      } else if (wasIdle && begun === 0) break
    }
  }

  /**
   * Ends a job as cancelled, its holds released, and breaks its run off. Undefined when it had
   * ended already.
   */
  async cancel(id: string): Promise<Job | undefined> {
    const job = await this.worker.end({ id, while: 'open' }, { state: 'cancelled' })
    if (job) this.running.get(id)?.stop.abort(new LeaseLost(id))
    return job
  }

  /**
   * The job as soon as it has more than `seen` events or has ended, or as it is after `ms`;
   * undefined when there is none.
   */
  async waitFor(
    id: string,
    { seen, ms, signal }: { seen: number; ms: number; signal?: AbortSignal },
  ): Promise<Job | undefined> {
    const until = stopwatch() + ms
    for (;;) {
      const left = until - stopwatch()
      const { told, stop } = this.waiting.begin(id, Math.max(0, Math.min(left, lookMs)), signal)
      const job = await findJob(this.parts, id)
      const isOver = left <= 0 || signal?.aborted === true || this.isClosed
      if (!job || job.events > seen || job.ended !== null || isOver) {
        stop()
        return job
      }
      await told
    }
  }

  /** Takes nothing more, lets what runs finish for so long, and puts the rest back. */
  async close(ms: number): Promise<void> {
    this.isClosed = true
    clearInterval(this.timer)
    this.timer = undefined
    await this.turning
    const all = Promise.all([...this.running.values()].map(({ ended }) => ended))
    await Promise.race([all, Bun.sleep(ms)])
    for (const { stop } of this.running.values()) stop.abort(new Stopped('closing'))
    await all
  }

  private async turnWhileAsked(): Promise<void> {
    while (this.isAsked) {
      this.isAsked = false
      await this.turn().catch((error: unknown) => this.parts.log.fault('jobs.turn', error))
    }
    this.turning = undefined
  }

  /**
   * One look at the rows: leases kept, what others left taken up, what is due begun. Answers how
   * many jobs it began.
   */
  async turn(): Promise<number> {
    await this.followClock()
    await this.renew()
    await this.takeUp({ leaseUntil: this.parts.clock.now() })
    let begun = 0
    for (const lane of queues) begun += await this.begin(lane)
    return begun
  }

  /** Where the clock was set back by an hour, all that waits would wait an hour more. */
  private async followClock(): Promise<void> {
    const { clock, db } = this.parts
    const now = clock.now()
    const step = now - this.seenAt
    if (step < 0) await db.tx((tx) => rows.move(tx, step))
    this.seenAt = now
  }

  private async renew(): Promise<void> {
    const { clock, db } = this.parts
    const now = clock.now()
    for (const { job, stop } of this.running.values()) {
      if (job.deadline <= now) stop.abort(new Stopped('deadline'))
    }
    const ours = [...this.running.values()]
    if (ours.length === 0 || now < this.renewedAt + jobHeartbeatMs) return
    const leases = ours.map(({ lease }) => lease)
    const kept = await db.tx((tx) => rows.renew(this.parts, tx, leases))
    this.renewedAt = now
    for (const { id, lease, stop } of ours) if (!kept.has(lease)) stop.abort(new LeaseLost(id))
  }

  /** Jobs whose process died begin again or end; those that waited too long end. */
  private async takeUp(left: rows.Left): Promise<void> {
    const { db, clock } = this.parts
    for (const job of await rows.findLeft(db.read, leftAtOnce, left)) {
      if (!this.running.has(job.id)) await this.worker.leave(job)
    }
    for (const { id } of await rows.findOverdue(db.read, leftAtOnce, clock.now())) {
      await this.worker.timeOut(id)
    }
  }

  /**
   * Fills a lane with what is due, no owner beyond its share: again while one was cut. Answers how
   * many jobs it began.
   */
  private async begin(lane: Queue): Promise<number> {
    const { db, clock } = this.parts
    const kinds = this.kinds.of(lane)
    let begun = 0
    for (let isCut = true; isCut;) {
      const busy = [...this.running.values()].filter((one) => one.queue === lane)
      const limit = queueConcurrency[lane] - busy.length
      if (this.isClosed || limit <= 0 || kinds.length === 0) break
      const shares = new Map<string, number>()
      const hasRoom = (owner: string): boolean => (shares.get(owner) ?? 0) < queueConcurrencyPerOwner[lane]
      const count = (owner: string) => shares.set(owner, (shares.get(owner) ?? 0) + 1)
      for (const { job } of busy) count(job.owner)
      const full = [...shares.keys()].filter((owner) => !hasRoom(owner))
      const due = await rows.findDue(db.read, { queue: lane, kinds, full, limit, now: clock.now() })
      const fair: typeof due = []
      for (const one of due) {
        if (!hasRoom(one.owner)) continue
        count(one.owner)
        fair.push(one)
      }
      const claimed = await Promise.all(
        fair.map((one) => db.tx((tx) => rows.claim(this.parts, tx, one))),
      )
      const ours = claimed.filter((job) => job !== undefined)
      for (const job of ours) this.work(job)
      begun += ours.length
      isCut = fair.length < due.length
    }
    return begun
  }

  private work(job: Job & rows.Leased): void {
    const { id, lease, lane } = job
    const stop = new AbortController()
    this.waiting.tell(id)
    const ended = this.worker
      .run(job, stop.signal)
      .catch((error: unknown) => this.parts.log.fault('jobs.not_ended', error, { job: id }))
      .finally(() => {
        if (this.running.get(id)?.lease === lease) this.running.delete(id)
        this.wake()
      })
    this.running.set(id, { id, lease, job, queue: lane, stop, ended })
  }
}
