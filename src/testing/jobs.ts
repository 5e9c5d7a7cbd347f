import { Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'

import { newId } from '../core/ids.ts'
import { fromCredits, zero } from '../core/money.ts'
import { hour } from '../core/time.ts'
import type { Handler, Job, Outcome, JobRun } from '../jobs/handler.ts'
import * as jobs from '../jobs/jobs.ts'
import { Runner } from '../jobs/runner.ts'
import { jobs as rows } from '../jobs/tables.ts'
import { doctor } from '../ledger/doctor.ts'
import { closeJobHolds, listOpenHolds } from '../ledger/job-holds.ts'
import { balanceOf, openHold, settleHold } from '../ledger/ledger.ts'
import { ann, ask, fund, openBooks, type TestBooks } from './books.ts'

const Input = Type.Object({ what: Type.String() })
const Data = Type.Object({ pieces: Type.Integer() })
export type Run = (work: JobRun<{ what: string }, { pieces: number }>) => Promise<Outcome>

/** Ann with 400 credits, and runners that do her builds. */
export interface TestJobs {
  books: TestBooks
  /** What was undone: "<id> failed <code>". */
  undone: string[]
  /** A process of its own over the same rows. */
  runner(run: Run, more?: Partial<Handler>): Runner
  /** A build that may cost 100 credits, with its hold, in one transaction. */
  newJob(more?: Partial<jobs.NewJob>): Promise<string>
  /** Lands: settles 60 of the 100 credits. */
  land: Run
  /** Has the lease of a job be that of a process that has ended. */
  abandon(id: string): Promise<void>
  /** A job as it stands. */
  the(id: string): Promise<Job>
  /** The credits that are gone; throws when any are held. */
  spent(): Promise<number>
  /** Ends all runners and proves the books. */
  close(): Promise<void>
}

/** Never ends by itself, as work that a dead process did. */
export const hang: Run = () => new Promise(() => {})

const build = {
  kind: 'build',
  queue: 'builds',
  owner: 'agent:ann',
  input: { what: 'a boat' },
  price: fromCredits(100),
  ms: hour,
} as const

export async function openJobs(): Promise<TestJobs> {
  const books = await openBooks()
  const runners: Runner[] = []
  const undone: string[] = []
  await fund(books, ann, 400)
  return {
    books,
    undone,
    runner(run, more = {}) {
      const made = new Runner({ ...books, closeHolds: closeJobHolds })
      made.register('build', {
        queue: 'builds',
        input: Input,
        data: Data,
        run,
        ...more,
        compensate: async (_db, { id, state, error }) => {
          undone.push(`${id} ${state} ${error?.code ?? ''}`.trim())
        },
      })
      runners.push(made)
      return made
    },
    newJob: (more) =>
      books.db.tx(async (db) => {
        const job = await jobs.enqueue(books, db, { ...build, ...more })
        await openHold(books, db, ask(`build:${job.id}`, 100, { job: job.id, ms: 2 * hour }))
        return job.id
      }),
    land: async () => ({
      end: 'done',
      record: async (db, job) => {
        for (const held of await listOpenHolds(db, job.id)) {
          await settleHold(books, db, held, fromCredits(60))
        }
        return { version: 1 }
      },
    }),
    async abandon(id) {
      const lease = newId() + newId()
      await books.db.tx((db) => db.update(rows).set({ lease }).where(eq(rows.id, id)))
    },
    async the(id) {
      const job = await jobs.findJob(books, id)
      if (!job) throw new Error('there is no such job')
      return job
    },
    async spent() {
      const { balance, held } = await balanceOf(books, ann)
      if (held !== zero) throw new Error(`${held} is held`)
      return 400 - Number(balance) / 1_000_000
    },
    async close() {
      for (const one of runners) await one.close(0)
      const report = await doctor(books)
      await books.db.close()
      if (!report.ok) throw new Error(report.text)
    },
  }
}
