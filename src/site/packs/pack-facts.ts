import * as apps from '../../apps/apps.ts'
import type { Item } from '../../apps/explore/schemas.ts'
import { findSummaries, type RecordSummary } from '../../apps/runs/read-record.ts'
import type { AppContext } from '../../kernel/context.ts'
import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { formatBytes, renderDate } from '../format.ts'
import { formatPercent, formatRuns } from './record.ts'

/** Renders what a person chooses a skill or framework by, for each item of a list by its id. */
export async function readPackFacts(
  ctx: AppContext,
  items: readonly Item[],
): Promise<Map<string, Html>> {
  const records = await findSummaries(
    ctx,
    items.map(({ id }) => id),
  )
  const facts = await Promise.all(
    items.map(async (item) => {
      const { folder, htmlBytes } = await apps.getVersion(ctx, item.id, item.version)
      const { license, compatibility } = folder ?? {}
      const parts = { bytes: htmlBytes, license, compatibility, record: records.get(item.id) }
      return [item.id, renderFacts(item, parts)] as const
    }),
  )
  return new Map(facts)
}

interface PackFacts {
  bytes: number
  license: string | undefined
  compatibility: string | undefined
  record: RecordSummary | undefined
}

function renderFacts(
  { description, updated }: Item,
  { bytes, license, compatibility, record }: PackFacts,
): Html {
  const facts: Part[] = [
    successOf(record),
    formatBytes(bytes),
    license ?? t('No license'),
    html`Updated ${renderDate(updated)}`,
  ]
  return html`${description !== '' && html`<p class="pack-about"><bdi>${description}</bdi></p>`}
    <p class="small">
      ${compatibility === undefined ? t('For any agent that reads skills') : html`Compatibility: <bdi>${compatibility}</bdi>`}
    </p>
    <p class="facts">${facts.map((fact) => html`<span>${fact}</span>`)}</p>`
}

/** The success rate with its number of runs. */
function successOf(record: RecordSummary | undefined): Part {
  if (!record || record.successRate === null) return t('No counted run yet')
  const { successRate, counted } = record
  return t('{successRate} of {counted} {part} worked', {
    successRate: formatPercent(successRate),
    counted: formatRuns(counted),
    part: counted === 1 ? 'run' : 'runs',
  })
}
