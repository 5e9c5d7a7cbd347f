import type { AppContext } from '../context.ts'
import { nano, type NanoUsd } from '../core/money.ts'
import { minute, second } from '../core/time.ts'
import { readTotals } from '../ledger/totals.ts'
import type { Sample } from '../state/metrics-history.ts'
import { readObservations } from '../state/shared-observations.ts'

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

/** Adds a sample of the current metrics to the history. A timer calls it once a minute. */
export async function recordMetrics(ctx: AppContext): Promise<void> {
  ctx.state.metricsHistory.add(await takeSample(ctx))
}

/** A span of time in a graph. Counts are those of the span. */
export interface MetricsPoint {
  /** Its end, in milliseconds since 1970. */
  at: number
  requestsPerSecond: number
  clientErrorPercent: number
  serverErrorPercent: number
  p50: number | undefined
  p95: number | undefined
  upstreamErrors: number
  income: NanoUsd
  jobs: number
  free: number | undefined
  lateMs: number | undefined
}

/**
 * Returns the metrics of the last `ms` milliseconds in at most `points` spans, oldest first, from
 * the first measurement on. The last span is not over.
 */
export async function listMetrics(
  ctx: AppContext,
  { ms, points }: { ms: number; points: number },
): Promise<MetricsPoint[]> {
  const samples = [...ctx.state.metricsHistory.samples, await takeSample(ctx)]
  const now = ctx.clock.now()
  const spanMs = ms / points
  const traffic = (await readObservations(ctx, 'parts', ms)).history(ms, points)
  // The newest minute has just begun: its rate is that of the part that is over.
  const lastSeconds = Math.max(10, (spanMs - minute + (now % minute)) / second)
  const all = traffic.map((stats, index): MetricsPoint => {
    const isLast = index === points - 1
    const at = now - (points - 1 - index) * spanMs
    const own = samplesIn(samples, at - spanMs, at)
    const before = samples.findLast((one) => one.at <= at - spanMs)
    const [first, last] = [before ?? own[0], own.at(-1)]
    const percent = (count: number): number => (count / Math.max(1, stats.count)) * 100
    return {
      at,
      requestsPerSecond: stats.count / (isLast ? lastSeconds : spanMs / second),
      clientErrorPercent: percent(stats.clientErrors),
      serverErrorPercent: percent(stats.serverErrors),
      p50: stats.p50,
      p95: stats.p95,
      upstreamErrors: (last?.upstreamErrors ?? 0) - (first?.upstreamErrors ?? 0),
      income: nano((last?.income ?? 0n) - (first?.income ?? 0n)),
      jobs: (last?.jobs ?? 0) - (first?.jobs ?? 0),
      free: last?.free,
      lateMs: own.length > 0 ? Math.max(...own.map(({ lateMs }) => lateMs)) : undefined,
    }
  })
  const start = samples[0]?.at ?? now
  return all.filter((point) => point.at > start || point.requestsPerSecond > 0)
}

const samplesIn = (samples: Sample[], from: number, to: number): Sample[] =>
  samples.filter(({ at }) => at > from && at <= to)
