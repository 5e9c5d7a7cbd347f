import { and, asc, eq, gt, ne } from 'drizzle-orm'

import type { Engine } from '../db/engine.ts'
import { thisProcess } from '../db/replicas/process.ts'
import { type Clock, minute } from '../time.ts'
import type { MetricsHistory, Sample } from './metrics-history.ts'
import { observedMs } from './observations.ts'
import { incomeOf, incomeToNumbers } from './observed-hours.ts'
import { observedWindows } from './tables.ts'

/** The name of samples among the measurements of servers. */
const name = 'samples'
/** Samples of a day of about 30 servers. */
const samplesMax = 50_000

interface Sampling {
  db: Engine
  clock: Clock
  state: { metricsHistory: MetricsHistory }
}

type Counts = typeof observedWindows.$inferInsert.counts

const toCounts = ({ upstreamErrors, income, jobs, free, lateMs }: Sample): Counts => ({
  upstreamErrors: [upstreamErrors],
  income: incomeToNumbers(income),
  jobs: [jobs],
  free: [free],
  lateMs: [lateMs],
})

function toSample(at: number, counts: Counts): Sample {
  const { upstreamErrors = [], income = [], jobs = [], free = [], lateMs = [] } = counts
  return {
    at,
    upstreamErrors: upstreamErrors[0] ?? 0,
    income: incomeOf(income),
    jobs: jobs[0] ?? 0,
    free: free[0] ?? 0,
    lateMs: lateMs[0] ?? 0,
  }
}

/** Writes a sample of this process, for all servers and after a restart. */
export async function shareSample({ db }: { db: Engine }, sample: Sample): Promise<void> {
  const row = { process: thisProcess, name, at: sample.at, counts: toCounts(sample) }
  await db.tx((tx) => tx.insert(observedWindows).values(row).onConflictDoNothing())
}

/**
 * Returns the samples of the last `ms` milliseconds, and one before them, by server: those of this
 * process first. Servers that have ended are included.
 */
export async function readSamples(
  { db, clock, state }: Sampling,
  ms: number,
): Promise<[own: Sample[], ...others: Sample[][]]> {
  const own = [...state.metricsHistory.samples]
  const { process, at, counts } = observedWindows
  const isOther = and(eq(observedWindows.name, name), ne(process, thisProcess))
  const rows = await db.read
    .select({ process, at, counts })
    .from(observedWindows)
    .where(and(isOther, gt(at, clock.now() - ms - 2 * minute)))
    .orderBy(asc(at))
    .limit(samplesMax)
  const byProcess = Map.groupBy(rows, (row) => row.process)
  const others = [...byProcess.values()].map((all) =>
    all.map((row) => toSample(row.at, row.counts)),
  )
  return [own, ...others]
}

/** Returns the time of the oldest sample of the last day; undefined before the first. */
export async function findOldestSample({ db, clock }: Pick<Sampling, 'db' | 'clock'>) {
  const { at } = observedWindows
  const [row] = await db.read
    .select({ at })
    .from(observedWindows)
    .where(and(eq(observedWindows.name, name), gt(at, clock.now() - observedMs)))
    .orderBy(asc(at))
    .limit(1)
  return row?.at
}
