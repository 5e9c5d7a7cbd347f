import { type Html, html } from '../../core/markup.ts'
import { minute } from '../../core/time.ts'
import { historyMs, type Sample } from '../../state/metrics-history.ts'

/** The width of a minute and the height of the highest, in a square that is stretched to fit. */
const [barWidth, chartHeight] = [4, 100]
const chartWidth = (historyMs / minute) * barWidth

/** A graph of the last three hours, a bar for each minute. */
interface Graph {
  title: string
  /** What a minute shows. */
  valueOf(minute: Sample): number
  /** A value in words, with its unit. */
  format(value: number): string
  /** What all minutes come to, in words; left out where they do not add up. */
  formatTotal?(value: number): string
  bad?: boolean
}

/** The bars as one path: a rectangle for each minute, the newest at the right. */
function barPath(values: number[], most: number): string {
  const first = chartWidth - values.length * barWidth
  return values
    .map((value, at) => {
      const height = value > 0 ? Math.max(1.5, (value / most) * chartHeight) : 0
      return height === 0
        ? ''
        : `M${first + at * barWidth} ${chartHeight}v-${height.toFixed(1)}h${barWidth}v${chartHeight}z`
    })
    .join('')
}

/** A graph with its numbers in words. Without a measured minute it says so. */
export function graph(
  { title, valueOf: of, format: say, formatTotal: sum, bad = false }: Graph,
  minutes: Sample[],
): Html {
  const values = minutes.map(of)
  const [now, most] = [values.at(-1) ?? 0, Math.max(...values, 0)]
  const all = sum?.(values.reduce((total, one) => total + one, 0))
  const words = `Now ${say(now)}, at most ${say(most)}${all === undefined ? '' : `, ${all} in all`}`
  const bars = html`<svg
      viewBox="0 0 ${chartWidth} ${chartHeight}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${title}, the last three hours. ${words}."
    >
      <path class="bar${bad && ' bad'}" d="${barPath(values, most)}" />
    </svg>
    <p class="small"><span>3 hours ago</span><span>now</span></p>`
  return html`<figure class="chart">
    <h2>${title}</h2>
    ${values.length > 0 && bars}
    <figcaption class="small">
      ${values.length > 0 ? `${words}.` : 'Nothing was measured yet: the first minute is under way.'}
    </figcaption>
  </figure>`
}
