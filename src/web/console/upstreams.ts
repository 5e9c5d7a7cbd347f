import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { UpstreamHealth } from '../../providers/registry.ts'
import { formatCompact, renderDateTime } from '../components.ts'
import { dataTable } from '../data-table.ts'
import type { Page } from '../layout.ts'
import { badge, consolePage } from './layout.ts'

const states = {
  closed: ['up', 'good'],
  'half-open': ['trying again', 'plain'],
  open: ['paused', 'bad'],
} as const

const unknown = ['not asked yet', 'plain'] as const

const never = html`<span class="small">never</span>`

/** Where requests go, and how each place does. */
export function upstreamsPage({ upstreams, catalogue }: AppContext): Page {
  const offers = catalogue.list().flatMap((model) => model.offers)
  const row = (health: UpstreamHealth): Part[] => {
    const { name, kind, state, answers, failures, answeredAt, lastFailure } = health
    const isUnknown = state === 'closed' && answeredAt === undefined
    const [word, look] = isUnknown ? unknown : states[state]
    const models = offers.filter(({ upstream }) => upstream === name).length
    return [
      html`${name} <span class="small">${kind}</span>`,
      badge(word, look),
      formatCompact(models),
      formatCompact(answers),
      answeredAt === undefined ? never : renderDateTime(iso(answeredAt)),
      formatCompact(failures),
      lastFailure ? html`${lastFailure.why}, ${renderDateTime(iso(lastFailure.at))}` : never,
    ]
  }
  const heads = [
    'Upstream',
    'State',
    { number: 'Models' },
    { number: 'Answers' },
    'Last answer',
    { number: 'Failures' },
    'Last failure',
  ]
  const main = html`<auto-refresh data-seconds="5"
      >${dataTable('Upstreams', heads, upstreams.health().map(row))}</auto-refresh
    >
    <p class="small below">
      Counted since the start. Five failures in a row pause an upstream: then one request is tried
      after 5 seconds, and after twice as long each time, at most 5 minutes.
    </p>`
  const place = '/console/upstreams'
  return consolePage({ place, title: 'Upstreams', main, scripts: ['auto-refresh.js'] })
}
