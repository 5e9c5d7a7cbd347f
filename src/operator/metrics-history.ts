import type { AppContext } from '../context.ts'
import { nano, type NanoUsd } from '../core/money.ts'
import { onceFor } from '../core/once.ts'
import { hour, minute, second, stopwatch } from '../core/time.ts'
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
  income: NanoUsd
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

const keptOf = onceFor((_house: AppContext): Kept => ({
  samples: [],
  beat: stopwatch(),
  lateMs: 0,
}))

const sum = (numbers: number[]): number => numbers.reduce((all, one) => all + one, 0)

async function sampleNow(ctx: AppContext): Promise<Sample> {
  return {
    requests: ctx.traffic.total(),
    errors: ctx.traffic.total('5xx'),
    upstreamErrors: sum(ctx.upstreams.health().map(({ failures }) => failures)),
    income: (await totals(ctx)).income,
    jobs: sum(ctx.jobs.ended().map(({ count }) => count)),
    free: ctx.storage.free(),
    lateMs: keptOf(ctx).lateMs,
  }
}

/** Keeps how the house stands now, for three hours. Called once a minute. */
export async function measure(ctx: AppContext): Promise<void> {
  const kept = keptOf(ctx)
  kept.samples.push(await sampleNow(ctx))
  kept.samples.splice(0, kept.samples.length - samplesMax)
  kept.lateMs = 0
}

/** Notices how late the event loop is: called once a second. */
export async function beat(ctx: AppContext): Promise<void> {
  const kept = keptOf(ctx)
  const now = stopwatch()
  kept.lateMs = Math.max(kept.lateMs, now - kept.beat - second)
  kept.beat = now
}

/** How late a timer came at worst in the last minute or two, in milliseconds. */
export const lateMs = (ctx: AppContext): number => {
  const { samples, lateMs: now } = keptOf(ctx)
  return Math.max(now, samples.at(-1)?.lateMs ?? 0)
}

/** What was counted in one minute alone, or in what has gone by of the newest. */
export type Minute = Sample

/** The minutes of the last three hours that were measured, oldest first; the last is under way. */
export async function minutesOf(ctx: AppContext): Promise<Minute[]> {
  const samples = [...keptOf(ctx).samples, await sampleNow(ctx)]
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
