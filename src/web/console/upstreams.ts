import type { AppContext } from '../../context.ts'
import { html, type Part } from '../../core/markup.ts'
import { iso } from '../../core/time.ts'
import type { Health } from '../../providers/registry.ts'
import type { Page } from '../layout.ts'
import { few, momentOf } from '../parts.ts'
import { table } from '../table.ts'
import { badge, consolePage } from './frame.ts'

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
  const row = (health: Health): Part[] => {
    const { name, kind, state, answers, failures, answeredAt, lastFailure } = health
    const isUnknown = state === 'closed' && answeredAt === undefined
    const [word, look] = isUnknown ? unknown : states[state]
    const models = offers.filter(({ upstream }) => upstream === name).length
    return [
      html`${name} <span class="small">${kind}</span>`,
      badge(word, look),
      few(models),
      few(answers),
      answeredAt === undefined ? never : momentOf(iso(answeredAt)),
      few(failures),
      lastFailure ? html`${lastFailure.why}, ${momentOf(iso(lastFailure.at))}` : never,
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
  const main = html`<live-part data-seconds="5"
      >${table('Upstreams', heads, upstreams.health().map(row))}</live-part
    >
    <p class="small below">
      Counted since the start. Five failures in a row pause an upstream: then one request is tried
      after 5 seconds, and after twice as long each time, at most 5 minutes.
    </p>`
  const place = '/console/upstreams'
  return consolePage({ place, title: 'Upstreams', main, scripts: ['live-part.js'] })
}
