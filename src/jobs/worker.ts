import type { Log } from '../core/log.ts'
import type { Db, Engine } from '../db/engine.ts'
import { ApiError } from '../errors.ts'
import { endingWaitsMs } from '../limits.ts'
import { type Job, LeaseLost, type Outcome, type JobRun } from './handler.ts'
import type { Kinds } from './handlers.ts'
import * as rows from './rows.ts'
import type { Failure } from './tables.ts'
import type { Waiting } from './job-waiters.ts'

/** What the runner needs of the house. */
export interface Parts extends rows.Rows {
  db: Engine
  log: Log
}

const why = {
  timedOut: {
    code: 'timed_out',
    error: 'This took longer than it may. What did not land was not charged. Start it again.',
  },
  interrupted: {
    code: 'interrupted',
    error:
      'The server stopped twice while this ran. What did not land was not charged. Start it again.',
  },
  internal: {
    code: 'internal',
    error: 'Something went wrong here. What did not land was not charged. Start it again.',
  },
}

/** What a job that threw ends with; a refusal of its ending is no fault of ours. */
function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Stopped) return why.timedOut
  if (!(thrown instanceof ApiError)) return why.internal
  return { code: thrown.errorName, error: 'It could not be kept here. Nothing was charged for it.' }
}

/** Why a run is broken off from outside. */
export class Stopped extends Error {
  constructor(readonly by: 'deadline' | 'closing') {
    super(by)
  }
}

/** What is done with one job: its run, and every way it ends. */
export class Worker {
  /** How many jobs ended here since the start, by lane and state: "builds done". */
  readonly ended = new Map<string, number>()

  constructor(
    private readonly parts: Parts,
    private readonly kinds: Kinds,
    private readonly waiting: Waiting,
  ) {}

  /** Nobody works on it any more: it is put back, or has been often enough. */
  async leave(left: Job & rows.Leased): Promise<void> {
    const { db, log } = this.parts
    const { id, lease, kind, interruptions } = left
    log.warn('jobs.interrupted', { job: id, kind })
    if (interruptions < (this.kinds.find(kind)?.restarts ?? 1)) {
      await db.tx((tx) => rows.putBack(this.parts, tx, left))
      this.waiting.tell(id)
    } else await this.end({ id, lease }, { state: 'failed', error: why.interrupted })
  }

  /** A job that waited past its deadline ends, unless someone has begun it. */
  async timeOut(id: string): Promise<void> {
    await this.end({ id, while: 'waiting' }, { state: 'failed', error: why.timedOut })
  }

  /** Runs it once, to whatever end that comes to. */
  async run(job: Job & rows.Leased, signal: AbortSignal): Promise<void> {
    const { log } = this.parts
    try {
      const outcome = await this.outcomeOf(job, signal)
      await this.persist(job, () => this.conclude(job, outcome))
    } catch (thrown) {
      if (thrown instanceof LeaseLost) return
      const isClosing = thrown instanceof Stopped && thrown.by === 'closing'
      if (isClosing) return this.leave(job)
      const error = failureOf(thrown)
      if (error === why.internal) log.fault('jobs.failed', thrown, { job: job.id, kind: job.kind })
      await this.persist(job, () => this.end(job, { state: 'failed', error }))
    }
  }

  /** What the handler comes to, or the throw of what broke it off. */
  private outcomeOf(job: Job & rows.Leased, signal: AbortSignal): Promise<Outcome> {
    const { db } = this.parts
    const stopped = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => stopped.reject(signal.reason))
    const work: JobRun<unknown, unknown> = {
      job,
      signal,
      input: job.input,
      data: job.data,
      report: async (change, also) => {
        await db.tx((tx) => rows.note(this.parts, tx, job, change, also))
        this.waiting.tell(job.id)
      },
    }
    const run = async (): Promise<Outcome> => {
      const kind = this.kinds.find(job.kind)
      if (!kind) throw new Error(`Nobody knows how a ${job.kind} is done.`)
      return kind.run(work)
    }
    return Promise.race([run(), stopped.promise])
  }

  private async conclude(job: Job & rows.Leased, outcome: Outcome): Promise<void> {
    const { end } = outcome
    if (end === 'again') {
      await this.parts.db.tx((tx) => rows.wait(this.parts, tx, job, outcome.afterMs))
    } else if (end === 'failed') await this.end(job, { state: 'failed', error: outcome.error })
    else await this.end(job, { ...outcome, state: 'done' })
  }

  /** An ending that fails, and is not refused, is tried again; then it is left to the lease. */
  private async persist(job: Job, ending: () => Promise<unknown>): Promise<void> {
    for (const waitMs of endingWaitsMs) {
      try {
        return void (await ending())
      } catch (error) {
        if (error instanceof LeaseLost || error instanceof ApiError) throw error
        this.parts.log.fault('jobs.ending_failed', error, { job: job.id, waitMs })
      }
      await Bun.sleep(waitMs)
    }
    await ending()
  }

  /** Ends a job; undefined when it is not to be ended from there any more. */
  async end(from: rows.From, ending: rows.Ending): Promise<Job | undefined> {
    const { db } = this.parts
    const undone = async (tx: Db, job: Job): Promise<void> => {
      await this.kinds.find(job.kind)?.compensate?.(tx, job)
    }
    const record = ending.state === 'done' ? ending.record : undone
    const job = await db.tx((tx) => rows.end(this.parts, tx, from, { ...ending, record }))
    if (!job) return undefined
    const name = `${job.lane} ${job.state}`
    this.ended.set(name, (this.ended.get(name) ?? 0) + 1)
    this.waiting.tell(job.id)
    return job
  }
}
