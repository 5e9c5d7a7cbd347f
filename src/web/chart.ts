import { lazy } from '../core/lazy.ts'
import { type Html, html } from '../core/markup.ts'
import { toCredits } from '../core/money.ts'
import type { DailyAmount } from '../ledger/spending.ts'
import { formatAmount, formatCredits } from './format.ts'

/** The width of a day and the height of the highest, in a square that is stretched to fit. */
const [barWidth, chartHeight] = [24, 100]
const days = lazy(
  () => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
)

const formatDay = (day: string): string => days().format(Date.parse(day))

/** What there was of something on one UTC day. */
interface DailyValue {
  day: string
  value: number
}

/** Spending by day as bars. */
export const spendingChart = (spent: DailyAmount[]): Html =>
  barChart(
    spent.map(({ day, amount }) => ({ day, value: toCredits(amount) })),
    'credit',
  )

/**
 * What there was by day as bars; each says what it is, and the whole says what there was in all, in
 * words and as a table.
 */
export function barChart(daily: DailyValue[], noun: string): Html {
  const most = Math.max(...daily.map(({ value }) => value), 0)
  const total = daily.reduce((sum, { value }) => sum + value, 0)
  if (total === 0) return html`<p class="small">Nothing in the last ${daily.length} days.</p>`
  const rects = daily.map(({ day, value }, at) => {
    const height = Math.max(1, (value / most) * chartHeight)
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
  const words = `${formatAmount(total, noun)} in ${daily.length} days, at most ${formatCredits(most)} in one`
  return html`<figure class="chart">
    <svg
      viewBox="0 0 ${daily.length * barWidth} ${chartHeight}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${words}"
    >
      ${rects}
    </svg>
    <p class="small"><span>${formatDay(first)}</span><span>${formatDay(last)}</span></p>
    <figcaption class="small">${words}.</figcaption>
    ${valueTable(daily, noun)}
  </figure>`
}

/** The same in numbers; days without any are left out. */
function valueTable(daily: DailyValue[], noun: string): Html {
  const row = ({ day, value }: DailyValue): Html =>
    html`<tr>
      <td>${formatDay(day)}</td>
      <td class="number">${formatCredits(value)}</td>
    </tr>`
  return html`<details>
    <summary>As a table</summary>
    <table>
      <thead>
        <tr>
          <th scope="col">Day</th>
          <th scope="col" class="number kind">${noun}s</th>
        </tr>
      </thead>
      <tbody>
        ${daily.filter(({ value }) => value > 0).map(row)}
      </tbody>
    </table>
  </details>`
}
