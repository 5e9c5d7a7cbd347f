import type { AppContext } from '../../kernel/context.ts'
import { isWriteUnavailable } from '../../kernel/db/error.ts'
import type { LatencyStats, LatencyWindow } from '../../kernel/latencies.ts'
import { nano, type NanoUsd } from '../../kernel/money.ts'
import {
  findOldestSample,
  readSamples,
  type Sample,
  shareSample,
} from '../../kernel/state/metrics-history.ts'
import {
  findNewestHour,
  hourlyLatencies,
  type ObservedHour,
  observedMs,
  readHours,
  readObservations,
  readWindows,
  shareObservations,
  type Totals,
  writeHours,
} from '../../kernel/state/observations.ts'
import { day, hour, minute, second } from '../../kernel/time.ts'
import { readTotals } from '../../money/ledger/reports.ts'

async function takeSample(ctx: AppContext): Promise<Sample> {
  const { metricsHistory } = ctx.state
  return {
    at: ctx.clock.now(),
    upstreamErrors: ctx.upstreams.health().reduce((sum, { failures }) => sum + failures, 0),
    income: (await readTotals(ctx)).income,
    jobs: ctx.jobs.ended().reduce((sum, { count }) => sum + count, 0),
    free: ctx.storage.free(),
    lateMs: metricsHistory.lateMs,
  }
}

/**
 * Adds a sample of the current metrics to the history, and writes it with the newest traffic. A
 * timer calls it once a minute. A full disk keeps both in memory only.
 */
export async function recordMetrics(ctx: AppContext): Promise<void> {
  const sample = await takeSample(ctx)
  ctx.state.metricsHistory.add(sample)
  try {
    await shareSample(ctx, sample)
    await shareObservations(ctx)
  } catch (error) {
    if (!isWriteUnavailable(error)) throw error
  }
}

/** Returns since when the history of the last day has measurements. */
export const historyStart = async (ctx: AppContext): Promise<number> =>
  (await findOldestSample(ctx)) ?? ctx.clock.now()

/** A span of time in a graph. Counts are those of the span. */
export interface MetricsPoint extends Totals {
  /** Its end, in milliseconds since 1970. */
  at: number
  requestsPerSecond: number
  clientErrorPercent: number
  serverErrorPercent: number
  p50: number | undefined
  p95: number | undefined
}

/** A range of a chart: at most `points` spans in the last `ms` milliseconds. */
interface ChartRange {
  ms: number
  points: number
}

/**
 * Returns the metrics of all servers, oldest first, from the first measurement on: by minutes for a
 * day, and by hours for 90 days. The last span is not over.
 */
export const listMetrics = (ctx: AppContext, range: ChartRange): Promise<MetricsPoint[]> =>
  range.ms <= observedMs ? listByMinutes(ctx, range) : listByHours(ctx, range)

async function listByMinutes(ctx: AppContext, { ms, points }: ChartRange) {
  const samples = await SampleHistory.read(ctx, ms)
  const now = ctx.clock.now()
  const spanMs = ms / points
  const traffic = (await readObservations(ctx, 'parts', ms)).history(ms, points)
  // The newest minute has just begun: its rate is that of the part that is over.
  const lastSeconds = Math.max(10, (spanMs - minute + (now % minute)) / second)
  const all = traffic.map((stats, index) => {
    const at = now - (points - 1 - index) * spanMs
    const seconds = index === points - 1 ? lastSeconds : spanMs / second
    return toPoint(at, { stats, seconds, totals: samples.totalsIn({ from: at - spanMs, to: at }) })
  })
  return all.filter((point) => point.at > samples.start || point.requestsPerSecond > 0)
}

/** Spans begin with whole hours. The hours that are not written yet are those of the windows. */
async function listByHours(ctx: AppContext, { ms, points }: ChartRange) {
  const [written, newest] = [await readHours(ctx, ms), await collectHours(ctx, 'all')]
  const known = new Set(written.map(({ at }) => at))
  const hours = [...written, ...newest.filter(({ at }) => !known.has(at))]
  const windows = hours.map(({ at, traffic }): LatencyWindow => ({ at, counts: traffic }))
  const traffic = hourlyLatencies(ctx.clock).sumOf(windows).history(ms, points)
  const now = ctx.clock.now()
  const spanMs = ms / points
  const end = now - (now % hour) + hour
  const lastSeconds = Math.max(10, (spanMs - (end - now)) / second)
  const all = traffic.map((stats, index) => {
    const to = end - (points - 1 - index) * spanMs
    const inSpan = hours.filter(({ at }) => at >= to - spanMs && at < to)
    const isLast = index === points - 1
    const seconds = isLast ? lastSeconds : spanMs / second
    return toPoint(isLast ? now : to, {
      stats,
      seconds,
      totals: sumTotals(inSpan.map(({ totals }) => totals)),
    })
  })
  const start = hours[0]?.at ?? now
  return all.filter((point) => point.at > start)
}

/** The time until the last measurements of an hour are written. */
const settleMs = 2 * minute

/** Writes the hours that are over, for the charts of 90 days. One server does it. */
export async function recordHours(ctx: AppContext): Promise<void> {
  const hours = await collectHours(ctx, 'unwritten')
  const isOver = ({ at }: ObservedHour): boolean => at + hour + settleMs <= ctx.clock.now()
  const over = hours.filter(isOver)
  if (over.length > 0) await writeHours(ctx, over)
}

/** Adds up the windows of the last day by hours: all, or those after the newest written one. */
async function collectHours(ctx: AppContext, which: 'all' | 'unwritten'): Promise<ObservedHour[]> {
  const now = ctx.clock.now()
  const newest = which === 'all' ? undefined : await findNewestHour(ctx)
  // The oldest hour of the day may have lost windows.
  const oldest = now - (now % hour) - day + hour
  const first = newest === undefined ? oldest : Math.max(newest + hour, oldest)
  if (first > now) return []
  const samples = await SampleHistory.read(ctx, observedMs)
  const windows = await readWindows(ctx, 'parts', observedMs)
  const traffic = hourlyLatencies(ctx.clock).sumOf(windows).windowsSince(first)
  const counts = new Map(traffic.map((window) => [window.at, window.counts]))
  const hours: ObservedHour[] = []
  for (let at = first; at <= now; at += hour) {
    const totals = samples.totalsIn({ from: at, to: at + hour })
    const found = counts.get(at)
    if (found || totals.free !== undefined) hours.push({ at, traffic: found ?? {}, totals })
  }
  return hours
}

function toPoint(
  at: number,
  { stats, seconds, totals }: { stats: LatencyStats; seconds: number; totals: Totals },
): MetricsPoint {
  const percent = (count: number): number => (count / Math.max(1, stats.count)) * 100
  return {
    at,
    requestsPerSecond: stats.count / seconds,
    clientErrorPercent: percent(stats.clientErrors),
    serverErrorPercent: percent(stats.serverErrors),
    p50: stats.p50,
    p95: stats.p95,
    ...totals,
  }
}

const sumTotals = (all: Totals[]): Totals => ({
  upstreamErrors: all.reduce((sum, one) => sum + one.upstreamErrors, 0),
  income: nano(all.reduce((sum, one) => sum + one.income, 0n)),
  jobs: all.reduce((sum, one) => sum + one.jobs, 0),
  free: least(all.flatMap(({ free }) => free ?? [])),
  lateMs: most(all.flatMap(({ lateMs }) => lateMs ?? [])),
})

const least = (all: number[]): number | undefined => (all.length > 0 ? Math.min(...all) : undefined)
const most = (all: number[]): number | undefined => (all.length > 0 ? Math.max(...all) : undefined)

interface Span {
  from: number
  to: number
}

/** Samples of all servers, whose counters grow. */
class SampleHistory {
  /** All servers read the same income. */
  private readonly incomes: Sample[]

  private constructor(
    private readonly servers: Sample[][],
    now: number,
  ) {
    this.incomes = servers.flat().toSorted((a, b) => a.at - b.at)
    this.start = this.incomes[0]?.at ?? now
  }

  /** The time of the first sample. */
  readonly start: number

  static async read(ctx: AppContext, ms: number): Promise<SampleHistory> {
    const [own, ...others] = await readSamples(ctx, ms)
    return new SampleHistory([[...own, await takeSample(ctx)], ...others], ctx.clock.now())
  }

  totalsIn(span: Span): Totals {
    const inSpan = this.servers.map((samples) => samplesIn(samples, span))
    const ends = this.servers.flatMap((samples) => endsOf(samples, span))
    const growth = (name: 'upstreamErrors' | 'jobs'): number =>
      ends.reduce((sum, { first, last }) => sum + last[name] - first[name], 0)
    const [income] = endsOf(this.incomes, span)
    return {
      upstreamErrors: growth('upstreamErrors'),
      income: incomeBetween(income),
      jobs: growth('jobs'),
      free: least(inSpan.flatMap((samples) => samples.at(-1)?.free ?? [])),
      lateMs: most(inSpan.flat().map(({ lateMs }) => lateMs)),
    }
  }
}

const incomeBetween = (ends: { first: Sample; last: Sample } | undefined): NanoUsd =>
  nano(ends ? ends.last.income - ends.first.income : 0n)

const samplesIn = (samples: Sample[], { from, to }: Span): Sample[] =>
  samples.filter(({ at }) => at > from && at <= to)

/** Returns the samples between which counters grew in a span; none without a sample in it. */
function endsOf(samples: Sample[], span: Span): { first: Sample; last: Sample }[] {
  const inSpan = samplesIn(samples, span)
  const last = inSpan.at(-1)
  const first = samples.findLast(({ at }) => at <= span.from) ?? inSpan[0]
  return first && last ? [{ first, last }] : []
}
