import type { AppContext } from '../../kernel/context.ts'
import { html, type Part } from '../../kernel/html.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { formatCompact, renderDateTime } from '../../site/format.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable } from '../../site/lists.ts'
import { serverStates, type SharedHealth, sumHealth } from '../operator/servers.ts'
import { badge, consolePage } from './components.ts'
import { hasSeveral, serverCode, silentNote } from './servers.ts'

const labels = {
  closed: [msg('up'), 'good'],
  'half-open': [msg('retrying'), 'plain'],
  open: [msg('paused'), 'bad'],
} as const

const unknown = [msg('unused'), 'plain'] as const

const never = html`<span class="small">never</span>`

/** Renders the health of the upstreams, as all servers see them. */
export async function upstreamsPage(ctx: AppContext): Promise<Page> {
  const states = await serverStates.collect(ctx, null)
  const offers = ctx.catalog.list().flatMap((model) => model.offers)
  const row = (health: SharedHealth): Part[] => {
    const { name, kind, state, answers: responses, failures, answeredAt, lastFailure } = health
    const isUnknown = state === 'closed' && answeredAt === undefined
    const [label, style] = isUnknown ? unknown : labels[state]
    const models = offers.filter(({ upstream }) => upstream === name).length
    return [
      html`${name} <span class="small">${kind}</span>`,
      html`${badge(label, style)}${hasSeveral(states) && health.pausedAt.map((server) => html`<div class="small">${serverCode(server)}</div>`)}`,
      formatCompact(models),
      formatCompact(responses),
      answeredAt === undefined ? never : renderDateTime(answeredAt),
      formatCompact(failures),
      lastFailure ? html`${lastFailure.why}, ${renderDateTime(lastFailure.at)}` : never,
    ]
  }
  const heads = [
    t('Upstream'),
    t('State'),
    { number: t('Models') },
    { number: t('Successes') },
    t('Last success'),
    { number: t('Failures') },
    t('Last failure'),
  ]
  const main = html`<auto-refresh data-seconds="5"
      >${silentNote(states)}
      ${dataTable(t('Upstreams'), heads, sumHealth(states).map(row))}</auto-refresh
    >
    <p class="small below">
      Counts start when Berth starts. Five consecutive failures pause an upstream. One request is
      retried after 5 seconds, then after twice as long each time, up to 5 minutes.
      ${hasSeveral(states) && t('Counts are sums over all servers. Each server pauses an upstream by itself: the state names those that do.')}
    </p>`
  const place = '/console/upstreams'
  return consolePage({ place, title: t('Upstreams'), main, scripts: ['auto-refresh.js'] })
}
