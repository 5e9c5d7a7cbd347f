import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/markup.ts'
import { toCredits, toUsd } from '../../core/money.ts'
import { iso, second } from '../../core/time.ts'
import { countAgents } from '../../hosting/agents/listing.ts'
import { countPeople } from '../../hosting/people/listing.ts'
import { countByQueue } from '../../jobs/jobs.ts'
import { listDailyIncome, readTotals } from '../../ledger/totals.ts'
import { waiting } from '../../operator/cases.ts'
import { metricsByMinute } from '../../operator/metrics-history.ts'
import { version } from '../../version.ts'
import { spendingChart } from '../chart.ts'
import { formatBytes, formatCompact, formatCount, renderDateTime, statList } from '../components.ts'
import { formatCredits } from '../format.ts'
import type { Page } from '../layout.ts'
import { graph } from './graph.ts'
import { consolePage } from './layout.ts'

const daysShown = 30

/** How the house does just now and in the last three hours. */
export async function overviewPage(ctx: AppContext): Promise<Page> {
  const [minutes, facts, days] = await Promise.all([
    metricsByMinute(ctx),
    getStats(ctx),
    listDailyIncome(ctx, daysShown),
  ])
  const count = (noun: string) => (value: number) => formatCount(value, noun)
  const credits = (value: number) => `${formatCredits(value)} credits`
  const main = html`<auto-refresh data-seconds="5">
      ${statList(facts)}
      <div class="graphs">
        ${graph({ title: 'Requests a minute', valueOf: (one) => one.requests, format: count('request'), formatTotal: formatCompact }, minutes)}
        ${graph({ title: 'Errors a minute', valueOf: (one) => one.errors + one.upstreamErrors, format: count('error'), formatTotal: formatCompact, bad: true }, minutes)}
        ${graph({ title: 'Spend a minute', valueOf: (one) => toCredits(one.income), format: credits, formatTotal: formatCredits }, minutes)}
        ${graph({ title: 'Jobs a minute', valueOf: (one) => one.jobs, format: count('job'), formatTotal: formatCompact }, minutes)}
        ${graph({ title: 'Disk free', valueOf: (one) => one.free, format: formatBytes }, minutes)}
        ${graph({ title: 'Event-loop lag', valueOf: (one) => Math.round(one.lateMs), format: (value) => `${formatCompact(value)} ms` }, minutes)}
      </div>
    </auto-refresh>
    <section>
      <h2>Spend by day</h2>
      <p class="small">What the house was paid; makers’ shares of remixes are not in it.</p>
      ${spendingChart(days)}
    </section>`
  return consolePage({ place: '/console', title: 'Overview', main, scripts: ['auto-refresh.js'] })
}

async function getStats(ctx: AppContext): Promise<[name: string, value: Part][]> {
  const [{ held, asked, reports }, { balance, held: heldBack }, jobs, agents, people] =
    await Promise.all([
      waiting(ctx),
      readTotals(ctx),
      countByQueue(ctx),
      countAgents(ctx),
      countPeople(ctx),
    ])
  const waits = held.length + asked.length + reports.length
  const upstreams = ctx.upstreams.health()
  const paused = upstreams.filter(({ state }) => state !== 'closed').length
  const open = (state: string) =>
    jobs.reduce((sum, one) => sum + (one.state === state ? one.count : 0), 0)
  const began = ctx.clock.now() - process.uptime() * second
  return [
    ['Waits for you', html`<a href="/console/queue">${formatCount(waits, 'case')}</a>`],
    [
      'Upstreams',
      html`<a href="/console/upstreams">${upstreams.length}, ${paused || 'none'} paused</a>`,
    ],
    ['Jobs', `${formatCompact(open('running'))} run, ${formatCompact(open('queued'))} wait`],
    ['Agents', html`<a href="/console/agents">${formatCompact(agents)}</a>`],
    ['People', html`<a href="/console/people">${formatCompact(people)}</a>`],
    [
      'On all accounts',
      html`${formatCredits(toCredits(balance))} credits
        <span class="small">$${formatCredits(toUsd(balance))}</span>`,
    ],
    ['Held for what runs', `${formatCredits(toCredits(heldBack))} credits`],
    ['Disk free', formatBytes(ctx.storage.free())],
    ['Memory', formatBytes(process.memoryUsage.rss())],
    ['Event-loop lag', `${Math.round(ctx.state.metricsHistory.recentLateMs)} ms`],
    ['Up since', renderDateTime(iso(began))],
    ['Version', version],
  ]
}
