import { type Html, html } from '../../kernel/html.ts'
import { day, iso } from '../../kernel/time.ts'
import { formatBytes, formatCompact, shortCredits } from '../../site/format.ts'

/** Units of a chart, with the same formats as in public/islands/time-chart.ts. */
const formats = {
  '/s': (value: number) => `${short(value)}/s`,
  ms: (value: number) => (value >= 1_000 ? `${short(value / 1_000)} s` : `${short(value)} ms`),
  '%': (value: number) => `${short(value)} %`,
  cr: (value: number) => `${shortCredits(value)} credits`,
  bytes: formatBytes,
  '': (value: number) => formatCompact(Math.round(value)),
}

export type Unit = keyof typeof formats

const short = (value: number): string =>
  value >= 100 ? formatCompact(Math.round(value)) : Number(value.toPrecision(2)).toString()

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
  const rows = times.map(
    (time, at) =>
      html`<tr>
        <th scope="row">
          <time datetime="${iso(time)}"
            >${time % day === 0 ? iso(time).slice(0, 10) : iso(time).slice(11, 16)}</time
          >
        </th>
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
  const peak = all.length > 0 && `Peak ${formatUnit(Math.max(...all), unit)}`
  return html`<figure class="chart-panel">
    <figcaption>
      <h2>${title}</h2>
      <span class="small">${all.length === 0 ? 'No data yet' : peak}</span>
    </figcaption>
    ${all.length > 0 && html`<time-chart data-unit="${unit}" data-title="${title}">${table}</time-chart>`}
  </figure>`
}
