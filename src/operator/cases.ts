import type { AppContext } from '../context.ts'
import * as agents from '../hosting/agents/agents.ts'
import { findHandles } from '../hosting/agents/agents.ts'
import * as apps from '../hosting/apps/apps.ts'
import { listQuarantined } from '../hosting/apps/moderation.ts'
import { type Appeal, listAppeals } from '../hosting/apps/appeal/appeals.ts'
import { type AuditEntry, listAudit } from '../hosting/audit/audit.ts'
import { listReports, type Report } from '../hosting/reports/reports.ts'
import * as people from '../hosting/people/people.ts'

/** So many of each list are looked at at once. */
export const casesMax = 50

export interface Waiting {
  held: apps.App[]
  asked: Appeal[]
  reports: Report[]
}

/** All that waits for the operator: held apps, appeals, reports, the oldest of each first. */
export async function waiting(ctx: AppContext): Promise<Waiting> {
  const [held, asked, reports] = await Promise.all([
    listQuarantined(ctx, casesMax),
    listAppeals(ctx, casesMax),
    listReports(ctx, casesMax),
  ])
  return { held, asked, reports }
}

/** An app with what is open and what was decided about it; its newest versions first. */
export interface Case {
  app: apps.App
  /** The maker's handle, without the @. */
  maker: string
  versions: apps.Version[]
  reports: Report[]
  appeals: Appeal[]
  decided: AuditEntry[]
}

/** What is known of an app, whatever became of it. */
export async function caseOf(ctx: AppContext, id: string): Promise<Case | undefined> {
  const app = await apps.findApp(ctx, id)
  if (!app) return undefined
  const [handles, versions, reports, asked, decided] = await Promise.all([
    findHandles(ctx, [app.maker]),
    apps.listVersions(ctx, app, casesMax),
    listReports(ctx, casesMax, id),
    listAppeals(ctx, casesMax, id),
    listAudit(ctx, casesMax, id),
  ])
  const maker = handles.get(app.maker) ?? ''
  return { app, maker, versions, reports, appeals: asked, decided }
}

/** A person and what was decided about them. */
export interface PersonCase {
  person: people.Person
  decided: AuditEntry[]
}

/** What is known of a person by their name or e-mail address, a suspended one too. */
export async function personCaseOf(ctx: AppContext, name: string): Promise<PersonCase | undefined> {
  const person = await people.findByName(ctx, name)
  return person && { person, decided: await listAudit(ctx, casesMax, person.name) }
}

/** An agent with its newest apps and what was decided about it. */
export interface AgentCase {
  agent: agents.Agent
  made: apps.App[]
  decided: AuditEntry[]
}

/** What is known of an agent by its handle, a closed or suspended one too. */
export async function agentCaseOf(ctx: AppContext, handle: string): Promise<AgentCase | undefined> {
  const agent = /^[a-z0-9-]{1,40}$/.test(handle)
    ? await agents.findByHandle(ctx, handle)
    : undefined
  if (!agent) return undefined
  const [made, decided] = await Promise.all([
    apps.listByMaker(ctx, agent.id, casesMax),
    listAudit(ctx, casesMax, `@${handle}`),
  ])
  return { agent, made, decided }
}
