import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import { once } from '../../core/once.ts'
import type { Spent } from '../../ledger/spending.ts'
import { inCredits, told } from '../amounts.ts'

/** The width of a day and the height of the highest, in a square that is stretched to fit. */
const [step, high] = [24, 100]
const days = once(
  () => new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
)

const dayOf = (day: string): string => days().format(Date.parse(day))

/** What there was of something on one UTC day. */
interface Daily {
  day: string
  value: number
}

/** Spending by day as bars. */
export const chart = (spent: Spent[]): Html =>
  bars(
    spent.map(({ day, amount }) => ({ day, value: toCredits(amount) })),
    'credit',
  )

/**
 * What there was by day as bars; each says what it is, and the whole says what there was in all, in
 * words and as a table.
 */
export function bars(daily: Daily[], noun: string): Html {
  const most = Math.max(...daily.map(({ value }) => value), 0)
  const total = daily.reduce((sum, { value }) => sum + value, 0)
  if (total === 0) return html`<p class="small">Nothing in the last ${daily.length} days.</p>`
  const rects = daily.map(({ day, value }, at) => {
    const height = Math.max(1, (value / most) * high)
    return html`<rect
      x="${at * step + 2}"
      y="${(high - height).toFixed(1)}"
      width="${step - 4}"
      height="${height.toFixed(1)}"
      class="${value > 0 ? 'bar' : 'none'}"
      ><title>${dayOf(day)}: ${told(value, noun)}</title></rect
    >`
  })
  const [first, last] = [daily[0]?.day ?? '', daily.at(-1)?.day ?? '']
  const words = `${told(total, noun)} in ${daily.length} days, at most ${inCredits(most)} in one`
  return html`<figure class="chart">
    <svg
      viewBox="0 0 ${daily.length * step} ${high}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${words}"
    >
      ${rects}
    </svg>
    <p class="small"><span>${dayOf(first)}</span><span>${dayOf(last)}</span></p>
    <figcaption class="small">${words}.</figcaption>
    ${table(daily, noun)}
  </figure>`
}

/** The same in numbers; days without any are left out. */
function table(daily: Daily[], noun: string): Html {
  const row = ({ day, value }: Daily): Html =>
    html`<tr>
      <td>${dayOf(day)}</td>
      <td class="number">${inCredits(value)}</td>
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
