import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/markup.ts'
import { toCredits, toUsd } from '../../core/money.ts'
import { iso, second } from '../../core/time.ts'
import { countAgents } from '../../hosting/agents/listing.ts'
import { countPeople } from '../../hosting/people/listing.ts'
import { countByLane } from '../../jobs/jobs.ts'
import { incomeByDay, totals } from '../../ledger/totals.ts'
import { waiting } from '../../operator/cases.ts'
import { metricsByMinute } from '../../operator/metrics-history.ts'
import { version } from '../../version.ts'
import { chart } from '../chart.ts'
import { counted, few, momentOf, numbers, sizeOf } from '../components.ts'
import { inCredits } from '../format.ts'
import type { Page } from '../layout.ts'
import { graph } from './graph.ts'
import { consolePage } from './layout.ts'

const daysShown = 30

/** How the house does just now and in the last three hours. */
export async function overviewPage(ctx: AppContext): Promise<Page> {
  const [minutes, facts, days] = await Promise.all([
    metricsByMinute(ctx),
    factsOf(ctx),
    incomeByDay(ctx, daysShown),
  ])
  const count = (noun: string) => (value: number) => counted(value, noun)
  const credits = (value: number) => `${inCredits(value)} credits`
  const main = html`<live-part data-seconds="5">
      ${numbers(facts)}
      <div class="graphs">
        ${graph({ title: 'Requests a minute', of: (one) => one.requests, say: count('request'), sum: few }, minutes)}
        ${graph({ title: 'Errors a minute', of: (one) => one.errors + one.upstreamErrors, say: count('error'), sum: few, bad: true }, minutes)}
        ${graph({ title: 'Spend a minute', of: (one) => toCredits(one.income), say: credits, sum: inCredits }, minutes)}
        ${graph({ title: 'Jobs a minute', of: (one) => one.jobs, say: count('job'), sum: few }, minutes)}
        ${graph({ title: 'Disk free', of: (one) => one.free, say: sizeOf }, minutes)}
        ${graph({ title: 'Event-loop lag', of: (one) => Math.round(one.lateMs), say: (value) => `${few(value)} ms` }, minutes)}
      </div>
    </live-part>
    <section>
      <h2>Spend by day</h2>
      <p class="small">What the house was paid; makers’ shares of remixes are not in it.</p>
      ${chart(days)}
    </section>`
  return consolePage({ place: '/console', title: 'Overview', main, scripts: ['live-part.js'] })
}

async function factsOf(ctx: AppContext): Promise<[name: string, value: Part][]> {
  const [{ held, asked, reports }, { balance, held: heldBack }, jobs, agents, people] =
    await Promise.all([
      waiting(ctx),
      totals(ctx),
      countByLane(ctx),
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
    ['Waits for you', html`<a href="/console/queue">${counted(waits, 'case')}</a>`],
    [
      'Upstreams',
      html`<a href="/console/upstreams">${upstreams.length}, ${paused || 'none'} paused</a>`,
    ],
    ['Jobs', `${few(open('running'))} run, ${few(open('queued'))} wait`],
    ['Agents', html`<a href="/console/agents">${few(agents)}</a>`],
    ['People', html`<a href="/console/people">${few(people)}</a>`],
    [
      'On all accounts',
      html`${inCredits(toCredits(balance))} credits
        <span class="small">$${inCredits(toUsd(balance))}</span>`,
    ],
    ['Held for what runs', `${inCredits(toCredits(heldBack))} credits`],
    ['Disk free', sizeOf(ctx.storage.free())],
    ['Memory', sizeOf(process.memoryUsage.rss())],
    ['Event-loop lag', `${Math.round(ctx.state.metricsHistory.recentLateMs)} ms`],
    ['Up since', momentOf(iso(began))],
    ['Version', version],
  ]
}
