import { type Html, html } from '../../core/html.ts'
import { toCredits } from '../../core/money.ts'
import type { ModelSpending, Spending } from '../../models/spending.ts'
import { spendingChart } from '../chart.ts'
import { withQuery } from '../components.ts'
import { formatColumn } from '../format.ts'
import { chip } from '../lists.ts'

const ranges = [7, 30, 90] as const

/** The selected range in days. */
export const daysIn = (query: URLSearchParams): number =>
  ranges.find((days) => String(days) === query.get('days')) ?? 30

const rangeChips = (shown: number): Html =>
  html`<nav aria-label="Days">
    <ul class="chips">
      ${ranges.map((days) => chip(`/wallet?days=${days}#spending`, `${days} days`, days === shown))}
    </ul>
  </nav>`

function modelTable(models: ModelSpending[]): Html {
  const highest = Math.max(...models.map(({ amount }) => toCredits(amount)))
  const credits = formatColumn(models.map(({ amount }) => amount))
  const row = ({ model, requests, amount }: ModelSpending, at: number): Html => {
    const width = amount > 0n ? Math.max(0.5, (toCredits(amount) / highest) * 100) : 0
    return html`<tr>
      <th scope="row">
        <a href="${withQuery('/wallet/history', { model })}">${model}</a
        ><svg class="share" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
          <rect width="${width.toFixed(2)}" height="6" />
        </svg>
      </th>
      <td class="number">${requests}</td>
      <td class="number">${credits[at]}</td>
    </tr>`
  }
  return html`<table class="shares">
    <thead>
      <tr>
        <th scope="col">Model</th>
        <th scope="col" class="number">Requests</th>
        <th scope="col" class="number">Credits</th>
      </tr>
    </thead>
    <tbody>
      ${models.map(row)}
    </tbody>
  </table>`
}

const noSpending = html`<div class="empty">
  <h3>No usage in this period</h3>
  <p>Requests with an API key or from the playground appear here.</p>
  <a class="button quiet" href="/wallet/playground">Try the playground</a>
</div>`

export function spendingSection({ days, models }: Spending): Html {
  const charts = html`${spendingChart(days)}
    <h3 class="below">By model</h3>
    ${modelTable(models)}`
  return html`<section id="spending">
    <div class="head">
      <h2>Gateway spending</h2>
      <a href="/wallet/history">View usage</a>
    </div>
    ${rangeChips(days.length)} ${models.length > 0 ? charts : noSpending}
  </section>`
}
