import type { AppContext } from '../context.ts'
import { iso } from '../core/time.ts'
import { linkOf, stateOf } from '../hosting/apps/present.ts'
import { type Appeal, listAppeals } from '../hosting/apps/appeal/appeals.ts'
import { type Entry, listAudit } from '../hosting/audit/audit.ts'
import { listReports, type Report } from '../hosting/reports/reports.ts'
import { type AgentCase, agentCaseOf, type Case, caseOf, casesMax, waiting } from './cases.ts'
import { decide, decisions, isDecision } from './decisions.ts'
import { done, failed, type Outcome } from './outcome.ts'

/** One line, whatever was sent. */
const line = (...words: (string | null)[]): string =>
  words.flatMap((word) => word?.replaceAll(/[\p{Cc}\s]+/gu, ' ') || []).join('  ')

const reportLine = ({ at, app, reason, text, contact }: Report): string =>
  line(iso(at), app, 'report', reason, text, contact && `(${contact})`)

const auditLine = ({ at, by, did, item, why }: Entry): string => line(iso(at), by, did, item, why)

const appealLine = ({ at, app, text }: Appeal): string => line(iso(at), app, 'appeal', text)

/** What waits, a line each. */
async function queue(ctx: AppContext): Promise<Outcome> {
  const { held, asked, reports } = await waiting(ctx)
  const lines = [
    ...held.map(({ heldAt, id, heldBy, heldFor }) =>
      line(iso(heldAt ?? 0), id, `held by ${heldBy}`, heldFor),
    ),
    ...asked.map(appealLine),
    ...reports.map(reportLine),
  ]
  return done(lines.join('\n') || 'Nothing waits.')
}

/** What is known of an app or an agent, and what was decided about it. */
async function show(ctx: AppContext, item: string): Promise<Outcome> {
  if (item.startsWith('@')) {
    const known = await agentCaseOf(ctx, item.slice(1))
    if (known) return done([...aboutAgent(known), ...known.decided.map(auditLine)].join('\n'))
  }
  const known = await caseOf(ctx, item)
  if (!known) return failed(`There is no ${item} here.`)
  return done([...aboutApp(ctx, known), ...known.decided.map(auditLine)].join('\n'))
}

function aboutAgent({ agent, made }: AgentCase): string[] {
  const { handle, suspended, suspendedFor, pausedBy, created, closed } = agent
  return [
    line(`@${handle}`, `since ${iso(created)}`, pausedBy && `buys nothing: ${pausedBy}`),
    ...(closed === null ? [] : [`closed ${iso(closed)}`]),
    ...(suspended === null ? [] : [line(`suspended ${iso(suspended)}`, suspendedFor)]),
    ...made.map((app) => line(app.id, app.heldAt === null ? stateOf(app) : 'held', app.title)),
  ]
}

function aboutApp(ctx: AppContext, { app, maker, versions, reports }: Case): string[] {
  return [
    line(linkOf(ctx, app.id), stateOf(app), `on Explore: ${app.listed}`),
    line(`by @${maker}`, app.title),
    ...(app.takenDown === null ? [] : [line('taken down', iso(app.takenDown), app.takenDownFor)]),
    ...(app.heldAt === null ? [] : [line('held', iso(app.heldAt), app.heldFor)]),
    ...versions.map(({ version, verdict, findings, sha256 }) =>
      line(`version ${version}`, verdict, findings.map(({ code }) => code).join(' '), sha256),
    ),
    ...reports.map(reportLine),
  ]
}

const reading: Record<string, (ctx: AppContext, item?: string) => Promise<Outcome>> = {
  list: queue,
  show: (ctx, item = '') => show(ctx, item),
  reports: async (ctx) => listed((await listReports(ctx, casesMax)).map(reportLine)),
  appeals: async (ctx) => listed((await listAppeals(ctx, casesMax)).map(appealLine)),
  audit: async (ctx, item) => listed((await listAudit(ctx, casesMax, item)).map(auditLine)),
}

const listed = (lines: string[]): Outcome => done(lines.join('\n') || 'Nothing is there.')

const usage = [
  'usage: berth admin list | show <app id|@handle> | reports | appeals | audit [app id|@handle|person]',
  ...decisions.map((words) => `       berth admin ${words}`),
].join('\n')

/** `berth admin <verb> ...`: moderation. What is decided is written down (`berth admin audit`). */
export async function admin(
  ctx: AppContext,
  [name = '', item, ...words]: string[],
): Promise<Outcome> {
  const read = Object.hasOwn(reading, name) ? reading[name] : undefined
  if (read) return read(ctx, item)
  if (item === undefined || !isDecision(name)) return failed(usage)
  return (await decide(ctx, name, { item, why: words.join(' ') })) ?? failed(usage)
}
