import { type Html, html } from '../../core/html.ts'
import { minute } from '../../core/time.ts'
import { historyMs, type Sample } from '../../state/metrics-history.ts'

/** Sizes in the units of the view box, which is stretched to fit. */
const [barWidth, chartHeight] = [4, 100]
const chartWidth = (historyMs / minute) * barWidth

/** A bar chart of the last three hours, one bar a minute. */
interface Graph {
  title: string
  valueOf(minute: Sample): number
  /** Formats a value with its unit. */
  format(value: number): string
  /** Formats the total. Omitted for values that do not add up. */
  formatTotal?(value: number): string
  bad?: boolean
}

/** Returns all bars as one path, the latest at the right. */
function barPath(values: number[], peak: number): string {
  const first = chartWidth - values.length * barWidth
  return values
    .map((value, at) => {
      const height = value > 0 ? Math.max(1.5, (value / peak) * chartHeight) : 0
      return height === 0
        ? ''
        : `M${first + at * barWidth} ${chartHeight}v-${height.toFixed(1)}h${barWidth}v${chartHeight}z`
    })
    .join('')
}

export function graph(
  { title, valueOf: of, format: format, formatTotal: sum, bad = false }: Graph,
  minutes: Sample[],
): Html {
  const values = minutes.map(of)
  const [now, peak] = [values.at(-1) ?? 0, Math.max(...values, 0)]
  const all = sum?.(values.reduce((total, one) => total + one, 0))
  const summary = `Now ${format(now)}, peak ${format(peak)}${all === undefined ? '' : `, ${all} total`}`
  const bars = html`<svg
      viewBox="0 0 ${chartWidth} ${chartHeight}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${title}, the last three hours. ${summary}."
    >
      <path class="bar${bad && ' bad'}" d="${barPath(values, peak)}" />
    </svg>
    <p class="small"><span>3 hours ago</span><span>now</span></p>`
  return html`<figure class="chart">
    <h2>${title}</h2>
    ${values.length > 0 && bars}
    <figcaption class="small">
      ${values.length > 0 ? `${summary}.` : 'No data yet. The first minute is being measured.'}
    </figcaption>
  </figure>`
}
