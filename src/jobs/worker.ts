import type { Costs } from '../kernel/client.ts'
import type { Db, Engine } from '../kernel/db/engine.ts'
import { isWriteUnavailable } from '../kernel/db/error.ts'
import type { Signals } from '../kernel/db/signals.ts'
import { ApiError } from '../kernel/errors.ts'
import { settleRetriesMs, settleRetryMsMax } from '../kernel/limits.ts'
import type { Log } from '../kernel/log.ts'
import { minute, stopwatch } from '../kernel/time.ts'
import { type Handlers, type Job, type JobRun, LeaseLost, type Outcome } from './handlers.ts'
import type { JobWaiters } from './jobs.ts'
import * as rows from './rows.ts'
import type { Failure } from './tables.ts'

export interface RunnerContext extends rows.JobContext {
  /** Charged for the work of jobs. */
  costs: Costs
  db: Engine
  log: Log
  /** Waits between the attempts to record an ending; those of limits.ts where there are none. */
  endingRetriesMs?: readonly number[]
  /** Wakes the runners and the waiting callers of other processes. */
  signals?: Pick<Signals, 'on' | 'send'>
}

const failures = {
  interrupted: {
    code: 'interrupted',
    error:
      'The server stopped twice during the job. Unfinished work was not charged. Start it again.',
  },
  internal: {
    code: 'internal',
    error: 'An internal error occurred. Unfinished work was not charged. Start it again.',
  },
}

function timedOut({ created, deadline }: Job): Failure {
  const limit = `${Math.ceil((deadline - created) / minute)} minutes`
  const error = `The job exceeded its time limit of ${limit}. Unfinished work was not charged. Start it again.`
  return { code: 'timed_out', error }
}

/** Returns the failure of a run that threw. An ApiError of its ending is expected. */
function failureOf(job: Job, thrown: unknown): Failure {
  if (thrown instanceof Stopped) return timedOut(job)
  if (!(thrown instanceof ApiError)) return failures.internal
  return { code: thrown.errorName, error: 'The result could not be stored. It was not charged.' }
}

/** An ending that waits for its next attempt looks this often whether the process stops. */
const closeCheckMs = 250

export class Stopped extends Error {
  constructor(readonly by: 'deadline' | 'closing') {
    super(by)
  }
}

/** Runs single jobs and ends them. */
export class Worker {
  /** Jobs that ended since the start, by queue and state: "builds done". */
  readonly ended = new Map<string, number>()
  /** The process is stopping: an ending that fails is left to the next process. */
  isClosing = false

  constructor(
    private readonly ctx: RunnerContext,
    private readonly handlers: Handlers,
    private readonly waiters: JobWaiters,
  ) {}

  /** Requeues an abandoned job, or fails it after its last restart. */
  async recover(job: Job & rows.Leased): Promise<void> {
    const { db, log } = this.ctx
    const { id, lease, kind, interruptions } = job
    log.warn('jobs.interrupted', { job: id, kind })
    const handler = await this.handlers.find(kind)
    if (interruptions < (handler?.restarts ?? 1)) {
      await db.tx((tx) => rows.requeue(this.ctx, tx, job))
      this.waiters.notify(id)
    } else await this.end({ id, lease }, { state: 'failed', error: failures.interrupted })
  }

  /** Ends a job that waited past its deadline, unless a process has claimed it. */
  async timeOut(job: Job): Promise<void> {
    await this.end({ id: job.id, while: 'waiting' }, { state: 'failed', error: timedOut(job) })
  }

  /** Runs a job once and applies its outcome. */
  async run(job: Job & rows.Leased, signal: AbortSignal): Promise<void> {
    const { log } = this.ctx
    using ends = new DisposableStack()
    try {
      const outcome = await this.runHandler(job, signal, ends)
      await this.persist(job, () => this.applyOutcome(job, outcome))
    } catch (thrown) {
      if (thrown instanceof LeaseLost) return
      const isClosing = thrown instanceof Stopped && thrown.by === 'closing'
      if (isClosing) return this.recover(job)
      const error = failureOf(job, thrown)
      if (error === failures.internal) {
        log.error('jobs.failed', thrown, { job: job.id, kind: job.kind })
      }
      await this.persist(job, () => this.end(job, { state: 'failed', error }))
    }
  }

  /** Returns the outcome of the handler. Throws the abort reason when the run is aborted. */
  private runHandler(
    job: Job & rows.Leased,
    signal: AbortSignal,
    ends: DisposableStack,
  ): Promise<Outcome> {
    const { db } = this.ctx
    const aborted = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => aborted.reject(signal.reason))
    const context: JobRun<unknown, unknown> = {
      job,
      signal,
      input: job.input,
      data: job.data,
      report: async (change, also) => {
        await db.tx((tx) => rows.reportProgress(this.ctx, tx, job, change, also))
        this.waiters.notify(job.id)
      },
      // A run that was aborted may still call it.
      onEnd: (end) => (ends.disposed ? end() : void ends.defer(end)),
    }
    const run = async (): Promise<Outcome> => {
      const handler = await this.handlers.find(job.kind)
      if (!handler) throw new Error(`No handler is registered for jobs of kind ${job.kind}.`)
      return handler.run(context)
    }
    return Promise.race([run(), aborted.promise])
  }

  private async applyOutcome(job: Job & rows.Leased, outcome: Outcome): Promise<void> {
    const { end } = outcome
    if (end === 'again') {
      await this.ctx.db.tx((tx) => rows.reschedule(this.ctx, tx, job, outcome))
    } else if (end === 'failed') await this.end(job, { state: 'failed', error: outcome.error })
    else await this.end(job, { ...outcome, state: 'done' })
  }

  /**
   * Retries an ending that fails unexpectedly: while the database cannot write until the process
   * stops, otherwise a bounded number of times.
   */
  private async persist(job: Job, ending: () => Promise<unknown>): Promise<void> {
    const { endingRetriesMs = settleRetriesMs } = this.ctx
    for (let failures = 0; ; failures += 1) {
      const waitMs = endingRetriesMs[failures] ?? settleRetryMsMax
      try {
        return void (await ending())
      } catch (error) {
        const isExpected = error instanceof LeaseLost || error instanceof ApiError
        const isLast = failures >= endingRetriesMs.length && !isWriteUnavailable(error)
        if (isExpected || isLast || this.isClosing) throw error
        this.ctx.log.error('jobs.ending_failed', error, { job: job.id, waitMs })
      }
      const until = stopwatch() + waitMs
      while (stopwatch() < until && !this.isClosing) await Bun.sleep(Math.min(waitMs, closeCheckMs))
    }
  }

  /** Ends a job. Returns undefined when the condition no longer holds. */
  async end(from: rows.EndCondition, ending: rows.Ending): Promise<Job | undefined> {
    const compensate = async (tx: Db, job: Job): Promise<void> => {
      const handler = await this.handlers.find(job.kind)
      await handler?.compensate?.(tx, job)
    }
    const record = ending.state === 'done' ? ending.record : compensate
    const job = await this.ctx.db.tx((tx) => rows.endJob(this.ctx, tx, from, { ...ending, record }))
    if (!job) return undefined
    const name = `${job.queue} ${job.state}`
    this.ended.set(name, (this.ended.get(name) ?? 0) + 1)
    this.waiters.notify(job.id)
    return job
  }
}
