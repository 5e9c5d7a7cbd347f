import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/html.ts'
import { toCredits, toUsd } from '../../core/money.ts'
import { second } from '../../core/time.ts'
import { countAgents } from '../../hosting/agents/listing.ts'
import { countPeople } from '../../hosting/people/listing.ts'
import { countByQueue } from '../../jobs/jobs.ts'
import { listDailyIncome, readTotals } from '../../ledger/totals.ts'
import { listOpenCases } from '../../operator/cases.ts'
import { metricsByMinute } from '../../operator/metrics-history.ts'
import { version } from '../../version.ts'
import { spendingChart } from '../chart.ts'
import { section, statList } from '../components.ts'
import { formatBytes, formatCompact, formatCount, renderDateTime, shortCredits } from '../format.ts'
import type { Page } from '../layout.ts'
import { consolePage } from './components.ts'
import { graph } from './graph.ts'

const daysShown = 30

/** Renders the current state and the last three hours. */
export async function overviewPage(ctx: AppContext): Promise<Page> {
  const [minutes, facts, days] = await Promise.all([
    metricsByMinute(ctx),
    getStats(ctx),
    listDailyIncome(ctx, daysShown),
  ])
  const count = (noun: string) => (value: number) => formatCount(value, noun)
  const credits = (value: number) => `${shortCredits(value)} credits`
  const main = html`<auto-refresh data-seconds="5">
      ${statList(facts)}
      <div class="graphs">
        ${graph({ title: 'Requests per minute', valueOf: (one) => one.requests, format: count('request'), formatTotal: formatCompact }, minutes)}
        ${graph({ title: 'Errors per minute', valueOf: (one) => one.errors + one.upstreamErrors, format: count('error'), formatTotal: formatCompact, bad: true }, minutes)}
        ${graph({ title: 'Income per minute', valueOf: (one) => toCredits(one.income), format: credits, formatTotal: shortCredits }, minutes)}
        ${graph({ title: 'Jobs per minute', valueOf: (one) => one.jobs, format: count('job'), formatTotal: formatCompact }, minutes)}
        ${graph({ title: 'Free disk space', valueOf: (one) => one.free, format: formatBytes }, minutes)}
        ${graph({ title: 'Event-loop lag', valueOf: (one) => Math.round(one.lateMs), format: (value) => `${formatCompact(value)} ms` }, minutes)}
      </div>
    </auto-refresh>
    ${section(
      'Income by day',
      html`<p class="small">Income of this server, without the makers’ shares of remixes.</p>
        ${spendingChart(days)}`,
    )}`
  return consolePage({ place: '/console', title: 'Overview', main, scripts: ['auto-refresh.js'] })
}

async function getStats(ctx: AppContext): Promise<[name: string, value: Part][]> {
  const [
    { quarantined, appeals, reports },
    { balance, held: heldBack },
    jobs,
    agents,
    people,
    problem,
  ] = await Promise.all([
    listOpenCases(ctx),
    readTotals(ctx),
    countByQueue(ctx),
    countAgents(ctx),
    countPeople(ctx),
    ctx.storage.problem(),
  ])
  const waits = quarantined.length + appeals.length + reports.length
  const upstreams = ctx.upstreams.health()
  const paused = upstreams.filter(({ state }) => state !== 'closed').length
  const open = (state: string) =>
    jobs.reduce((sum, one) => sum + (one.state === state ? one.count : 0), 0)
  const began = ctx.clock.now() - process.uptime() * second
  return [
    ['Needs review', html`<a href="/console/queue">${formatCount(waits, 'case')}</a>`],
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
    ['On hold', `${shortCredits(toCredits(heldBack))} credits`],
    ['Free disk space', formatBytes(ctx.storage.free())],
    ...filesState(ctx, problem),
    ['Memory', formatBytes(process.memoryUsage.rss())],
    ['Event-loop lag', `${Math.round(ctx.state.metricsHistory.recentLateMs)} ms`],
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
