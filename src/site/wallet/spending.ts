import type { ModelSpending, Spending } from '../../gateway/models/spending.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { type NanoUsd, toCredits } from '../../kernel/money.ts'
import { spendingChart } from '../chart.ts'
import { withQuery } from '../components.ts'
import { renderCredits } from '../format.ts'
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

/** Spending of one key, or of the playground. */
export interface KeySpending {
  label: string
  requests: number
  amount: NanoUsd
}

/** A share of the spending: a model, or a key. */
interface Share {
  label: Part
  requests: number
  amount: NanoUsd
}

function shareTable(heading: string, shares: Share[]): Html {
  const highest = Math.max(...shares.map(({ amount }) => toCredits(amount)))
  const row = ({ label, requests, amount }: Share): Html => {
    const width = amount > 0n ? Math.max(0.5, (toCredits(amount) / highest) * 100) : 0
    return html`<tr>
      <th scope="row">
        ${label}<svg
          class="share"
          viewBox="0 0 100 6"
          preserveAspectRatio="none"
          aria-hidden="true"
        >
          <rect width="${width.toFixed(2)}" height="6" />
        </svg>
      </th>
      <td class="number">${requests.toLocaleString('en')}</td>
      <td class="number">${renderCredits(amount)}</td>
    </tr>`
  }
  return html`<table class="shares">
    <thead>
      <tr>
        <th scope="col">${heading}</th>
        <th scope="col" class="number">Requests</th>
        <th scope="col" class="number">Credits</th>
      </tr>
    </thead>
    <tbody>
      ${shares.map(row)}
    </tbody>
  </table>`
}

const modelShares = (models: ModelSpending[]): Share[] =>
  models.map(({ model, ...share }) => ({
    ...share,
    label: html`<a href="${withQuery('/wallet/history', { model })}">${model}</a>`,
  }))

const noSpending = html`<div class="empty">
  <h3>No usage in this period</h3>
  <p>Requests with an API key or from the playground appear here.</p>
  <a class="button quiet" href="/wallet/playground">Try the playground</a>
</div>`

export function spendingSection({ days, models }: Spending, keys?: KeySpending[]): Html {
  const shares = keys?.map(({ label, ...share }) => ({
    ...share,
    label: html`<bdi>${label}</bdi>`,
  }))
  const charts = html`${spendingChart(days)}
    <div class="columns">
      <div>
        <h3>By model</h3>
        ${shareTable('Model', modelShares(models))}
      </div>
      <div>
        <h3>By key</h3>
        ${shares ? shareTable('Key', shares) : html`<p class="small">This period has too many requests to group them by key. Choose fewer days.</p>`}
      </div>
    </div>`
  return html`<section id="spending">
    <div class="head">
      <h2>Gateway spending</h2>
      <a href="/wallet/history">View usage</a>
    </div>
    ${rangeChips(days.length)} ${models.length > 0 ? charts : noSpending}
  </section>`
}
