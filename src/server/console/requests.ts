import type { AppContext } from '../../kernel/context.ts'
import { ApiError } from '../../kernel/errors.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import type { LoggedRequest, ModelCall } from '../../kernel/state/observations.ts'
import { iso } from '../../kernel/time.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { searchTerm, section, withQuery } from '../../site/components.ts'
import { button, inputField, selectField } from '../../site/forms.ts'
import type { Page } from '../../site/layout.ts'
import { type Column, dataTable, emptyState } from '../../site/lists.ts'
import type { UserRequest } from '../../site/session.ts'
import {
  mergeRequests,
  newestRequests,
  requestDetails,
  requestsShown,
  type ServedRequest,
} from '../operator/servers.ts'
import {
  accountLinks,
  badge,
  consolePage,
  factLines,
  findAccounts,
  hasSeveral,
  searchCharsMax,
  serverCode,
  silentNote,
} from './components.ts'
import { formatUnit } from './time-chart.ts'

const place = '/console/requests'

const statuses = [
  ['', msg('All')],
  ['2', '2xx'],
  ['3', '3xx'],
  ['4', '4xx'],
  ['5', '5xx'],
] as const

const filterNames = ['status', 'route', 'key', 'who'] as const
type Filters = Partial<Record<(typeof filterNames)[number], string | undefined>>

const readFilters = (query: URLSearchParams): Filters =>
  Object.fromEntries(filterNames.map((name) => [name, searchTerm(query, searchCharsMax, name)]))

/** Returns the newest requests of each server that pass the filters. */
async function findRequests(ctx: AppContext, filters: Filters) {
  const { status = '', route = '', key = '', who } = filters
  const clients = who === undefined ? null : [...(await findAccounts(ctx, who)), who]
  return newestRequests.collect(ctx, { status, route: route.toLowerCase(), key, clients })
}

/** Only a status that may need attention has a badge. */
export const statusBadge = (status: number): Html =>
  badge(String(status), status >= 500 ? 'bad' : status >= 400 ? 'warn' : 'good')

const timeOf = (at: number): Html =>
  html`<time datetime="${iso(at)}" title="${iso(at)}">${iso(at).slice(11, 19)}</time>`

export const requestLink = ({ id, method, route }: LoggedRequest): Html =>
  html`<a href="${place}/${id}"><code>${method} ${route || t('(no route)')}</code></a>`

function requestRow(
  names: Map<string, Html>,
  { hasErrors, isNamed }: { hasErrors: boolean; isNamed: boolean },
): (request: ServedRequest) => Part[] {
  return (request) => [
    timeOf(request.at),
    statusBadge(request.status),
    requestLink(request),
    formatUnit(request.ms, 'ms'),
    clientOf(request, names),
    ...(hasErrors ? [request.cause] : []),
    ...(isNamed ? [serverCode(request.server)] : []),
  ]
}

const clientOf = ({ account, key, address }: LoggedRequest, names: Map<string, Html>): Part => {
  const known = account === undefined ? undefined : names.get(account)
  return known ?? html`<code>${key ?? address}</code>`
}

function filterForm({ status = '', route, key, who }: Filters): Html {
  const text = (label: string, name: string, value: string | undefined): Html =>
    inputField({ label, name, value, max: searchCharsMax, isOptional: true })
  return html`<form class="filter-line" role="search" action="${place}">
    ${selectField({ label: t('Status'), name: 'status', value: status, options: statuses })}${text(t('Route'), 'route', route)}${text(t('Key'), 'key', key)}${text(t('Person, @agent or address'), 'who', who)}${button(t('Filter'), 'quiet')}
    <a class="button quiet" href="${place}">Clear</a>
  </form>`
}

/** Renders the newest requests, which stay current, with filters. */
export async function requestsPage({ ctx, query }: UserRequest): Promise<Page> {
  const filters = readFilters(query)
  const collected = await findRequests(ctx, filters)
  const requests = mergeRequests(collected, requestsShown)
  const isNamed = hasSeveral(collected)
  const accounts = requests.flatMap(({ account }) => account ?? [])
  const names = await accountLinks(ctx, accounts)
  const hasErrors = requests.some(({ cause }) => cause !== undefined)
  const heads = [
    { text: 'UTC', onPhone: 'plain' },
    { text: t('Status'), onPhone: 'figure' },
    { long: t('Request'), onPhone: 'title' },
    { number: t('Time'), onPhone: 'plain' },
    { text: t('Client'), onPhone: 'plain' },
    ...(hasErrors ? [{ long: t('Error'), onPhone: 'plain' } as const] : []),
    ...(isNamed ? [{ text: t('Server'), onPhone: 'plain' } as const] : []),
  ] satisfies Column[]
  const none = emptyState(t('No requests found'), t('Requests appear here as they arrive.'))
  const table = dataTable(
    t('Requests'),
    heads,
    requests.map(requestRow(names, { hasErrors, isNamed })),
    none,
  )
  const main = html`${filterForm(filters)}<auto-refresh class="request-log" data-seconds="2"
      >${silentNote(collected)} ${table}</auto-refresh
    >
    <p class="small below">
      The newest of the last 4,096 requests of ${isNamed ? t('each server') : t('this server')}, and
      of the last 1,024 with each class of error. Time is until the response began. Files of pages,
      such as <a href="${place}?route=%2Fstatic">/static</a>, appear when the route names them.
    </p>`
  return consolePage({ place, title: t('Requests'), main, scripts: ['auto-refresh.js'] })
}

const idCharsMax = 64

/** Renders one request with its timings. Throws `not_found`. */
export async function requestPage({ ctx }: UserRequest, id: string): Promise<Page> {
  const collected = await requestDetails.collect(ctx, id.slice(0, idCharsMax))
  const known = collected.reports.find(({ value }) => value !== null)
  if (!known?.value) {
    const see =
      collected.silent > 0
        ? t('A server that did not respond may remember it. The log has it by its id.')
        : t('It is older than what this server remembers. The log has it by its id.')
    throw new ApiError('not_found', { what: 'request', see })
  }
  const { request: found, call } = known.value
  const client = (await accountLinks(ctx, [found.account ?? ''])).get(found.account ?? '')
  const filter = (name: string, value: string, text: Part = value): Html =>
    html`<a href="${withQuery(place, { [name]: value })}">${text}</a>`
  const facts: (readonly [Text, Part])[] = [
    [t('Response began after'), formatUnit(found.ms, 'ms')],
    ...(client ? [[t('Client'), client] as const] : []),
    [t('Key'), found.key === undefined ? t('none') : filter('key', found.key)],
    [t('Address'), filter('who', found.address)],
    ...(hasSeveral(collected) ? [[t('Server'), serverCode(known.server)] as const] : []),
    [t('Request ID'), html`<code>${id}</code>`],
  ]
  const lead = html`<span class="facts"
    ><span>${statusBadge(found.status)}</span
    >${found.cause !== undefined && html`<code>${found.cause}</code>`}<time
      datetime="${iso(found.at)}"
      >${iso(found.at).replace('T', ' ').replace('Z', ' UTC')}</time
    ></span
  >`
  const main = html`${factLines(facts)}
  ${call && section(t('Model call'), callDetails(found, call))}`
  return consolePage({
    place,
    title: `${found.method} ${found.route || t('(no route)')}`,
    above: [[place, t('Requests')]],
    lead,
    action:
      found.route !== '' &&
      html`<a class="button quiet" href="${withQuery(place, { route: found.route })}"
        >All of this route</a
      >`,
    main,
  })
}

/** Renders a model call with its phases as bars on one axis of time. */
function callDetails({ ms }: LoggedRequest, call: ModelCall): Html {
  const { firstByteMs } = call
  const waited = firstByteMs ?? 0
  const before = firstByteMs === null ? 0 : Math.max(0, ms - firstByteMs)
  const phases = [
    [t('Outside of the call'), before, 0],
    [t('First byte of the upstream'), firstByteMs, before],
    [t('Rest of the call'), Math.max(0, call.ms - waited), before + waited],
  ] as const
  const total = Math.max(1, before + call.ms)
  const percent = (value: number): string => ((value / total) * 100).toFixed(2)
  const bar = (length: number, start: number): Html =>
    html`<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
      <rect x="${percent(start)}" width="${percent(length)}" height="10" />
    </svg>`
  return html`<p class="small">
      <code>${call.model}</code> at ${call.upstream}, ${call.status} after
      ${formatUnit(call.ms, 'ms')}.
    </p>
    <dl class="fact-lines timeline">
      ${phases.map(
        ([name, length, start]) =>
          html`<div>
            <dt>${name}</dt>
            <dd>${length === null ? t('none') : formatUnit(length, 'ms')}</dd>
            <dd>${bar(length ?? 0, start)}</dd>
          </div>`,
      )}
    </dl>`
}
