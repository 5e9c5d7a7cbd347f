import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'

import type { Db } from '../kernel/db/engine.ts'
import { lazy } from '../kernel/lazy.ts'
import type { Failure, JobResult, jobs, Queue } from './tables.ts'

export type Job = typeof jobs.$inferSelect

/** Changes of a progress report. Omitted fields stay. */
export interface JobProgress {
  step?: string
  /** 0 to 1. */
  progress?: number
  /** Data that a later run of the job resumes from. */
  data?: unknown
}

/** Further writes in the transaction of a report or of an ending. */
export type InTransaction<Result = unknown> = (db: Db, job: Job) => Promise<Result>

export interface JobRun<Input, Data> {
  job: Job
  input: Input
  /** Data of an earlier run; null in the first. */
  data: Data | null
  /** Aborts when the job is canceled, times out or loses its lease, and when the server stops. */
  signal: AbortSignal
  /** Stores progress. `also` settles partial charges in the same transaction. Throws LeaseLost. */
  report(change: JobProgress, also?: InTransaction): Promise<void>
  /** Calls `end` when the outcome of this run is stored, or has failed. */
  onEnd(end: () => void): void
}

/**
 * `record` settles the hold and publishes the output in the transaction that ends the job. If it
 * throws, the job fails. `again` runs the job again and frees its place until then, with new `data`
 * if any.
 */
export type Outcome =
  | { end: 'done'; record?: InTransaction<JobResult | void> }
  | { end: 'failed'; error: Failure }
  | { end: 'again'; afterMs: number; data?: unknown }

/**
 * A kind of job. An operation writes the job, its rows and its holds in one transaction, the job
 * first, and then wakes the runner. Each hold names the job and outlives it. Only `record` and
 * `also` settle holds, in the transaction of the job row, so a crash never charges twice. Holds
 * that are open at the end are released.
 */
export interface Handler<Input extends TSchema = TSchema, Data extends TSchema = TSchema> {
  input: Input
  data: Data
  /** Maximum restarts after a crash; 1 by default. */
  restarts?: number
  /** Runs the job. A thrown error fails it with the code `internal`. */
  run(run: JobRun<Static<Input>, Static<Data>>): Promise<Outcome>
  /** Undoes the rows of a job that does not end as `done`, before its holds are released. */
  compensate?: InTransaction
}

/** The run has lost its lease: the job was canceled, has ended, or runs in another process. */
export class LeaseLost extends Error {
  constructor(job: string) {
    super(`This process no longer holds the lease of job ${job}.`)
    this.name = 'LeaseLost'
  }
}

interface CheckedHandler {
  restarts: number
  run(run: JobRun<unknown, unknown>): Promise<Outcome>
  compensate?: Handler['compensate']
}

/** Registered handlers by job kind. Each is loaded with its first job. */
export class Handlers {
  private readonly byKind = new Map<string, { queue: Queue; load: () => Promise<CheckedHandler> }>()

  /** Registers a handler. Jobs whose stored input does not match its schema fail. */
  add<Input extends TSchema, Data extends TSchema>(
    kind: string,
    queue: Queue,
    load: () => Promise<Handler<Input, Data>>,
  ): void {
    this.byKind.set(kind, { queue, load: lazy(async () => withChecks(kind, await load())) })
  }

  async find(kind: string): Promise<CheckedHandler | undefined> {
    return this.byKind.get(kind)?.load()
  }

  kindsOf(queue: Queue): string[] {
    return [...this.byKind].flatMap(([kind, registered]) =>
      registered.queue === queue ? [kind] : [],
    )
  }
}

function withChecks<Input extends TSchema, Data extends TSchema>(
  kind: string,
  handler: Handler<Input, Data>,
): CheckedHandler {
  const { restarts = 1, compensate } = handler
  return {
    restarts,
    compensate,
    run: (run) => {
      const { input, data } = run
      if (!Value.Check(handler.input, input)) throw new Error(`The input of a ${kind} is invalid.`)
      const resumed = data !== null && Value.Check(handler.data, data) ? data : null
      return handler.run({ ...run, input, data: resumed })
    },
  }
}
