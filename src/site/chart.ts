import { type Html, html } from '../kernel/html.ts'
import { toCredits } from '../kernel/money.ts'
import { t } from '../kernel/words/message.ts'
import { perLanguage } from '../kernel/words/words.ts'
import type { DailyAmount } from '../money/ledger/reports.ts'
import { formatAmount, shortCredits } from './format.ts'
import { wireWord } from './wire-words.ts'

/** In the units of the view box of a bar, which is stretched to fit. */
const chartHeight = 100
const days = perLanguage(
  (locale) =>
    new Intl.DateTimeFormat(locale === 'en' ? 'en-GB' : locale, {
      day: 'numeric',
      month: 'short',
      timeZone: 'UTC',
    }),
)

const formatDay = (day: string): string => days().format(Date.parse(day))

/** The value of a UTC day. */
interface DailyValue {
  day: string
  value: number
}

export function spendingChart(spent: DailyAmount[]): Html {
  const daily = spent.map(({ day, amount }) => ({ day, value: toCredits(amount) }))
  return barChart(daily, 'credit')
}

/** Returns the smallest of 1, 2 and 5 times a power of ten that is not below a value. */
function roundStep(value: number): number {
  const power = Math.floor(Math.log10(value))
  const factor = [1, 2, 5].find((one) => one * 10 ** power >= value) ?? 10
  // A quotient has the digits that a product would lose: 0.0002.
  return power < 0 ? factor / 10 ** -power : factor * 10 ** power
}

/** Renders values by day as a bar chart, with a summary and a table for screen readers. */
export function barChart(daily: DailyValue[], noun: string): Html {
  const peak = Math.max(...daily.map(({ value }) => value), 0)
  const total = daily.reduce((sum, { value }) => sum + value, 0)
  if (total === 0) return html`<p class="small">No activity in the last ${daily.length} days.</p>`
  // Only credits have parts.
  const step = roundStep(Math.max(peak / 2, noun === 'credit' ? 0 : 1))
  const bars = daily.map(({ day, value }) => {
    const height = value > 0 ? Math.max(1, (value / (2 * step)) * chartHeight) : 0
    return html`<li>
      <svg viewBox="0 0 1 ${chartHeight}" preserveAspectRatio="none">
        <rect y="${(chartHeight - height).toFixed(1)}" width="1" height="${height.toFixed(1)}" />
      </svg>
      <span class="tip">${formatDay(day)}<br /><strong>${formatAmount(value, noun)}</strong></span>
    </li>`
  })
  const [first, last] = [daily[0]?.day ?? '', daily.at(-1)?.day ?? '']
  const summary = t('{total} in {length} days, peak {peak} a day', {
    total: formatAmount(total, noun),
    length: daily.length,
    peak: shortCredits(peak),
  })
  return html`<figure class="chart">
    <div class="plot" role="img" aria-label="${summary}">
      <p class="axis" aria-hidden="true">
        <span>${shortCredits(2 * step)}</span><span>${shortCredits(step)}</span><span>0</span>
      </p>
      <ol class="bars of-${daily.length}" aria-hidden="true">
        ${bars}
      </ol>
    </div>
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
          <th scope="col" class="number capitalized">${wireWord(`${noun}s`)}</th>
        </tr>
      </thead>
      <tbody>
        ${daily.filter(({ value }) => value > 0).map(row)}
      </tbody>
    </table>
  </details>`
}
