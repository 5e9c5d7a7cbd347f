import { type Appeal, listAppeals } from '../../apps/appeal/appeals.ts'
import type { App } from '../../apps/apps.ts'
import { appUrl } from '../../apps/kinds.ts'
import type { Report } from '../../apps/moderation/reports.ts'
import { stateOf } from '../../apps/present.ts'
import type { AppContext } from '../../kernel/context.ts'
import { lookUp } from '../../kernel/schema.ts'
import { iso } from '../../kernel/time.ts'
import { type AuditEntry, commandLine, listAudit } from '../../people/audit/audit.ts'
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

const isoOrNull = (at: number | null): string | null => (at === null ? null : iso(at))

const reportData = ({ at, app, person, reason, text, contact }: Report) => ({
  ...(person === null ? { app } : { person }),
  at: iso(at),
  reason,
  text,
  contact,
})

const auditData = ({ at, by, did, item, why }: AuditEntry) => ({ at: iso(at), by, did, item, why })

const appealData = ({ at, app, text }: Appeal) => ({ app, at: iso(at), text })

const quarantineOf = ({ quarantinedAt, quarantinedBy, quarantineReason }: App) =>
  quarantinedAt === null
    ? null
    : { at: iso(quarantinedAt), by: quarantinedBy, reason: quarantineReason }

async function listQueue(ctx: AppContext): Promise<CommandResult> {
  const { quarantined, appeals, reports } = await listOpenCases(ctx)
  const lines = [
    ...quarantined.map(({ quarantinedAt, id, quarantinedBy, quarantineReason }) =>
      line(iso(quarantinedAt ?? 0), id, `quarantined by ${quarantinedBy}`, quarantineReason),
    ),
    ...appeals.map(appealLine),
    ...reports.map(reportLine),
  ]
  return succeeded(lines.join('\n') || 'The queue is empty.', {
    quarantined: quarantined.map((app) => ({ app: app.id, ...quarantineOf(app) })),
    appeals: appeals.map(appealData),
    reports: reports.map(reportData),
  })
}

async function showCase(ctx: AppContext, item: string): Promise<CommandResult> {
  if (item.startsWith('@')) {
    const known = await findAgentCase(ctx, item.slice(1))
    if (known) return showing(aboutAgent(known), agentData(known), known)
  }
  const known = await findAppCase(ctx, item)
  if (!known) return failed(`${item} does not exist on this server.`)
  return showing(aboutApp(ctx, known), appData(ctx, known), known)
}

const showing = (
  lines: string[],
  data: object,
  { decisions: made }: { decisions: AuditEntry[] },
): CommandResult =>
  succeeded([...lines, ...made.map(auditLine)].join('\n'), {
    ...data,
    decisions: made.map(auditData),
  })

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

const agentData = ({ agent, apps }: AgentCase) => ({
  agent: {
    handle: agent.handle,
    created: iso(agent.created),
    pausedBy: agent.pausedBy,
    closed: isoOrNull(agent.closed),
    suspended: isoOrNull(agent.suspended),
    suspendedFor: agent.suspendedFor,
  },
  apps: apps.map((app) => ({
    id: app.id,
    title: app.title,
    state: stateOf(app),
    quarantine: quarantineOf(app),
  })),
})

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

const appData = (ctx: AppContext, { app, maker, versions, reports, appeals }: AppCase) => ({
  app: {
    id: app.id,
    link: appUrl(ctx, app.id),
    title: app.title,
    maker: `@${maker}`,
    state: stateOf(app),
    listed: app.listed,
    takenDown: isoOrNull(app.takenDown),
    takedownReason: app.takedownReason,
    quarantine: quarantineOf(app),
  },
  versions: versions.map(({ version, verdict, findings, sha256 }) => ({
    version,
    verdict,
    findings: findings.map(({ code }) => code),
    sha256,
  })),
  reports: reports.map(reportData),
  appeals: appeals.map(appealData),
})

const queries: Record<string, (ctx: AppContext, item?: string) => Promise<CommandResult>> = {
  list: listQueue,
  show: (ctx, item = '') => showCase(ctx, item),
  reports: async (ctx) => {
    const reports = await listOpenReports(ctx)
    return listing(reports.map(reportLine), { reports: reports.map(reportData) })
  },
  appeals: async (ctx) => {
    const appeals = await listAppeals(ctx, casesMax)
    return listing(appeals.map(appealLine), { appeals: appeals.map(appealData) })
  },
  audit: async (ctx, item) => {
    const made = await listAudit(ctx, casesMax, item)
    return listing(made.map(auditLine), { decisions: made.map(auditData) })
  },
}

const listing = (lines: string[], data: object): CommandResult =>
  succeeded(lines.join('\n') || 'Nothing found.', data)

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
  const decision = { item, why: words.join(' '), by: commandLine }
  return (await decide(ctx, name, decision)) ?? failed(usage)
}
