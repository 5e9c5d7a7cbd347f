import { type Html, html, type Part } from '../../kernel/html.ts'
import { t } from '../../kernel/words/message.ts'
import { section } from '../../site/components.ts'
import { formatBytes, formatCount, renderDateTime } from '../../site/format.ts'
import { dataTable } from '../../site/lists.ts'
import type { Collected, ServerState } from '../operator/servers.ts'
import { badge } from './components.ts'
import { formatUnit } from './time-chart.ts'

/** Returns whether several servers share the database. */
export const hasSeveral = ({ reports, silent }: Collected<unknown>): boolean =>
  reports.length + silent > 1

export const serverCode = (server: string): Html => html`<code>${server}</code>`

/** Says how many servers did not respond, because a page lacks their part. */
export const silentNote = ({ reports, silent }: { reports: unknown[]; silent: number }): Part =>
  silent > 0 &&
  html`<p class="notice">
    ${silent} of ${formatCount(reports.length + silent, 'server')} did not respond within a second.
    This page lacks what only ${silent === 1 ? t('that server remembers') : t('they remember')}.
  </p>`

/** Lists the servers that share the database; nothing where there is one. */
export function serverSection(states: Collected<ServerState>): Part {
  const heads = [
    t('Server'),
    t('Version'),
    t('Up since'),
    { number: t('Memory') },
    { number: t('Free disk space') },
    { number: t('Event-loop lag') },
  ]
  const row = (
    { server, value }: Collected<ServerState>['reports'][number],
    at: number,
  ): Part[] => [
    html`${serverCode(server)} ${at === 0 && badge(t('this server'), 'good')}
    ${value.isLeader && badge(t('periodic work'))}`,
    value.version,
    renderDateTime(value.startedAt),
    formatBytes(value.memory),
    formatBytes(value.free),
    formatUnit(value.lateMs, 'ms'),
  ]
  const title = t('Servers ({length})', { length: states.reports.length + states.silent })
  const table = dataTable(t('Servers'), heads, states.reports.map(row))
  return hasSeveral(states) && section(title, table)
}
