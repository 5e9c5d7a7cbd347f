import { appUrl } from '../../apps/app-url.ts'
import { type Appeal, listAppeals } from '../../apps/appeal/appeals.ts'
import type { Report } from '../../apps/moderation/reports.ts'
import { stateOf } from '../../apps/present.ts'
import type { AppContext } from '../../kernel/context.ts'
import { lookUp } from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { type AuditEntry, listAudit } from '../../people/audit/audit.ts'
import {
  type AgentCase,
  type AppCase,
  casesMax,
  findAgentCase,
  findAppCase,
  listOpenCases,
  listOpenReports,
} from './cases.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { decide, decisions, isDecision } from './decisions.ts'

/** Joins words to one line: control characters and white space in them become spaces. */
const line = (...words: (string | null)[]): string =>
  words.flatMap((word) => word?.replaceAll(/[\p{Cc}\s]+/gu, ' ') || []).join('  ')

const reportLine = ({ at, app, person, reason, text, contact }: Report): string =>
  line(
    iso(at),
    person === null ? app : `person:${person}`,
    'report',
    reason,
    text,
    contact && `(${contact})`,
  )

const auditLine = ({ at, by, did, item, why }: AuditEntry): string =>
  line(iso(at), by, did, item, why)

const appealLine = ({ at, app, text }: Appeal): string => line(iso(at), app, 'appeal', text)

async function listQueue(ctx: AppContext): Promise<CommandResult> {
  const { quarantined, appeals, reports } = await listOpenCases(ctx)
  const lines = [
    ...quarantined.map(({ quarantinedAt, id, quarantinedBy, quarantineReason }) =>
      line(iso(quarantinedAt ?? 0), id, `quarantined by ${quarantinedBy}`, quarantineReason),
    ),
    ...appeals.map(appealLine),
    ...reports.map(reportLine),
  ]
  return succeeded(lines.join('\n') || 'The queue is empty.')
}

async function showCase(ctx: AppContext, item: string): Promise<CommandResult> {
  if (item.startsWith('@')) {
    const known = await findAgentCase(ctx, item.slice(1))
    if (known)
      return succeeded([...aboutAgent(known), ...known.decisions.map(auditLine)].join('\n'))
  }
  const known = await findAppCase(ctx, item)
  if (!known) return failed(`${item} does not exist on this server.`)
  return succeeded([...aboutApp(ctx, known), ...known.decisions.map(auditLine)].join('\n'))
}

function aboutAgent({ agent, apps }: AgentCase): string[] {
  const { handle, suspended, suspendedFor, pausedBy, created, closed } = agent
  return [
    line(`@${handle}`, `since ${iso(created)}`, pausedBy && `paused by ${pausedBy}`),
    ...(closed === null ? [] : [`closed ${iso(closed)}`]),
    ...(suspended === null ? [] : [line(`suspended ${iso(suspended)}`, suspendedFor)]),
    ...apps.map((app) =>
      line(app.id, app.quarantinedAt === null ? stateOf(app) : 'quarantined', app.title),
    ),
  ]
}

function aboutApp(ctx: AppContext, { app, maker, versions, reports }: AppCase): string[] {
  return [
    line(appUrl(ctx, app.id), stateOf(app), `on Explore: ${app.listed}`),
    line(`by @${maker}`, app.title),
    ...(app.takenDown === null ? [] : [line('taken down', iso(app.takenDown), app.takedownReason)]),
    ...(app.quarantinedAt === null
      ? []
      : [line('quarantined', iso(app.quarantinedAt), app.quarantineReason)]),
    ...versions.map(({ version, verdict, findings, sha256 }) =>
      line(`version ${version}`, verdict, findings.map(({ code }) => code).join(' '), sha256),
    ),
    ...reports.map(reportLine),
  ]
}

const queries: Record<string, (ctx: AppContext, item?: string) => Promise<CommandResult>> = {
  list: listQueue,
  show: (ctx, item = '') => showCase(ctx, item),
  reports: async (ctx) => listing((await listOpenReports(ctx)).map(reportLine)),
  appeals: async (ctx) => listing((await listAppeals(ctx, casesMax)).map(appealLine)),
  audit: async (ctx, item) => listing((await listAudit(ctx, casesMax, item)).map(auditLine)),
}

const listing = (lines: string[]): CommandResult => succeeded(lines.join('\n') || 'Nothing found.')

const usage = [
  'usage: berth admin list | show <app id|@handle> | reports | appeals | audit [app id|@handle|person]',
  ...decisions.map((words) => `       berth admin ${words}`),
].join('\n')

/** `berth admin <verb> ...`: moderation. The audit log (`berth admin audit`) has every decision. */
export async function admin(
  ctx: AppContext,
  [name = '', item, ...words]: string[],
): Promise<CommandResult> {
  const query = lookUp(queries, name)
  if (query) return query(ctx, item)
  if (item === undefined || !isDecision(name)) return failed(usage)
  return (await decide(ctx, name, { item, why: words.join(' ') })) ?? failed(usage)
}
