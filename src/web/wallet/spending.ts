import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import type { ModelSpending, Spending } from '../../models/spending.ts'
import { spendingChart } from '../chart.ts'
import { withQuery } from '../components.ts'
import { formatColumn } from '../format.ts'
import { chip } from '../lists.ts'

/** The spans of days that are drawn. */
const ranges = [7, 30, 90] as const

/** How many days a query asks for. */
export const daysIn = (query: URLSearchParams): number =>
  ranges.find((days) => String(days) === query.get('days')) ?? 30

const rangeChips = (shown: number): Html =>
  html`<nav aria-label="Days">
    <ul class="chips">
      ${ranges.map((days) => chip(`/wallet?days=${days}#spending`, `${days} days`, days === shown))}
    </ul>
  </nav>`

function modelTable(models: ModelSpending[]): Html {
  const most = Math.max(...models.map(({ amount }) => toCredits(amount)))
  const credits = formatColumn(models.map(({ amount }) => amount))
  const row = ({ model, requests, amount }: ModelSpending, at: number): Html => {
    const width = amount > 0n ? Math.max(0.5, (toCredits(amount) / most) * 100) : 0
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
  <h3>Nothing in these days</h3>
  <p>What is asked of a model, with a key or in the playground, is drawn here.</p>
  <a class="button quiet" href="/wallet/playground">Try the playground</a>
</div>`

/** What a wallet spent at the gateway, by day and by model. */
export function spendingSection({ days, models }: Spending): Html {
  const drawn = html`${spendingChart(days)}
    <h3 class="below">By model</h3>
    ${modelTable(models)}`
  return html`<section id="spending">
    <div class="head">
      <h2>Spending at the gateway</h2>
      <a href="/wallet/history">Every request</a>
    </div>
    ${rangeChips(days.length)} ${models.length > 0 ? drawn : noSpending}
  </section>`
}
