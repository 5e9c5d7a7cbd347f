import type { AppContext } from '../context.ts'
import { nano } from '../core/money.ts'
import { readTotals } from '../ledger/totals.ts'
import type { Sample } from '../state/metrics-history.ts'

async function takeSample(ctx: AppContext): Promise<Sample> {
  const { traffic, metricsHistory } = ctx.state
  return {
    requests: traffic.total(),
    errors: traffic.total('5xx'),
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

/**
 * Returns the metrics of each minute in the last three hours, oldest first. Counters are counts of
 * that minute; the last minute is not over.
 */
export async function metricsByMinute(ctx: AppContext): Promise<Sample[]> {
  const samples = [...ctx.state.metricsHistory.samples, await takeSample(ctx)]
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
