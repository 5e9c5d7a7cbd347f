import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import type { Spent } from '../../ledger/spending.ts'

/** The width of a day and the height of the highest, in a square that is stretched to fit. */
const [step, high] = [24, 100]
const numbers = new Intl.NumberFormat('en', { maximumFractionDigits: 2 })
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' })

const dayOf = (day: string): string => days.format(Date.parse(day))

/** A number of credits in few signs. */
export const inCredits = (credits: number): string => numbers.format(credits)

/** Spending by day as bars; each says what it is, and the whole says what there was in all. */
export function chart(spent: Spent[]): Html {
  const amounts = spent.map(({ amount }) => toCredits(amount))
  const most = Math.max(...amounts, 0)
  const total = amounts.reduce((sum, one) => sum + one, 0)
  if (total === 0) return html`<p class="small">Nothing in the last ${spent.length} days.</p>`
  const bars = spent.map(({ day }, at) => {
    const credits = amounts[at] ?? 0
    const height = Math.max(1, (credits / most) * high)
    return html`<rect
      x="${at * step + 2}"
      y="${(high - height).toFixed(1)}"
      width="${step - 4}"
      height="${height.toFixed(1)}"
      class="${credits > 0 ? 'bar' : 'none'}"
      ><title>${dayOf(day)}: ${inCredits(credits)} credits</title></rect
    >`
  })
  const [first, last] = [spent[0]?.day ?? '', spent.at(-1)?.day ?? '']
  const words = `${inCredits(total)} credits in ${spent.length} days, at most ${inCredits(most)} in one`
  return html`<figure class="chart">
    <svg
      viewBox="0 0 ${spent.length * step} ${high}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${words}"
    >
      ${bars}
    </svg>
    <p class="small"><span>${dayOf(first)}</span><span>${dayOf(last)}</span></p>
    <figcaption class="small">${words}.</figcaption>
  </figure>`
}
