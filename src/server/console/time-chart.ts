import { type Html, html } from '../../kernel/html.ts'
import { day, hour, iso, minute } from '../../kernel/time.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { leftToRight } from '../../kernel/words/words.ts'
import { withQuery } from '../../site/components.ts'
import { formatBytes, formatCompact, formatNumber, shortCredits } from '../../site/format.ts'
import { tabNav } from '../../site/lists.ts'

/** Units of a chart, with the same formats as in time-chart.island.ts. */
const formats = {
  '/s': (value: number) => leftToRight(`${short(value)}/s`),
  ms: (value: number) =>
    value >= 1_000
      ? leftToRight(`${short(value / 1_000)} s`)
      : t('{value} ms', { value: short(value) }),
  '%': (value: number) => leftToRight(`${short(value)} %`),
  cr: (value: number) => t('{value} credits', { value: shortCredits(value) }),
  bytes: formatBytes,
  '': (value: number) => formatCompact(Math.round(value)),
}

export type Unit = keyof typeof formats

const short = (value: number): string =>
  value >= 100 ? formatCompact(Math.round(value)) : formatNumber(Number(value.toPrecision(2)))

export const formatUnit = (value: number, unit: Unit): string => formats[unit](value)

/** A line of a chart. A value is undefined where nothing was measured. */
interface Line {
  name: string
  color: 'accent' | 'warm' | 'danger' | 'quiet'
  values: (number | undefined)[]
}

interface TimeChart {
  title: string
  unit: Unit
  /** Milliseconds since 1970 of the points, oldest first. */
  times: number[]
  lines: Line[]
}

/** A chart over time. Its numbers are a table, which the script of the page draws with uPlot. */
export function timeChart({ title, unit, times, lines }: TimeChart): Html {
  const all = lines.flatMap(({ values }) => values.flatMap((value) => value ?? []))
  const cell = (value: number | undefined): Html =>
    value === undefined
      ? html`<td class="number">–</td>`
      : html`<td class="number" data-value="${value}">${formatUnit(value, unit)}</td>`
  const isLong = (times.at(-1) ?? 0) - (times[0] ?? 0) > day
  const label = (time: number): string => {
    if (time % day === 0) return iso(time).slice(0, 10)
    return isLong ? iso(time).slice(0, 16).replace('T', ' ') : iso(time).slice(11, 16)
  }
  const rows = times.map(
    (time, at) =>
      html`<tr>
        <th scope="row"><time datetime="${iso(time)}">${label(time)}</time></th>
        ${lines.map(({ values }) => cell(values[at]))}
      </tr>`,
  )
  const heads = lines.map(
    ({ name, color }) => html`<th scope="col" class="number" data-color="${color}">${name}</th>`,
  )
  const table = html`<details>
    <summary>Show as table</summary>
    <div class="table-scroll" role="region" aria-label="${title}" tabindex="0">
      <table>
        <thead>
          <tr>
            <th scope="col">UTC</th>
            ${heads}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details>`
  const peak = all.length > 0 && t('Peak {max}', { max: formatUnit(Math.max(...all), unit) })
  return html`<figure class="chart-panel">
    <figcaption>
      <h2>${title}</h2>
      <span class="small">${all.length === 0 ? t('No data yet') : peak}</span>
    </figcaption>
    ${all.length > 0 && html`<time-chart data-unit="${unit}" data-title="${title}">${table}</time-chart>`}
  </figure>`
}

/** A span of time up to now, in `points` of equal length. */
export interface Range {
  name: string
  label: Text
  ms: number
  points: number
}

/** Spans of the traffic of a day, which is kept by minutes. */
export const trafficRanges: Range[] = [
  { name: '15m', label: msg('15 minutes'), ms: 15 * minute, points: 15 },
  { name: '1h', label: msg('Hour'), ms: hour, points: 60 },
  { name: '6h', label: msg('6 hours'), ms: 6 * hour, points: 72 },
  { name: '24h', label: msg('Day'), ms: day, points: 72 },
]

/** Spans of the metrics, which are kept by hours for 90 days. */
export const historyRanges: Range[] = [
  ...trafficRanges,
  { name: '7d', label: msg('7 days'), ms: 7 * day, points: 84 },
  { name: '30d', label: msg('30 days'), ms: 30 * day, points: 90 },
  { name: '90d', label: msg('90 days'), ms: 90 * day, points: 90 },
]

/** Spans of the money that the database has, in UTC days. */
export const moneyRanges: Range[] = [
  { name: '1d', label: msg('Today'), ms: day, points: 1 },
  { name: '7d', label: msg('7 days'), ms: 7 * day, points: 7 },
  { name: '30d', label: msg('30 days'), ms: 30 * day, points: 30 },
  { name: '90d', label: msg('90 days'), ms: 90 * day, points: 90 },
]

/**
 * Returns the requested span. By default it is the shortest one with all data there is, which began
 * `ageMs` ago, up to the second of them.
 */
export function readRange(query: URLSearchParams, ranges: Range[], ageMs: number): Range {
  const name = query.get('range')
  const fitting = ranges[ageMs > (ranges[0]?.ms ?? 0) ? 1 : 0]
  const range = ranges.find((one) => one.name === name) ?? fitting
  if (!range) throw new Error('there are no ranges')
  return range
}

/** The one picker of a page. */
export function rangePicker(path: string, ranges: Range[], current: Range): Html {
  const to = (range: Range): string => withQuery(path, { range: range.name })
  const links = ranges.map((range) => [to(range), range.label] as const)
  return tabNav(t('Range'), links, to(current), 'range-picker')
}
