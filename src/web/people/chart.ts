import { type Html, html } from '../../core/markup.ts'
import { toCredits } from '../../core/money.ts'
import type { Spent } from '../../ledger/spending.ts'

const [wide, high, foot] = [720, 160, 24]
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
  const step = wide / Math.max(1, spent.length)
  const bars = spent.map(({ day }, at) => {
    const credits = amounts[at] ?? 0
    const height = credits > 0 ? Math.max(3, (credits / most) * (high - 16)) : 1
    return html`<rect
      x="${(at * step + step * 0.14).toFixed(1)}"
      y="${(high - height).toFixed(1)}"
      width="${(step * 0.72).toFixed(1)}"
      height="${height.toFixed(1)}"
      rx="${credits > 0 ? 3 : 0}"
      class="${credits > 0 ? 'bar' : 'none'}"
      ><title>${dayOf(day)}: ${inCredits(credits)} credits</title></rect
    >`
  })
  const [first, last] = [spent[0]?.day ?? '', spent.at(-1)?.day ?? '']
  const words = `${inCredits(total)} credits spent in ${spent.length} days, at most ${inCredits(most)} in one`
  return html`<figure class="chart">
    <svg viewBox="0 0 ${wide} ${high + foot}" role="img" aria-label="${words}">
      ${bars}
      <text x="0" y="${high + foot - 4}">${dayOf(first)}</text>
      <text x="${wide}" y="${high + foot - 4}" text-anchor="end">${dayOf(last)}</text>
    </svg>
    <figcaption class="small">${words}.</figcaption>
  </figure>`
}
