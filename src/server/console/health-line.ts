import { countByQueue } from '../../jobs/jobs.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { toUsd } from '../../kernel/money.ts'
import { readObservations } from '../../kernel/state/shared-observations.ts'
import { minute } from '../../kernel/time.ts'
import { formatCompact, formatUsd, renderCredits } from '../../site/format.ts'
import type { AppContext } from '../context.ts'
import { listOpenCases } from '../operator/cases.ts'
import type { SharedHealth } from '../operator/servers/server-states.ts'
import { readMoneyToday } from '../operator/topups.ts'
import { formatUnit } from './time-chart.ts'

/** The span that the health line describes. */
const recentMs = 5 * minute

const fact = (name: string, value: Part, isBad = false): Html =>
  html`<div class="${isBad && 'bad'}">
    <dt>${name}</dt>
    <dd>${value}</dd>
  </div>`

/** The state of all servers in one line: traffic of five minutes, money of today, what waits. */
export async function healthLine(ctx: AppContext, upstreams: SharedHealth[]): Promise<Html> {
  const [parts, { quarantined, appeals, reports }, jobs, { paidIn, charged }] = await Promise.all([
    readObservations(ctx, 'parts', recentMs),
    listOpenCases(ctx),
    countByQueue(ctx),
    readMoneyToday(ctx),
  ])
  const [stats] = parts.history(recentMs, 1)
  const waits = quarantined.length + appeals.length + reports.length
  const queued = jobs.reduce((sum, one) => sum + (one.state === 'queued' ? one.count : 0), 0)
  const { count = 0, serverErrors = 0, p95 } = stats ?? {}
  const share = (serverErrors / Math.max(1, count)) * 100
  const paused = upstreams.filter(({ state }) => state !== 'closed').length
  return html`<dl class="health" aria-label="Health">
    ${fact('Requests', formatUnit(count / (recentMs / 1_000), '/s'))}
    ${fact('p95', p95 === undefined ? '–' : formatUnit(p95, 'ms'))}
    ${fact('Server errors', html`<a href="/console/errors">${formatUnit(share, '%')}</a>`, share >= 1)}
    ${fact('Paid in today', formatUsd(toUsd(paidIn)))}
    ${fact('Charged today', html`${renderCredits(charged)} cr`)}
    ${fact('Needs review', html`<a href="/console/queue">${formatCompact(waits)}</a>`, waits > 0)}
    ${fact('Jobs queued', formatCompact(queued))}
    ${fact('Upstreams paused', html`<a href="/console/upstreams">${paused}</a>`, paused > 0)}
  </dl>`
}
