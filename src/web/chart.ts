import { type Html, html } from '../core/html.ts'
import { lazy } from '../core/lazy.ts'
import { toCredits } from '../core/money.ts'
import type { DailyAmount } from '../ledger/spending.ts'
import { formatAmount, shortCredits } from './format.ts'

/** Sizes in the units of the view box, which is stretched to fit. */
const [barWidth, chartHeight] = [24, 100]
const days = lazy(
  () => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
)

const formatDay = (day: string): string => days().format(Date.parse(day))

/** The value of a UTC day. */
interface DailyValue {
  day: string
  value: number
}

export const spendingChart = (spent: DailyAmount[]): Html =>
  barChart(
    spent.map(({ day, amount }) => ({ day, value: toCredits(amount) })),
    'credit',
  )

/** Renders values by day as a bar chart, with a summary and a table for screen readers. */
export function barChart(daily: DailyValue[], noun: string): Html {
  const peak = Math.max(...daily.map(({ value }) => value), 0)
  const total = daily.reduce((sum, { value }) => sum + value, 0)
  if (total === 0) return html`<p class="small">No activity in the last ${daily.length} days.</p>`
  const rects = daily.map(({ day, value }, at) => {
    const height = Math.max(1, (value / peak) * chartHeight)
    return html`<rect
      x="${at * barWidth + 2}"
      y="${(chartHeight - height).toFixed(1)}"
      width="${barWidth - 4}"
      height="${height.toFixed(1)}"
      class="${value > 0 ? 'bar' : 'none'}"
      ><title>${formatDay(day)}: ${formatAmount(value, noun)}</title></rect
    >`
  })
  const [first, last] = [daily[0]?.day ?? '', daily.at(-1)?.day ?? '']
  const summary = `${formatAmount(total, noun)} in ${daily.length} days, peak ${shortCredits(peak)} a day`
  return html`<figure class="chart">
    <svg
      viewBox="0 0 ${daily.length * barWidth} ${chartHeight}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${summary}"
    >
      ${rects}
    </svg>
    <p class="small"><span>${formatDay(first)}</span><span>${formatDay(last)}</span></p>
    <figcaption class="small">${summary}.</figcaption>
    ${valueTable(daily, noun)}
  </figure>`
}

/** A table without the days that have no value. */
function valueTable(daily: DailyValue[], noun: string): Html {
  const row = ({ day, value }: DailyValue): Html =>
    html`<tr>
      <td>${formatDay(day)}</td>
      <td class="number">${shortCredits(value)}</td>
    </tr>`
  return html`<details>
    <summary>Show as table</summary>
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col" class="number capitalized">${noun}s</th>
        </tr>
      </thead>
      <tbody>
        ${daily.filter(({ value }) => value > 0).map(row)}
      </tbody>
    </table>
  </details>`
}
