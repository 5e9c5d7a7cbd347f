import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/html.ts'
import { toCredits, toUsd } from '../../core/money.ts'
import { second } from '../../core/time.ts'
import { listOtherProcesses } from '../../db/replicas/process.ts'
import { countAgents } from '../../hosting/agents/listing.ts'
import { countPeople } from '../../hosting/people/listing.ts'
import { countByQueue } from '../../jobs/jobs.ts'
import { listDailyIncome, readTotals } from '../../ledger/totals.ts'
import { listMetrics, type MetricsPoint } from '../../operator/metrics-history.ts'
import { version } from '../../version.ts'
import { spendingChart } from '../chart.ts'
import { section, statList } from '../components.ts'
import { formatBytes, formatCompact, renderDateTime, shortCredits } from '../format.ts'
import type { Page } from '../layout.ts'
import type { UserRequest } from '../session.ts'
import { checklist } from './checklist.ts'
import { consolePage } from './components.ts'
import { healthLine } from './health-line.ts'
import { rangePicker, readRange, trafficRanges } from './ranges.ts'
import { timeChart } from './time-chart.ts'

const daysShown = 30
const place = '/console'

const uptimeMs = (): number => process.uptime() * second

/** Renders the current state, and the traffic of a span of time. */
export async function overviewPage({ ctx, query, token }: UserRequest): Promise<Page> {
  const range = readRange(query, trafficRanges, uptimeMs())
  const [setup, health, points, stats, days, others] = await Promise.all([
    checklist(ctx, token),
    healthLine(ctx),
    listMetrics(ctx, range),
    getStats(ctx),
    listDailyIncome(ctx, daysShown),
    listOtherProcesses(ctx.db.read),
  ])
  const servers = others.length + 1
  const main = html`${setup}<auto-refresh data-seconds="10"
      >${health} ${rangePicker(place, trafficRanges, range)}
      <div class="charts">${charts(points)}</div>
      ${
        servers > 1 &&
        html`<p class="small">
          Requests, latency, errors and income are of all ${servers} servers. Jobs, disk space,
          event-loop lag, upstream failures, memory and uptime are of the server that answered.
        </p>`
      }
      ${statList([...stats, ...(servers > 1 ? [['Servers', formatCompact(servers)] as const] : [])])}</auto-refresh
    >
    ${section(
      'Income by day',
      html`<p class="small">Income of this server, without the makers’ shares of remixes.</p>
        ${spendingChart(days)}`,
    )}`
  return consolePage({
    place,
    title: 'Overview',
    main,
    scripts: ['auto-refresh.js', 'time-chart.js'],
  })
}

function charts(points: MetricsPoint[]): Part {
  const times = points.map(({ at }) => at)
  const line = (
    name: string,
    color: 'accent' | 'warm' | 'danger' | 'quiet',
    of: (point: MetricsPoint) => number | undefined,
  ) => ({ name, color, values: points.map(of) })
  const chart = (
    title: string,
    unit: Parameters<typeof timeChart>[0]['unit'],
    ...lines: ReturnType<typeof line>[]
  ) => timeChart({ title, unit, times, lines })
  return [
    chart(
      'Requests',
      '/s',
      line('Requests', 'accent', (one) => one.requestsPerSecond),
    ),
    chart(
      'Latency',
      'ms',
      line('p95', 'warm', (one) => one.p95),
      line('p50', 'accent', (one) => one.p50),
    ),
    chart(
      'Errors',
      '%',
      line('5xx', 'danger', (one) => one.serverErrorPercent),
      line('4xx', 'quiet', (one) => one.clientErrorPercent),
    ),
    chart(
      'Income',
      'cr',
      line('Income', 'accent', (one) => toCredits(one.income)),
    ),
    chart(
      'Jobs',
      '',
      line('Jobs', 'accent', (one) => one.jobs),
    ),
    chart(
      'Free disk space',
      'bytes',
      line('Free', 'accent', (one) => one.free),
    ),
    chart(
      'Event-loop lag',
      'ms',
      line('Lag', 'warm', (one) => one.lateMs),
    ),
    chart(
      'Upstream failures',
      '',
      line('Failures', 'danger', (one) => one.upstreamErrors),
    ),
  ]
}

async function getStats(ctx: AppContext): Promise<[name: string, value: Part][]> {
  const [{ balance, held }, jobs, agents, people, problem] = await Promise.all([
    readTotals(ctx),
    countByQueue(ctx),
    countAgents(ctx),
    countPeople(ctx),
    ctx.storage.problem(),
  ])
  const upstreams = ctx.upstreams.health()
  const paused = upstreams.filter(({ state }) => state !== 'closed').length
  const open = (state: string) =>
    jobs.reduce((sum, one) => sum + (one.state === state ? one.count : 0), 0)
  const began = ctx.clock.now() - uptimeMs()
  return [
    [
      'Upstreams',
      html`<a href="/console/upstreams">${upstreams.length}, ${paused || 'none'} paused</a>`,
    ],
    ['Jobs', `${formatCompact(open('running'))} running, ${formatCompact(open('queued'))} queued`],
    ['Agents', html`<a href="/console/agents">${formatCompact(agents)}</a>`],
    ['People', html`<a href="/console/people">${formatCompact(people)}</a>`],
    [
      'Total balance',
      html`${shortCredits(toCredits(balance))} credits
        <span class="small">$${shortCredits(toUsd(balance))}</span>`,
    ],
    ['On hold', `${shortCredits(toCredits(held))} credits`],
    ...filesState(ctx, problem),
    ['Memory', formatBytes(process.memoryUsage.rss())],
    ['Up since', renderDateTime(began)],
    ['Version', version],
  ]
}

/** Renders the state of the bucket; nothing where files are in the data folder. */
function filesState(
  { config: { s3Bucket } }: AppContext,
  problem: string | undefined,
): [name: string, value: Part][] {
  if (s3Bucket === '') return []
  return [['Files', problem === undefined ? `In bucket ${s3Bucket}` : `Unavailable: ${problem}`]]
}
