import { type Nano, nano } from '../core/money.ts'
import { onceFor } from '../core/once.ts'
import { hour, minute, second, stopwatch } from '../core/time.ts'
import type { House } from '../house.ts'
import { totals } from '../ledger/totals.ts'

/** How far back the console's graphs look. */
export const shownMs = 3 * hour
const samplesMax = shownMs / minute + 1

/** How the house stood at a moment. What is counted, is counted since the start. */
export interface Sample {
  requests: number
  /** Answers of 500 and more. */
  errors: number
  upstreamErrors: number
  /** What the house was paid, in Nano. */
  income: Nano
  jobs: number
  /** Bytes. */
  free: number
  /** How late a timer came at worst since the sample before, in milliseconds. */
  lateMs: number
}

interface Kept {
  samples: Sample[]
  /** When the last beat was, by the stopwatch. */
  beat: number
  lateMs: number
}

const keptOf = onceFor((_house: House): Kept => ({ samples: [], beat: stopwatch(), lateMs: 0 }))

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

async function sampleNow(house: House): Promise<Sample> {
  return {
    requests: house.traffic.total(),
    errors: house.traffic.total('5xx'),
    upstreamErrors: sum(house.upstreams.health().map(({ failures }) => failures)),
    income: (await totals(house)).income,
    jobs: sum(house.jobs.ended().map(({ count }) => count)),
    free: house.store.free(),
    lateMs: keptOf(house).lateMs,
  }
}

/** Keeps how the house stands now, for three hours. Called once a minute. */
export async function measure(house: House): Promise<void> {
  const kept = keptOf(house)
  kept.samples.push(await sampleNow(house))
  kept.samples.splice(0, kept.samples.length - samplesMax)
  kept.lateMs = 0
}

/** Notices how late the event loop is: called once a second. */
export async function beat(house: House): Promise<void> {
  const kept = keptOf(house)
  const now = stopwatch()
  kept.lateMs = Math.max(kept.lateMs, now - kept.beat - second)
  kept.beat = now
}

/** How late a timer came at worst in the last minute or two, in milliseconds. */
export const lateMs = (house: House): number => {
  const { samples, lateMs: now } = keptOf(house)
  return Math.max(now, samples.at(-1)?.lateMs ?? 0)
}

/** What was counted in one minute alone, or in what has gone by of the newest. */
export type Minute = Sample

/** The minutes of the last three hours that were measured, oldest first; the last is under way. */
export async function minutesOf(house: House): Promise<Minute[]> {
  const samples = [...keptOf(house).samples, await sampleNow(house)]
  return samples.slice(1).map((sample, at) => {
    const before = samples[at] ?? sample
    return {
      ...sample,
      requests: sample.requests - before.requests,
      errors: sample.errors - before.errors,
      upstreamErrors: sample.upstreamErrors - before.upstreamErrors,
      income: nano(sample.income - before.income),
      jobs: sample.jobs - before.jobs,
    }
  })
}
