import type { Item } from '../../apps/explore/schemas.ts'
import { recordDays } from '../../apps/runs/limits.ts'
import { getRecord, type RecordSummary } from '../../apps/runs/record.ts'
import { listByPack, presentRuns } from '../../apps/runs/runs.ts'
import type { DayRecord, RecordBody, RunBody, VersionRecord } from '../../apps/runs/schemas.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { lastDays } from '../../kernel/time.ts'
import { msg, t, type Text } from '../../kernel/words/message.ts'
import { copyLine, section, statList } from '../components.ts'
import {
  formatCount,
  formatExactCount,
  formatNumber,
  formatPercent,
  renderDate,
} from '../format.ts'
import { dataTable } from '../lists.ts'

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
function sumWeeks(days: readonly string[], byDay: readonly DayRecord[]): Week[] {
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
const formatRuns = (runs: number): string => formatNumber(Math.round(runs * 10) / 10)

/** The runs that count, after "from". */
export const countedRuns = (runs: number): string =>
  formatExactCount(Math.round(runs * 10) / 10, 'counted run')

/** Draws how runs ended by week: those that worked below, all others above. */
function recordChart(all: Week[]): Html {
  const peak = Math.max(...all.map(counted))
  if (peak === 0) return html`<p class="small">No counted run ended in the last 90 days.</p>`
  const height = (runs: number): number => (runs / peak) * chartHeight
  const bars = all.map((week, at) => {
    const { worked, partly, others } = week
    const title = t('{from} to {to}: {worked} of {counted} worked', {
      from: week.from,
      to: week.to,
      worked: formatRuns(worked),
      counted: formatRuns(counted(week)),
    })
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
  const summary = t(
    '{worked} of {total} counted runs of the last 90 days worked, at most {peak} runs a week',
    { worked: formatRuns(worked), total: formatRuns(total), peak: formatRuns(peak) },
  )
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

const runsShown = 5
const versionsShown = 10
const summaryCharsShown = 280

/** The track record of a pack: over time, by version, with its denominator and the last reports. */
export async function recordSection(ctx: AppContext, { id }: Pick<Item, 'id'>): Promise<Html> {
  const [record, reported] = await Promise.all([getRecord(ctx, id), listByPack(ctx, id, runsShown)])
  const runs = await presentRuns(ctx, reported, () => 'public')
  const weeks = sumWeeks(lastDays(ctx.clock, recordDays), record.byDay)
  return html`<section class="record" id="record">
    <h2>Track record</h2>
    ${headline(ctx, id, record)}
    ${
      record.counted > 0 &&
      html`${recordChart(weeks)}${facts(record)}
      ${record.byVersion.length > 1 && versionRecords(record.byVersion)}`
    }
    ${
      runs.length > 0 &&
      section(
        t('Latest reports'),
        html`<ul class="rows reports">
          ${runs.map(reportRow)}
        </ul>`,
      )
    }
  </section>`
}

/** The record of a pack in one line, below its tile. A rate is never shown without its count. */
export const recordLine = ({ successRate, counted, successLow }: RecordSummary): Html =>
  html`<p class="facts">
    ${
      successRate === null
        ? html`<span>No counted run yet</span>`
        : html`<span>Score ${formatPercent(successRate)} from ${countedRuns(counted)}</span
            ><span>at least ${formatPercent(successLow)}</span>`
    }
  </p>`

const confidenceLabels: Record<RecordBody['confidence'], Text> = {
  none: msg('No data'),
  low: msg('Low confidence'),
  medium: msg('Medium confidence'),
  high: msg('High confidence'),
}

function headline({ urls }: AppContext, id: string, record: RecordBody): Html {
  const { successRate, counted, successLow, confidence, distinctAgents, distinctOwners } = record
  if (successRate === null) {
    return html`<p>
        ${record.runs === 0 ? t('No agent has followed this yet.') : t('{runs}, none of which counts yet.', { runs: formatCount(record.runs, 'run') })}
        Agents report how following it went, and the result is shown here.
      </p>
      <details>
        <summary>Start a run with curl</summary>
        ${copyLine(`curl -X POST ${urls.base}/runs -H "Authorization: Bearer $KEY" --json '{"pack":"${id}"}'`, t('Start a run'))}
      </details>`
  }
  return html`<div class="rate">
    <strong>${formatPercent(successRate)}</strong>
    <p>
      score from ${countedRuns(counted)}, at least ${formatPercent(successLow)} (95% interval)<br /><span
        class="small"
        >A run that worked partly counts half. ${confidenceLabels[confidence]}:
        ${formatCount(distinctAgents, 'agent')} of ${formatCount(distinctOwners, 'owner')}</span
      >
    </p>
  </div>`
}

function facts(record: RecordBody): Html {
  const { medianMinutes, verifiedRuns, sharePaidUsd, shareOverdue } = record
  const hasShares = sharePaidUsd > 0 || shareOverdue > 0
  const shown: [string, Part][] = [
    [t('Worked'), formatRuns(record.worked)],
    [t('Partly'), formatRuns(record.partly)],
    [t('Failed'), formatRuns(record.failed)],
    [t('Abandoned'), formatRuns(record.abandoned)],
    [t('Not reported'), formatRuns(record.expired)],
    [t('All runs'), html`${record.runs} <span class="small">(${record.runs30d} in 30 days)</span>`],
    [t('Median time'), medianMinutes !== null && t('{medianMinutes} min', { medianMinutes })],
    [t('Verified'), verifiedRuns > 0 && formatCount(verifiedRuns, 'run')],
    [t('Shares paid'), hasShares && t('{sharePaidUsd} USDC', { sharePaidUsd })],
    [t('Shares overdue'), hasShares && shareOverdue],
  ]
  return statList(shown.filter(([, value]) => value !== false))
}

const versionRecords = (versions: VersionRecord[]): Part =>
  dataTable(
    t('Record by version'),
    [
      t('Version'),
      { number: t('Runs') },
      { number: t('Counted') },
      { number: t('Score') },
      { number: t('At least') },
    ],
    versions
      .slice(0, versionsShown)
      .map(({ version, runs, counted, successRate, successLow }) => [
        t('Version {version}', { version }),
        runs,
        formatRuns(counted),
        successRate === null ? '–' : formatPercent(successRate),
        successRate === null ? '–' : formatPercent(successLow),
      ]),
  )

const outcomeLabels = {
  worked: msg('Worked'),
  partly: msg('Partly worked'),
  failed: msg('Failed'),
  abandoned: msg('Abandoned'),
} as const

/** The outcome of a run, or its state while it has none. */
export const outcomeBadge = ({ outcome, state }: Pick<RunBody, 'outcome' | 'state'>): Html =>
  html`<span class="outcome ${outcome ?? 'none'}"
    >${outcome === null ? (state === 'expired' ? t('Not reported') : t('Running')) : outcomeLabels[outcome]}</span
  >`

function reportRow(run: RunBody): Html {
  const summary = run.summary ?? ''
  const text =
    summary.length > summaryCharsShown
      ? `${summary.slice(0, summaryCharsShown).toWellFormed()}…`
      : summary
  const verified = run.evidence.filter((one) => one.verified).length
  return html`<li>
    <p class="facts">
      ${outcomeBadge(run)}<span>${run.agent}</span><span>Version ${run.version}</span
      ><span>${renderDate(run.closed ?? run.started)}</span
      >${!run.counted && html`<span>not counted</span>`}${verified > 0 && html`<span>${formatCount(verified, 'verified proof')}</span>`}
    </p>
    <p class="text"><bdi>${text}</bdi></p>
    <p class="small"><a href="/runs/${run.id}">Read the report</a></p>
  </li>`
}
