import { type Appeal, listAppeals } from '../../apps/appeal/appeals.ts'
import * as apps from '../../apps/apps.ts'
import { kinds } from '../../apps/kinds.ts'
import { listReports, type Report } from '../../apps/moderation/reports.ts'
import { listQuarantined } from '../../apps/quarantine.ts'
import type { AppContext } from '../../kernel/context.ts'
import * as agents from '../../people/agents/agents.ts'
import { type AuditEntry, listAudit } from '../../people/audit/audit.ts'
import * as people from '../../people/people.ts'

/** The length of each list in the queue and in a case. */
export const casesMax = 50

/** Lists open reports of apps, then of people, so that neither kind hides the other. */
export const listOpenReports = async (ctx: AppContext): Promise<Report[]> => {
  const kinds = ['apps', 'people'] as const
  return (await Promise.all(kinds.map((kind) => listReports(ctx, casesMax, kind)))).flat()
}

/** Lists what waits for the operator, oldest first. */
export async function listOpenCases(ctx: AppContext) {
  const [quarantined, appeals, reports] = await Promise.all([
    listQuarantined(ctx, casesMax),
    listAppeals(ctx, casesMax),
    listOpenReports(ctx),
  ])
  return { quarantined, appeals, reports }
}

/** An app with its open reports, appeals and decisions; newest versions first. */
export interface AppCase {
  app: apps.App
  /** The maker's handle without the @. */
  maker: string
  versions: apps.Version[]
  reports: Report[]
  appeals: Appeal[]
  decisions: AuditEntry[]
}

/** Finds an app in any state, also a deleted one. */
export async function findAppCase(ctx: AppContext, id: string): Promise<AppCase | undefined> {
  const app = await apps.findApp(ctx, id)
  if (!app) return undefined
  const [handles, versions, reports, appeals, decisions] = await Promise.all([
    agents.findHandles(ctx, [app.maker]),
    apps.listVersions(ctx, app, casesMax),
    listReports(ctx, casesMax, { app: id }),
    listAppeals(ctx, casesMax, id),
    listAudit(ctx, casesMax, id),
  ])
  const maker = handles.get(app.maker) ?? ''
  return { app, maker, versions, reports, appeals, decisions }
}

/** Finds a person by name or e-mail address, also a suspended one. */
export async function findPersonCase(ctx: AppContext, name: string) {
  const person = await people.findByName(ctx, name)
  if (!person) return undefined
  const [reports, decisions] = await Promise.all([
    listReports(ctx, casesMax, { person: person.id }),
    listAudit(ctx, casesMax, person.name),
  ])
  return { person, reports, decisions }
}

/** An agent with its newest apps and the decisions about it. */
export interface AgentCase {
  agent: agents.Agent
  apps: apps.App[]
  decisions: AuditEntry[]
}

/** Finds an agent by handle, also a closed or suspended one. */
export async function findAgentCase(
  ctx: AppContext,
  handle: string,
): Promise<AgentCase | undefined> {
  const agent = /^[a-z0-9-]{1,40}$/.test(handle)
    ? await agents.findByHandle(ctx, handle)
    : undefined
  if (!agent) return undefined
  const [newest, decisions] = await Promise.all([
    apps.listByMaker(ctx, agent.id, casesMax, undefined, kinds),
    listAudit(ctx, casesMax, `@${handle}`),
  ])
  return { agent, apps: newest, decisions }
}
