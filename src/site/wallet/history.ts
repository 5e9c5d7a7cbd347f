import { ledgerCsv } from '../../apps/me/statements/operations.ts'
import { listUsedModels } from '../../gateway/models/spending.ts'
import {
  findHistory,
  formatHistory,
  type HistoryQuery,
  parsePeriod,
  type UsageRow,
} from '../../gateway/usage/operations.ts'
import type { Config } from '../../kernel/config/settings.ts'
import type { AppContext } from '../../kernel/context.ts'
import { makeCursor, takePage } from '../../kernel/cursor.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { csv } from '../../kernel/http/outcome.ts'
import { toResponse } from '../../kernel/http/response.ts'
import { csvRowsMax, historyPageMax } from '../../kernel/limits.ts'
import { fromUsd, zero } from '../../kernel/money.ts'
import { iso } from '../../kernel/time.ts'
import { msg, t } from '../../kernel/words/message.ts'
import { listAll } from '../../money/keys/keys.ts'
import { accountOf, type Owner } from '../../money/ledger/accounts.ts'
import { listEntries } from '../../money/ledger/reports.ts'
import { openMethods } from '../../money/payments/coins/method.ts'
import { walletOf } from '../../people/people.ts'
import { withQuery } from '../components.ts'
import {
  formatAmount,
  formatDuration,
  formatNumber,
  renderCredits,
  renderDateTime,
} from '../format.ts'
import { button, selectField } from '../forms.ts'
import type { Layout, Page } from '../layout.ts'
import {
  type Cell,
  cursorPager,
  dataTable,
  emptyState,
  ledgerTable,
  numberCursor,
  numberPager,
  tabNav,
  usual,
} from '../lists.ts'
import { pageRoutes, requireUser, userPage, type UserRequest } from '../session.ts'
import { wireWord } from '../wire-words.ts'

const addMoney = ['/wallet/add', msg('Add money')] as const
const walletLinks = [
  ['/wallet', msg('Overview')],
  addMoney,
  ['/wallet/history', msg('Usage')],
  ['/wallet/ledger', msg('Transactions')],
] as const

/** The pages of the wallet. Adding money is one of them only where this server takes payments. */
export function walletTabs(config: Config, at: (typeof walletLinks)[number][0]): Html {
  const canPay = openMethods(config).length > 0
  const shown = walletLinks.filter((link) => canPay || link !== addMoney)
  return tabNav(t('Wallet'), shown, at)
}

const rowsShown = 50

type KeyNames = Map<string, string | null>

type HistoryFilters = Pick<HistoryQuery, 'model' | 'from' | 'to'>
type PeriodFilters = Omit<HistoryFilters, 'model'>

/** Reads the filters; forms send empty fields. */
const readPeriod = (query: URLSearchParams): PeriodFilters => {
  const [from, to] = [query.get('from'), query.get('to')]
  return { ...(from && { from }), ...(to && { to }) }
}
const readFilters = (query: URLSearchParams): HistoryFilters => {
  const model = query.get('model')
  return { ...(model && { model }), ...readPeriod(query) }
}

/** Reads the newest rows, up to the limit of a CSV file. Throws `bad_request`. */
async function readRows(
  ctx: AppContext,
  account: string,
  filters: HistoryFilters,
): Promise<UsageRow[]> {
  const rows: UsageRow[] = []
  // Without an end, requests that arrive meanwhile would shift the pages.
  const whole = { to: iso(ctx.clock.now()), ...filters, page_count: historyPageMax }
  for (let page = 1; page <= csvRowsMax / historyPageMax; page += 1) {
    const { data } = await findHistory(ctx, account, { ...whole, page })
    rows.push(...data)
    if (data.length < historyPageMax) break
  }
  return rows
}

const sources = { api: msg('API key'), web: msg('Playground'), build: msg('Build') }

/** Short reasons of failed calls by the names of their errors. */
const reasons = new Map([
  ['unreadable', msg('The response of the upstream broke off or could not be read.')],
  ['deadline', msg('The upstream took too long.')],
  ['no_content', msg('The model returned nothing.')],
  ['content_policy', msg('The content filter of the upstream stopped it.')],
  ['upstream_failed', msg('The upstream failed.')],
  ['upstream_rejected', msg('The upstream rejected the request.')],
  ['upstream_busy', msg('The upstream was at its rate limit.')],
  ['model_unavailable', msg('No upstream of the model was available.')],
  ['gateway_unavailable', msg('The upstream could not be reached.')],
])

function statusOf({ status, error }: UsageRow): Cell {
  if (status === 'interrupted') return html`Stopped <span class="reason">The client left.</span>`
  if (status !== 'failed') {
    return usual(html`<span class="capitalized">${wireWord(status)}</span>`)
  }
  const reason = error === null ? '' : (reasons.get(error) ?? error.replaceAll('_', ' '))
  return html`<span class="failed">Failed</span> <span class="reason">${reason}</span>`
}

/** Names the key of a call, or the page that made it. */
function sourceOf({ source, key }: UsageRow, names: KeyNames): Part {
  if (source !== 'api' || key === null) return sources[source]
  const name = names.get(key)
  return name ? html`<bdi>${name}</bdi>` : html`<code>${key}…</code>`
}

const row = (use: UsageRow, names: KeyNames) => [
  renderDateTime(use.timestamp),
  html`<code>${use.model}</code>`,
  sourceOf(use, names),
  formatNumber(use.input_count),
  html`${formatNumber(use.output_count)}${use.estimated && html` <abbr title="Estimated: the provider reported no usage.">≈</abbr>`}`,
  statusOf(use),
  formatDuration(use.ms),
  renderCredits(fromUsd(use.price_in_usd.toFixed(9)) ?? zero),
]

const requestTable = (uses: UsageRow[], names: KeyNames): Part =>
  dataTable(
    t('Requests'),
    [
      { text: t('Time'), onPhone: 'plain' },
      { text: t('Model'), onPhone: 'title' },
      { text: t('Source'), onPhone: 'plain' },
      { number: t('Input') },
      { number: t('Output') },
      { text: t('Status'), onPhone: 'plain' },
      { number: t('Duration'), onPhone: 'plain' },
      { number: t('Credits'), onPhone: 'figure' },
    ],
    uses.map((use) => row(use, names)),
  )

const dateField = (name: string, label: string, value: string | undefined): Html =>
  html`<label class="field"
    ><span>${label}</span><input type="date" name="${name}" value="${value?.slice(0, 10)}"
  /></label>`

function filterForm({ model, ...period }: HistoryFilters, models: string[]): Html {
  const all = model === undefined || models.includes(model) ? models : [model, ...models]
  const options = [['', t('All models')], ...all.map((id) => [id, id] as const)] as const
  return html`<form class="filters" action="/wallet/history">
    ${selectField({ label: t('Model'), name: 'model', value: model ?? '', options })}
    ${periodFields(period)}
  </form>`
}

const periodFields = ({ from, to }: PeriodFilters): Html =>
  html`${dateField('from', t('From'), from)}${dateField('to', t('To'), to)}${button(t('Show'), 'quiet')}`

const noMatches = (title: string, path: string): Html =>
  emptyState(
    title,
    t('Change or clear the filters.'),
    html`<a class="button quiet" href="${path}">Clear filters</a>`,
  )

const noRequests = (isFiltered: boolean): Html =>
  isFiltered
    ? noMatches(t('No matching requests'), '/wallet/history')
    : emptyState(
        t('No usage yet'),
        t('Requests to models appear here with their tokens and costs.'),
        html`<a class="button quiet" href="/wallet/playground">Try the playground</a>`,
      )

interface HistoryView {
  account: string
  /** The models of the filter. */
  models: string[]
  names: KeyNames
  query: URLSearchParams
}

/** Renders the model requests of a wallet, newest first. Throws `bad_request`. */
async function historyPage(ctx: AppContext, view: HistoryView): Promise<Page> {
  const filters = readFilters(view.query)
  const page = Number(view.query.get('page') ?? 1)
  const params = { ...filters, page, page_count: rowsShown }
  const { data, total } = await findHistory(ctx, view.account, params)
  const isLast = page * rowsShown >= total
  const isFiltered = Object.keys(filters).length > 0
  const download = withQuery('/wallet/history.csv', filters)
  const count = html`<div class="head">
    <p>${formatAmount(total, 'request')}${page > 1 && html`, page ${page}`}</p>
    <a href="${download}" download
      >CSV${total > csvRowsMax && html` of the newest ${formatNumber(csvRowsMax)}`}</a
    >
  </div>`
  const main = html`<h1>Usage</h1>
    <p class="lead">Model requests paid from this wallet. Prompts and responses are not stored.</p>
    ${walletTabs(ctx.config, '/wallet/history')}
    ${(isFiltered || total > 0) && filterForm(filters, view.models)}
    ${total > 0 ? html`${count}${data.length > 0 && requestTable(data, view.names)}` : noRequests(isFiltered)}
    ${numberPager('/wallet/history', { page, isLast }, filters)}`
  return { title: t('Usage'), main }
}

/** Returns the names of a wallet's keys by prefix, also of revoked ones. */
export async function keyNames(
  { db }: AppContext,
  wallet: string,
): Promise<Map<string, string | null>> {
  const all = await listAll(db.read, wallet)
  return new Map(all.map(({ prefix, name }) => [prefix, name]))
}

/** The number of models in the filter of the usage page. */
const filterModelsMax = 300

const ownerOf = ({ visitor }: UserRequest) => walletOf(visitor.person)

/** The usage and the transactions of a wallet. */
export const historyRoutes = (ctx: AppContext, layout: Layout) =>
  pageRoutes(ctx, layout)
    .get('/wallet/history', ({ input }) =>
      userPage(input, async (req) => {
        const account = accountOf(ownerOf(req))
        const models = await listUsedModels(ctx.db.read, account, filterModelsMax)
        const names = await keyNames(ctx, req.visitor.person.wallet)
        return historyPage(ctx, { account, models, names, query: req.query })
      }),
    )
    .get('/wallet/history.csv', ({ input }) =>
      requireUser(input, async (req) => {
        const filters = readFilters(req.query)
        const rows = await readRows(ctx, accountOf(ownerOf(req)), filters)
        return toResponse(ctx, req.request, csv('history', formatHistory(rows)))
      }),
    )
    .get('/wallet/ledger', ({ input }) =>
      userPage(input, (req) => ledgerPage(ctx, ownerOf(req), req.query)),
    )
    .get('/wallet/ledger.csv', ({ input }) =>
      requireUser(input, async (req) => {
        const page = { ...parsePeriod(readPeriod(req.query)), limit: csvRowsMax }
        const rows = await listEntries(ctx, ownerOf(req), page)
        return toResponse(ctx, req.request, ledgerCsv(rows))
      }),
    )

/** Renders the transactions, newest first. Throws `bad_request` for a cursor of another list. */
async function ledgerPage(ctx: AppContext, owner: Owner, query: URLSearchParams): Promise<Page> {
  const filters = readPeriod(query)
  const isFiltered = Object.keys(filters).length > 0
  const rows = await listEntries(ctx, owner, {
    ...parsePeriod(filters),
    before: numberCursor(query),
    limit: rowsShown + 1,
  })
  const { page, next } = takePage(rows, rowsShown, (entry) => makeCursor(entry.number))
  const none = isFiltered
    ? noMatches(t('No matching transactions'), '/wallet/ledger')
    : emptyState(
        t('No transactions yet'),
        t('Added credits, transfers to agents and gateway spending appear here.'),
      )
  const download = html`<div class="head">
    <a href="${withQuery('/wallet/ledger.csv', filters)}" download>CSV</a>
  </div>`
  const main = html`<h1>Transactions</h1>
    <p class="lead">Every change of this wallet, with the balance after it.</p>
    ${walletTabs(ctx.config, '/wallet/ledger')}
    ${(isFiltered || page.length > 0) && html`<form class="filters" action="/wallet/ledger">${periodFields(filters)}</form>`}
    ${page.length > 0 && download} ${ledgerTable(page, none)}
    ${cursorPager(query, '/wallet/ledger', next, filters)}`
  return { title: t('Transactions'), main }
}
