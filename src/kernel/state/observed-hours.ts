import { asc, desc, gte } from 'drizzle-orm'

import type { Engine } from '../db/engine.ts'
import { Latencies, type LatencyWindow } from '../latencies.ts'
import { nano, type NanoUsd } from '../money.ts'
import { type Clock, hour } from '../time.ts'
import { trafficParts } from '../traffic.ts'
import { observedHoursMs } from './shared-observations.ts'
import { observedHours } from './tables.ts'

const nanoPerUsd = 1_000_000_000n

/** Measurements of all servers in a span of time, beside their traffic. */
export interface Totals {
  upstreamErrors: number
  income: NanoUsd
  jobs: number
  /** The least of all servers. */
  free: number | undefined
  /** The longest of all servers. */
  lateMs: number | undefined
}

/** An hour that is over. `at` is its beginning. */
export interface ObservedHour {
  at: number
  traffic: LatencyWindow['counts']
  totals: Totals
}

type Numbers = LatencyWindow['counts']

/** Whole USD and the rest: a JSON number is exact up to 9 million USD in NanoUsd. */
export const incomeToNumbers = (income: NanoUsd): number[] => [
  Number(income / nanoPerUsd),
  Number(income % nanoPerUsd),
]

export const incomeOf = ([usd = 0, rest = 0]: number[]): NanoUsd =>
  nano(BigInt(usd) * nanoPerUsd + BigInt(rest))

const toNumbers = ({ upstreamErrors, income, jobs, free, lateMs }: Totals): Numbers => ({
  upstreamErrors: [upstreamErrors],
  income: incomeToNumbers(income),
  jobs: [jobs],
  free: free === undefined ? [] : [free],
  lateMs: lateMs === undefined ? [] : [lateMs],
})

const toTotals = ({ upstreamErrors, income, jobs, free, lateMs }: Numbers): Totals => ({
  upstreamErrors: upstreamErrors?.[0] ?? 0,
  income: incomeOf(income ?? []),
  jobs: jobs?.[0] ?? 0,
  free: free?.[0],
  lateMs: lateMs?.[0],
})

interface Source {
  db: Engine
  clock: Clock
}

/** Returns histograms by hour, for 90 days, that add up windows of hours or shorter ones. */
export const hourlyLatencies = (clock: Clock): Latencies =>
  new Latencies(clock, {
    windowMs: hour,
    windows: observedHoursMs / hour,
    labelsMax: trafficParts.length,
  })

/** Writes hours that are over. An hour is written once. */
export const writeHours = ({ db }: Source, hours: ObservedHour[]): Promise<unknown> =>
  db.tx((tx) =>
    tx
      .insert(observedHours)
      .values(hours.map(({ at, traffic, totals }) => ({ at, traffic, totals: toNumbers(totals) })))
      .onConflictDoNothing(),
  )

/** Returns the beginning of the newest hour that was written. */
export async function findNewestHour({ db }: Source): Promise<number | undefined> {
  const { at } = observedHours
  const [row] = await db.read.select({ at }).from(observedHours).orderBy(desc(at)).limit(1)
  return row?.at
}

/** Returns the hours that ended in the last `ms` milliseconds, oldest first. */
export async function readHours({ db, clock }: Source, ms: number): Promise<ObservedHour[]> {
  const rows = await db.read
    .select()
    .from(observedHours)
    .where(gte(observedHours.at, clock.now() - ms - hour))
    .orderBy(asc(observedHours.at))
    .limit(observedHoursMs / hour + 1)
  return rows.map(({ at, traffic, totals }) => ({ at, traffic, totals: toTotals(totals) }))
}
