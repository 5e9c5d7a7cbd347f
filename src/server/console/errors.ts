import { html, type Part } from '../../kernel/html.ts'
import { readObservations } from '../../kernel/state/observations.ts'
import { t } from '../../kernel/words/message.ts'
import { section, withQuery } from '../../site/components.ts'
import { formatCompact, renderDateTime } from '../../site/format.ts'
import type { Page } from '../../site/layout.ts'
import { dataTable, emptyState, tableSection } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import { historyStart } from '../operator/metrics-history.ts'
import { mergeErrors, newestErrors, type ServedRequest } from '../operator/servers.ts'
import { consolePage, hasSeveral, serverCode, silentNote } from './components.ts'
import { busiest } from './latency.ts'
import { requestLink, statusBadge } from './requests.ts'
import { rangePicker, readRange, trafficRanges } from './time-chart.ts'

const place = '/console/errors'
const rowsShown = 40

/** Renders errors by their causes: those of the server, then those of clients. */
export async function errorsPage({ ctx, query }: UserRequest): Promise<Page> {
  const age = ctx.clock.now() - (await historyStart(ctx))
  const range = readRange(query, trafficRanges, age)
  const [errors, collected] = await Promise.all([
    readObservations(ctx, 'errors', range.ms),
    newestErrors.collect(ctx, null),
  ])
  const all = busiest(errors, range.ms).map(({ label, count }) => {
    const [status = '', route = '', cause = ''] = label.split('\n')
    return { status, route, cause, count }
  })
  const row = ({ status, route, cause, count }: (typeof all)[number]): Part[] => {
    const path = route.slice(route.indexOf(' ') + 1)
    const address = withQuery('/console/requests', {
      status,
      route: path.startsWith('/') ? path : '',
    })
    return [
      Number(status) ? statusBadge(Number(status)) : status,
      html`<code>${cause || 'unknown'}</code>`,
      html`<a href="${address}"><code>${route}</code></a>`,
      formatCompact(count),
    ]
  }
  const list = (title: string, first: string, none: string): Part => {
    const own = all.filter(({ status }) => status.startsWith(first))
    const total = own.reduce((sum, { count }) => sum + count, 0)
    const heads = [
      t('Status'),
      { long: t('Cause') },
      { long: t('Route') },
      { number: t('Requests') },
    ]
    const empty = emptyState(none, t('Errors of this time appear here with their causes.'))
    const table = dataTable(title, heads, own.slice(0, rowsShown).map(row), empty)
    return section(`${title} (${formatCompact(total)})`, table)
  }
  const newest = newestSection(mergeErrors(collected), hasSeveral(collected))
  const main = html`${rangePicker(place, trafficRanges, range)}
    <auto-refresh data-seconds="10"
      >${silentNote(collected)} ${list(t('Server errors'), '5', t('No server errors'))} ${newest}
      ${list(t('Client errors'), '4', t('No client errors'))}</auto-refresh
    >
    <p class="small below">
      Server errors (5xx) are faults of this server or of an upstream. Client errors (4xx) are
      requests that were wrong, too many or not allowed. Where several servers share a database, all
      of them are counted.
    </p>`
  return consolePage({ place, title: t('Errors'), main, scripts: ['auto-refresh.js'] })
}

const newestSection = (newest: ServedRequest[], isNamed: boolean): Part =>
  newest.length > 0 &&
  tableSection(
    t('Newest server errors'),
    [
      t('Time'),
      t('Status'),
      { long: t('Request') },
      { long: t('Cause') },
      ...(isNamed ? [t('Server')] : []),
    ],
    newest.map((one) => [
      renderDateTime(one.at),
      statusBadge(one.status),
      requestLink(one),
      one.cause,
      ...(isNamed ? [serverCode(one.server)] : []),
    ]),
  )
