import type { AppContext } from '../../context.ts'
import { type Html, html } from '../../core/markup.ts'
import { fromUsd, zero } from '../../core/money.ts'
import { iso } from '../../core/time.ts'
import { listHistory } from '../../gateway/usage/history.ts'
import type { HistoryQuery, UsageRow } from '../../gateway/usage/schemas.ts'
import { csvRowsMax, historyPageMax } from '../../limits.ts'
import { renderDateTime, withQuery } from '../components.ts'
import { formatAmount, formatColumn } from '../format.ts'
import { selectField } from '../forms.ts'
import type { Page } from '../layout.ts'
import { emptyState, numberPager } from '../lists.ts'
import { formatDuration, walletTabs } from './parts.ts'

const rowsShown = 50

type HistoryFilters = Pick<HistoryQuery, 'model' | 'from' | 'to'>

/** Which part of a history a query asks for; an empty field asks for nothing. */
export const readFilters = (query: URLSearchParams): HistoryFilters => {
  const [model, from, to] = ['model', 'from', 'to'].map((name) => query.get(name))
  return { ...(model && { model }), ...(from && { from }), ...(to && { to }) }
}

/** The newest rows of a history, as many as one CSV holds. Refuses bad_request. */
export async function readRows(
  ctx: AppContext,
  account: string,
  wanted: HistoryFilters,
): Promise<UsageRow[]> {
  const rows: UsageRow[] = []
  // What comes meanwhile would move every page.
  const whole = { to: iso(ctx.clock.now()), ...wanted, page_count: historyPageMax }
  for (let page = 1; page <= csvRowsMax / historyPageMax; page += 1) {
    const { data } = await listHistory(ctx, account, { ...whole, page })
    rows.push(...data)
    if (data.length < historyPageMax) break
  }
  return rows
}

const sources = { api: 'Key', web: 'Playground', build: 'Build' }

const row = (use: UsageRow, credits: string | undefined): Html =>
  html`<tr>
    <td>${renderDateTime(use.timestamp)}</td>
    <td><code>${use.model}</code></td>
    <td>${sources[use.source]}</td>
    <td class="number" data-label="In">${use.input_count.toLocaleString('en')}</td>
    <td class="number" data-label="Out">
      ${use.output_count.toLocaleString('en')}${use.estimated && html` <abbr title="Counted here, because the upstream did not say.">≈</abbr>`}
    </td>
    <td class="kind">${use.status}</td>
    <td class="number">${formatDuration(use.ms)}</td>
    <td class="number">${credits}</td>
  </tr>`

function requestTable(uses: UsageRow[]): Html {
  // As the ledger has them.
  const credits = formatColumn(uses.map((use) => fromUsd(use.price_in_usd.toFixed(9)) ?? zero))
  return html`<div class="wide" role="region" aria-label="Requests" tabindex="0">
    <table class="uses">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Model</th>
          <th scope="col">By</th>
          <th scope="col" class="number">In</th>
          <th scope="col" class="number">Out</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">Took</th>
          <th scope="col" class="number">Credits</th>
        </tr>
      </thead>
      <tbody>
        ${uses.map((use, at) => row(use, credits[at]))}
      </tbody>
    </table>
  </div>`
}

const dateField = (name: string, label: string, value: string | undefined): Html =>
  html`<label class="field"
    ><span>${label}</span><input type="date" name="${name}" value="${value?.slice(0, 10)}"
  /></label>`

function filters({ model, from, to }: HistoryFilters, models: string[]): Html {
  const all = model === undefined || models.includes(model) ? models : [model, ...models]
  const options = [['', 'All models'], ...all.map((id) => [id, id] as const)] as const
  return html`<form class="filters" action="/wallet/history">
    ${selectField({ label: 'Model', name: 'model', value: model ?? '', options })}
    ${dateField('from', 'From', from)}${dateField('to', 'To', to)}<button class="button quiet">
      Show
    </button>
  </form>`
}

const noRequests = (isFiltered: boolean): Html =>
  isFiltered
    ? emptyState(
        'No such request',
        'No request fits what is chosen above.',
        html`<a class="button quiet" href="/wallet/history">Show all</a>`,
      )
    : emptyState(
        'Nothing used yet',
        'Each request to a model is listed here, with its tokens and what it cost.',
        html`<a class="button quiet" href="/wallet/playground">Try the playground</a>`,
      )

/** What a history page is asked for, and the models that can be chosen. */
interface HistoryView {
  account: string
  models: string[]
  query: URLSearchParams
}

/** What a wallet used, request by request, newest first. Refuses bad_request. */
export async function historyPage(ctx: AppContext, view: HistoryView): Promise<Page> {
  const wanted = readFilters(view.query)
  const page = Number(view.query.get('page') ?? 1)
  const asked = { ...wanted, page, page_count: rowsShown }
  const { data, total } = await listHistory(ctx, view.account, asked)
  const isLast = page * rowsShown >= total
  const isFiltered = Object.keys(wanted).length > 0
  const csv = withQuery('/wallet/history.csv', wanted)
  const count = html`<div class="head">
    <p>${formatAmount(total, 'request')}${page > 1 && `, page ${page}`}</p>
    <a href="${csv}" download
      >CSV${total > csvRowsMax && ` of the newest ${csvRowsMax.toLocaleString('en')}`}</a
    >
  </div>`
  const main = html`<h1>Usage</h1>
    <p class="lead">
      What was asked of models from this wallet. Neither questions nor answers are kept.
    </p>
    ${walletTabs('/wallet/history')} ${(isFiltered || total > 0) && filters(wanted, view.models)}
    ${total > 0 ? html`${count}${data.length > 0 && requestTable(data)}` : noRequests(isFiltered)}
    ${numberPager('/wallet/history', { page, isLast }, wanted)}`
  return { title: 'Usage', main }
}
