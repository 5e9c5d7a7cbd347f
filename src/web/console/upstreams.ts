import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/html.ts'
import type { UpstreamHealth } from '../../providers/monitored-upstream.ts'
import { formatCompact, renderDateTime } from '../format.ts'
import type { Page } from '../layout.ts'
import { dataTable } from '../lists.ts'
import { badge, consolePage } from './components.ts'

const states = {
  closed: ['up', 'good'],
  'half-open': ['retrying', 'plain'],
  open: ['paused', 'bad'],
} as const

const unknown = ['unused', 'plain'] as const

const never = html`<span class="small">never</span>`

export function upstreamsPage({ upstreams, catalog }: AppContext): Page {
  const offers = catalog.list().flatMap((model) => model.offers)
  const row = (health: UpstreamHealth): Part[] => {
    const { name, kind, state, answers, failures, answeredAt, lastFailure } = health
    const isUnknown = state === 'closed' && answeredAt === undefined
    const [label, style] = isUnknown ? unknown : states[state]
    const models = offers.filter(({ upstream }) => upstream === name).length
    return [
      html`${name} <span class="small">${kind}</span>`,
      badge(label, style),
      formatCompact(models),
      formatCompact(answers),
      answeredAt === undefined ? never : renderDateTime(answeredAt),
      formatCompact(failures),
      lastFailure ? html`${lastFailure.why}, ${renderDateTime(lastFailure.at)}` : never,
    ]
  }
  const heads = [
    'Upstream',
    'State',
    { number: 'Models' },
    { number: 'Successes' },
    'Last success',
    { number: 'Failures' },
    'Last failure',
  ]
  const main = html`<auto-refresh data-seconds="5"
      >${dataTable('Upstreams', heads, upstreams.health().map(row))}</auto-refresh
    >
    <p class="small below">
      Counts start when Berth starts. Five consecutive failures pause an upstream. One request is
      retried after 5 seconds, then after twice as long each time, up to 5 minutes.
    </p>`
  const place = '/console/upstreams'
  return consolePage({ place, title: 'Upstreams', main, scripts: ['auto-refresh.js'] })
}
