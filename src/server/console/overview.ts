import { countByQueue } from '../../jobs/jobs.ts'
import { html, type Part } from '../../kernel/html.ts'
import { toCredits, toUsd } from '../../kernel/money.ts'
import { listDailyIncome, readTotals } from '../../money/ledger/totals.ts'
import { countAgents } from '../../people/agents/listing.ts'
import { countPeople } from '../../people/listing.ts'
import { spendingChart } from '../../site/chart.ts'
import { section, statList } from '../../site/components.ts'
import {
  formatBytes,
  formatCompact,
  formatDollars,
  renderCredits,
  renderDateTime,
} from '../../site/format.ts'
import type { Page } from '../../site/layout.ts'
import type { UserRequest } from '../../site/session.ts'
import type { AppContext } from '../context.ts'
import { listMetrics, type MetricsPoint } from '../operator/metrics-history.ts'
import type { Collected } from '../operator/servers/server-report.ts'
import {
  type ServerState,
  serverStates,
  type SharedHealth,
  sumHealth,
} from '../operator/servers/server-states.ts'
import { checklist } from './checklist.ts'
import { consolePage } from './components.ts'
import { healthLine } from './health-line.ts'
import { rangePicker, readRange, trafficRanges } from './ranges.ts'
import { hasSeveral, serverSection, silentNote } from './servers.ts'
import { timeChart } from './time-chart.ts'

const daysShown = 30
const place = '/console'

/** Renders the current state, and the traffic of a span of time. */
export async function overviewPage({ ctx, query, token }: UserRequest): Promise<Page> {
  const states = await serverStates.collect(ctx, null)
  const startedAt = Math.min(...states.reports.map(({ value }) => value.startedAt))
  const range = readRange(query, trafficRanges, ctx.clock.now() - startedAt)
  const upstreams = sumHealth(states)
  const [setup, health, points, stats, days] = await Promise.all([
    checklist(ctx, token),
    healthLine(ctx, upstreams),
    listMetrics(ctx, range),
    getStats(ctx, upstreams),
    listDailyIncome(ctx, daysShown),
  ])
  const main = html`${setup}<auto-refresh data-seconds="10"
      >${silentNote(states)} ${health} ${rangePicker(place, trafficRanges, range)}
      <div class="charts">${charts(points)}</div>
      ${
        hasSeveral(states) &&
        html`<p class="small below">
          All charts are of all servers: free disk space is the least, and event-loop lag the
          longest of any.
        </p>`
      }
      ${statList([...stats, ...ownStats(states)])} ${serverSection(states)}</auto-refresh
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
  const shown = points.map((point) => ({ ...point, income: toCredits(point.income) }))
  const line = (
    name: string,
    color: 'accent' | 'warm' | 'danger' | 'quiet',
    of: keyof MetricsPoint,
  ) => ({ name, color, values: shown.map((one) => one[of]) })
  const chart = (
    title: string,
    unit: Parameters<typeof timeChart>[0]['unit'],
    ...lines: ReturnType<typeof line>[]
  ) => timeChart({ title, unit, times, lines })
  return [
    chart('Requests', '/s', line('Requests', 'accent', 'requestsPerSecond')),
    chart('Latency', 'ms', line('p95', 'warm', 'p95'), line('p50', 'accent', 'p50')),
    chart(
      'Errors',
      '%',
      line('5xx', 'danger', 'serverErrorPercent'),
      line('4xx', 'quiet', 'clientErrorPercent'),
    ),
    chart('Income', 'cr', line('Income', 'accent', 'income')),
    chart('Jobs', '', line('Jobs', 'accent', 'jobs')),
    chart('Free disk space', 'bytes', line('Free', 'accent', 'free')),
    chart('Event-loop lag', 'ms', line('Lag', 'warm', 'lateMs')),
    chart('Upstream failures', '', line('Failures', 'danger', 'upstreamErrors')),
  ]
}

type Stats = [name: string, value: Part][]

async function getStats(ctx: AppContext, upstreams: SharedHealth[]): Promise<Stats> {
  const [{ balance, held }, jobs, agents, people, problem] = await Promise.all([
    readTotals(ctx),
    countByQueue(ctx),
    countAgents(ctx),
    countPeople(ctx),
    ctx.storage.problem(),
  ])
  const paused = upstreams.filter(({ state }) => state !== 'closed').length
  const open = (state: string) =>
    jobs.reduce((sum, one) => sum + (one.state === state ? one.count : 0), 0)
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
      html`${renderCredits(balance)} credits
        <span class="small">${formatDollars(toUsd(balance))}</span>`,
    ],
    ['On hold', html`${renderCredits(held)} credits`],
    ...filesState(ctx, problem),
  ]
}

/** Renders the state of the only server. A table has those of several. */
function ownStats(states: Collected<ServerState>): Stats {
  const [own] = states.reports
  if (!own || hasSeveral(states)) return []
  return [
    ['Memory', formatBytes(own.value.memory)],
    ['Up since', renderDateTime(own.value.startedAt)],
    ['Version', own.value.version],
  ]
}

/** Renders the state of the bucket; nothing where files are in the data folder. */
function filesState({ config: { s3Bucket } }: AppContext, problem: string | undefined): Stats {
  if (s3Bucket === '') return []
  return [['Files', problem === undefined ? `In bucket ${s3Bucket}` : `Unavailable: ${problem}`]]
}
