import { and, asc, eq, gt, ne } from 'drizzle-orm'

import type { Engine } from '../db/engine.ts'
import { thisProcess } from '../db/replicas/presence.ts'
import type { NanoUsd } from '../money.ts'
import { type Clock, minute, second, stopwatch } from '../time.ts'
import { incomeOf, incomeToNumbers, observedMs } from './observations.ts'
import { observedWindows } from './tables.ts'

const samplesMax = observedMs / minute + 1

/** Counters of the server at one moment, counted since its start. */
export interface Sample {
  /** Milliseconds since 1970. */
  at: number
  upstreamErrors: number
  /** Revenue of the operator. */
  income: NanoUsd
  jobs: number
  /** Free disk space in bytes. */
  free: number
  /** The longest delay of a timer since the sample before, in milliseconds. */
  lateMs: number
}

/** One sample a minute for a day, and the delay of the event loop. */
export class MetricsHistory {
  readonly samples: Sample[] = []
  private lastTick = stopwatch()
  private maxLateMs = 0

  /** Keeps a sample and measures the delay of timers anew. */
  add(sample: Sample): void {
    this.samples.push(sample)
    this.samples.splice(0, this.samples.length - samplesMax)
    this.maxLateMs = 0
  }

  /** Measures the delay of the event loop. A timer calls it once a second. */
  tick(): void {
    const now = stopwatch()
    this.maxLateMs = Math.max(this.maxLateMs, now - this.lastTick - second)
    this.lastTick = now
  }

  /** The longest delay of a timer since the last sample, in milliseconds. */
  get lateMs(): number {
    return this.maxLateMs
  }

  /** The longest delay of a timer in the last one to two minutes, in milliseconds. */
  get recentLateMs(): number {
    return Math.max(this.maxLateMs, this.samples.at(-1)?.lateMs ?? 0)
  }
}

/** The name of samples among the measurements of servers. */
const name = 'samples'
/** Samples of a day of about 30 servers. */
const readSamplesMax = 50_000

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
    .limit(readSamplesMax)
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
