import type { Static, TSchema } from '@sinclair/typebox'

import type { Db } from '../kernel/db/engine.ts'
import type { Failure, JobResult, jobs } from './tables.ts'

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
