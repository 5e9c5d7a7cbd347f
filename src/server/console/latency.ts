import { html, type Part } from '../../kernel/html.ts'
import type { Latencies, LatencyStats } from '../../kernel/latencies.ts'
import { readObservations } from '../../kernel/state/observations.ts'
import { t } from '../../kernel/words/message.ts'
import { withQuery } from '../../site/components.ts'
import { formatCompact } from '../../site/format.ts'
import type { Page } from '../../site/layout.ts'
import { type Column, tableSection, usual } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { historyStart } from '../operator/metrics-history.ts'
import { consolePage } from './components.ts'
import { formatUnit, rangePicker, readRange, trafficRanges } from './time-chart.ts'

/** Rows of each table, at first and on request. */
const [rowsShown, rowsMax] = [10, 50]
const place = '/console/latency'

interface LabeledStats extends LatencyStats {
  label: string
}

/** Lists the labels with measurements in a span, the busiest first. */
export const busiest = (latencies: Latencies, ms: number): LabeledStats[] =>
  latencies
    .labels()
    .map((label) => ({ label, ...latencies.stats(label, ms) }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count)

const slowest = (latencies: Latencies, ms: number): LabeledStats[] =>
  busiest(latencies, ms).toSorted((a, b) => (b.p95 ?? 0) - (a.p95 ?? 0))

const time = (ms: number | undefined): string => (ms === undefined ? '–' : formatUnit(ms, 'ms'))

const percentiles = ({ p50, p95, p99 }: LatencyStats): Part[] => [time(p50), time(p95), time(p99)]

const columns = (label: string, count: string, failures: string[]): Column[] => [
  { long: label },
  { number: count },
  { number: 'p50' },
  { number: 'p95', onPhone: 'figure' },
  ...['p99', ...failures].map((number) => ({ number })),
]

const routeLink = (label: string): Part => {
  const route = label.slice(label.indexOf(' ') + 1)
  const address = withQuery('/console/requests', { route: label === 'other' ? '' : route })
  return html`<a href="${address}"><code>${label}</code></a>`
}

const countCell = (count: number) => (count === 0 ? usual('0') : formatCompact(count))

/** Renders percentiles by route, model and upstream. */
export async function latencyPage({ ctx, query }: UserRequest): Promise<Page> {
  const age = ctx.clock.now() - (await historyStart(ctx))
  const range = readRange(query, trafficRanges, age)
  const read = (name: 'routes' | 'models' | 'upstreams' | 'firstBytes') =>
    readObservations(ctx, name, range.ms)
  const [routes, models] = [await read('routes'), await read('models')]
  const [upstreams, firstBytes] = [await read('upstreams'), await read('firstBytes')]
  const max = query.has('all') ? rowsMax : rowsShown
  const ofRoutes = slowest(routes, range.ms)
    .slice(0, max)
    .map((one) => [
      routeLink(one.label),
      formatCompact(one.count),
      ...percentiles(one),
      countCell(one.clientErrors),
      countCell(one.serverErrors),
    ])
  const ofCalls = (all: Latencies, extra?: (label: string) => Part[]) =>
    slowest(all, range.ms)
      .slice(0, max)
      .map((one) => [
        html`<code>${one.label}</code>`,
        formatCompact(one.count),
        ...percentiles(one),
        ...(extra?.(one.label) ?? []),
        countCell(one.serverErrors),
      ])
  const firstByte = (label: string): Part[] => {
    const { p50, p95 } = firstBytes.stats(label, range.ms)
    return [time(p50), time(p95)]
  }
  const none = t('No calls in this time.')
  const more = (all: Latencies): Part =>
    max < rowsMax &&
    busiest(all, range.ms).length > max &&
    html`<p class="actions">
      <a class="button quiet slim" href="${withQuery(place, { range: range.name, all: 'yes' })}"
        >Show more</a
      >
    </p>`
  const main = html`${rangePicker(place, trafficRanges, range)}
    <auto-refresh data-seconds="10"
      >${tableSection(t('Routes'), columns(t('Route'), t('Requests'), ['4xx', '5xx']), ofRoutes, t('No requests in this time.'))}
      ${more(routes)}
      ${tableSection(t('Models'), columns(t('Model'), t('Calls'), [t('First byte p50'), t('First byte p95'), t('Failed')]), ofCalls(models, firstByte), none)}
      ${more(models)}
      ${tableSection(t('Upstreams'), columns(t('Upstream'), t('Calls'), [t('Failed')]), ofCalls(upstreams), none)}
      ${more(upstreams)}</auto-refresh
    >
    <p class="small below">
      Times of routes are until the response began, those of models and upstreams until the end of
      each attempt at an upstream, without those that the client canceled. They are measured in
      windows of ten minutes, on all servers together where several share a database. Percentiles
      are exact to 13 %.
    </p>`
  const lead = t('The slowest first, by the time that 95 % of the calls stay below.')
  return consolePage({ place, title: t('Latency'), lead, main, scripts: ['auto-refresh.js'] })
}
