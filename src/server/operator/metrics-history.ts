import { nano, type NanoUsd } from '../../kernel/money.ts'
import type { Sample } from '../../kernel/state/metrics-history.ts'
import { readObservations } from '../../kernel/state/shared-observations.ts'
import { readSamples, shareSample } from '../../kernel/state/shared-samples.ts'
import { minute, second } from '../../kernel/time.ts'
import { readTotals } from '../../money/ledger/totals.ts'
import type { AppContext } from '../context.ts'

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
  const sample = await takeSample(ctx)
  ctx.state.metricsHistory.add(sample)
  await shareSample(ctx, sample)
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
  /** The least of all servers. */
  free: number | undefined
  /** The longest of all servers. */
  lateMs: number | undefined
}

/**
 * Returns the metrics of all servers in the last `ms` milliseconds in at most `points` spans,
 * oldest first, from the first measurement on. The last span is not over.
 */
export async function listMetrics(
  ctx: AppContext,
  { ms, points }: { ms: number; points: number },
): Promise<MetricsPoint[]> {
  const [own, ...others] = await readSamples(ctx, ms)
  const servers = [[...own, await takeSample(ctx)], ...others]
  const now = ctx.clock.now()
  const spanMs = ms / points
  const traffic = (await readObservations(ctx, 'parts', ms)).history(ms, points)
  // The newest minute has just begun: its rate is that of the part that is over.
  const lastSeconds = Math.max(10, (spanMs - minute + (now % minute)) / second)
  // All servers read the same income.
  const incomes = servers.flat().toSorted((a, b) => a.at - b.at)
  const all = traffic.map((stats, index): MetricsPoint => {
    const isLast = index === points - 1
    const at = now - (points - 1 - index) * spanMs
    const span = { from: at - spanMs, to: at }
    const inSpan = servers.map((samples) => samplesIn(samples, span))
    const free = inSpan.flatMap((samples) => samples.at(-1)?.free ?? [])
    const late = inSpan.flat().map(({ lateMs }) => lateMs)
    const ends = servers.flatMap((samples) => endsOf(samples, span))
    const growth = (name: 'upstreamErrors' | 'jobs'): number =>
      ends.reduce((sum, { first, last }) => sum + last[name] - first[name], 0)
    const [income] = endsOf(incomes, span)
    const percent = (count: number): number => (count / Math.max(1, stats.count)) * 100
    return {
      at,
      requestsPerSecond: stats.count / (isLast ? lastSeconds : spanMs / second),
      clientErrorPercent: percent(stats.clientErrors),
      serverErrorPercent: percent(stats.serverErrors),
      p50: stats.p50,
      p95: stats.p95,
      upstreamErrors: growth('upstreamErrors'),
      income: nano(income ? income.last.income - income.first.income : 0n),
      jobs: growth('jobs'),
      free: free.length > 0 ? Math.min(...free) : undefined,
      lateMs: late.length > 0 ? Math.max(...late) : undefined,
    }
  })
  const start = incomes[0]?.at ?? now
  return all.filter((point) => point.at > start || point.requestsPerSecond > 0)
}

interface Span {
  from: number
  to: number
}

const samplesIn = (samples: Sample[], { from, to }: Span): Sample[] =>
  samples.filter(({ at }) => at > from && at <= to)

/** Returns the samples between which counters grew in a span; none without a sample in it. */
function endsOf(samples: Sample[], span: Span): { first: Sample; last: Sample }[] {
  const inSpan = samplesIn(samples, span)
  const last = inSpan.at(-1)
  const first = samples.findLast(({ at }) => at <= span.from) ?? inSpan[0]
  return first && last ? [{ first, last }] : []
}
