import type { Static, TSchema } from '@sinclair/typebox'

import type { Db } from '../db/engine.ts'
import type { Failure, JobResult, jobs, Queue } from './tables.ts'

export type Job = typeof jobs.$inferSelect

/** What a report changes; what is left out stays. */
export interface JobProgress {
  step?: string
  /** 0 to 1. */
  progress?: number
  /** What the next run begins with, should this process die. */
  data?: unknown
}

/** What else is done in the transaction of a report or of an ending. */
export type InTransaction<Told = unknown> = (db: Db, job: Job) => Promise<Told>

/** A job as it is worked on. */
export interface JobRun<Input, Data> {
  job: Job
  input: Input
  /** What an earlier run kept; null in the first. */
  data: Data | null
  /** Aborts when the job is cancelled, given up, or taken over; and when the house stops. */
  signal: AbortSignal
  /**
   * Reports and keeps, in one transaction that is written only while the job is still ours. `also`
   * settles what is paid piece by piece: it happens once, with the data that says so. Throws
   * LeaseLost, which a handler lets pass.
   */
  report(change: JobProgress, also?: InTransaction): Promise<void>
}

/**
 * What a run comes to. `record` is written in the transaction that ends the job: there the hold is
 * settled and what was made is published, exactly once; what it answers is the job's result, and
 * what it refuses fails the job. `again` runs it once more after so many milliseconds, and leaves
 * its place to others until then.
 */
export type Outcome =
  | { end: 'done'; record?: InTransaction<JobResult | void> }
  | { end: 'failed'; error: Failure }
  | { end: 'again'; afterMs: number }

/**
 * A kind of work. A room that has one writes a handler and app.ts registers it:
 *
 *     house.jobs.register('assets', { lane: 'media', input, data: Type.Null(), run, undone })
 *
 * Its verb writes the job, what stands for it, and its holds in one transaction, the job first;
 * each hold names the job (`job`) and lives longer than it (`ms`); then it wakes the runner:
 *
 *     const job = await house.db.tx(async (db) => {
 *       const made = await enqueue(house, db, { kind, lane, owner, item, input, price, ms })
 *       await hold(house, db, { account, amount: price, ref, kind, job: made.id, ms: 2 * ms })
 *       await keep(db, answer)
 *       return made
 *     })
 *     house.jobs.wake()
 *
 * Only `record` and `also` settle (`openHoldsOf`, `settle`): they are written with the job's own
 * row, so a process that dies, a lease that is lost and a job that is cancelled never pay twice.
 * What is still held when a job ends, however it ends, is released.
 */
export interface Handler<Input extends TSchema = TSchema, Data extends TSchema = TSchema> {
  queue: Queue
  input: Input
  data: Data
  /** How often it is begun again after its process died: once, when left out. */
  restarts?: number
  /** A throw is a fault of ours: the job fails with the code internal. */
  run(work: JobRun<Static<Input>, Static<Data>>): Promise<Outcome>
  /**
   * In the transaction of every ending that is not done (failed, timed out, interrupted,
   * cancelled): undoes what stands for a job that did not land. Open holds are released after it.
   */
  compensate?: InTransaction
}

/** The job is not ours any more: it was cancelled, has ended, or another process has it. */
export class LeaseLost extends Error {
  constructor(job: string) {
    super(`The job ${job} is not ours any more.`)
    this.name = 'LeaseLost'
  }
}
