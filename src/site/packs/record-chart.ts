import type { DayRecord } from '../../apps/runs/schemas.ts'
import { type Html, html } from '../../kernel/html.ts'
import { renderDate } from '../format.ts'

const weeks = 13
const weekDays = 7
/** Sizes in the units of the view box, which is stretched to fit. */
const [barWidth, chartHeight] = [24, 100]

/** The counted runs of seven days. */
interface Week {
  /** The first and the last day. */
  from: string
  to: string
  worked: number
  partly: number
  others: number
}

/** Sums days to weeks, the newest one last. `days` are all days of the graph, oldest first. */
export function sumWeeks(days: readonly string[], byDay: readonly DayRecord[]): Week[] {
  const known = new Map(byDay.map((row) => [row.day, row]))
  const recent = days.slice(-weeks * weekDays)
  return Array.from({ length: Math.ceil(recent.length / weekDays) }, (_, at) => {
    const some = recent.slice(at * weekDays, (at + 1) * weekDays)
    const rows = some.flatMap((day) => known.get(day) ?? [])
    const sum = (of: (row: DayRecord) => number) => rows.reduce((all, row) => all + of(row), 0)
    const [worked, partly] = [sum((row) => row.worked), sum((row) => row.partly)]
    const others = sum((row) => row.counted) - worked - partly
    return { from: some[0] ?? '', to: some.at(-1) ?? '', worked, partly, others }
  })
}

const counted = ({ worked, partly, others }: Week): number => worked + partly + others

/** Shows tenths only where there are some. */
export const formatRuns = (runs: number): string => String(Math.round(runs * 10) / 10)

/** Draws how runs ended by week: those that worked below, all others above. */
export function recordChart(all: Week[]): Html {
  const peak = Math.max(...all.map(counted))
  if (peak === 0) return html`<p class="small">No counted run ended in the last 90 days.</p>`
  const height = (runs: number): number => (runs / peak) * chartHeight
  const bars = all.map((week, at) => {
    const { worked, partly, others } = week
    const title = `${week.from} to ${week.to}: ${formatRuns(worked)} of ${formatRuns(counted(week))} worked`
    let top = chartHeight
    const parts = [
      ['worked', worked],
      ['partly', partly],
      ['others', others],
    ] as const
    return html`<g
      ><title>${title}</title>${parts.map(([name, runs]) => {
        top -= height(runs)
        return html`<rect
          class="${name}"
          x="${at * barWidth + 3}"
          y="${top.toFixed(1)}"
          width="${barWidth - 6}"
          height="${height(runs).toFixed(1)}"
        />`
      })}</g
    >`
  })
  const total = all.reduce((sum, week) => sum + counted(week), 0)
  const worked = all.reduce((sum, week) => sum + week.worked, 0)
  const summary = `${formatRuns(worked)} of ${formatRuns(total)} counted runs of the last 90 days worked, at most ${formatRuns(peak)} runs a week`
  return html`<figure class="chart record-chart">
    <svg
      viewBox="0 0 ${all.length * barWidth} ${chartHeight}"
      preserveAspectRatio="none"
      role="img"
      aria-label="${summary}"
    >
      ${bars}
    </svg>
    <p class="small">
      <span>${renderDate(all[0]?.from ?? '')}</span><span>${renderDate(all.at(-1)?.to ?? '')}</span>
    </p>
    <figcaption class="small">
      <span class="key worked">Worked</span> <span class="key partly">Partly</span>
      <span class="key others">Failed, abandoned or not reported</span>
      <span>${summary}.</span>
    </figcaption>
  </figure>`
}
