import { idPattern } from '../core/ids.ts'
import { iso } from '../core/time.ts'
import * as agents from '../hosting/agents/agents.ts'
import { handlesOf } from '../hosting/agents/names.ts'
import { pause } from '../hosting/agents/spending.ts'
import * as apps from '../hosting/apps/apps.ts'
import { listHeld } from '../hosting/apps/moderation.ts'
import { linkOf, stateOf } from '../hosting/apps/present.ts'
import * as appeals from '../hosting/moderation/appeals.ts'
import { type Entry, listAudit, note } from '../hosting/moderation/audit.ts'
import * as moderation from '../hosting/moderation/moderation.ts'
import { listReports, type Report } from '../hosting/moderation/reports.ts'
import { hideSaid } from '../hosting/reviews/removal.ts'
import type { House } from '../house.ts'
import type { Outcome } from './outcome.ts'

const listMax = 50

const done = (text: string): Outcome => ({ ok: true, text })
const failed = (text: string): Outcome => ({ ok: false, text })

/** One line, whatever was sent. */
const line = (...words: (string | null)[]): string =>
  words.flatMap((word) => word?.replaceAll(/[\p{Cc}\s]+/gu, ' ') || []).join('  ')

const reportLine = ({ at, app, reason, text, contact }: Report): string =>
  line(iso(at), app, 'report', reason, text, contact && `(${contact})`)

const auditLine = ({ at, by, did, item, why }: Entry): string => line(iso(at), by, did, item, why)

const appealLine = ({ at, app, text }: appeals.Appeal): string => line(iso(at), app, 'appeal', text)

/** All that waits for the operator: held apps, appeals, reports, the oldest of each first. */
async function queue(house: House): Promise<Outcome> {
  const [held, asked, reports] = await Promise.all([
    listHeld(house, listMax),
    appeals.listAppeals(house, listMax),
    listReports(house, listMax),
  ])
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
async function show(house: House, item: string): Promise<Outcome> {
  const about = item.startsWith('@') ? await aboutAgent(house, item) : await aboutApp(house, item)
  if (!about) return failed(`There is no ${item} here.`)
  const decided = (await listAudit(house, listMax, item)).map(auditLine)
  return done([...about, ...decided].join('\n'))
}

async function aboutAgent(house: House, handle: string): Promise<string[] | undefined> {
  const agent = await agents.findByHandle(house, handle.slice(1))
  if (!agent) return undefined
  const made = await apps.listOf(house, agent.id, listMax)
  const { suspended, suspendedFor, pausedBy, created, closed } = agent
  return [
    line(handle, `since ${iso(created)}`, pausedBy && `buys nothing: ${pausedBy}`),
    ...(closed === null ? [] : [`closed ${iso(closed)}`]),
    ...(suspended === null ? [] : [line(`suspended ${iso(suspended)}`, suspendedFor)]),
    ...made.map((app) => line(app.id, app.heldAt === null ? stateOf(app) : 'held', app.title)),
  ]
}

async function aboutApp(house: House, id: string): Promise<string[] | undefined> {
  const app = await apps.find(house, id)
  if (!app) return undefined
  const maker = (await handlesOf(house, [app.maker])).get(app.maker)
  const pages = await apps.versionsOf(house, app, listMax)
  return [
    line(linkOf(house, id), stateOf(app), `on Explore: ${app.listed}`),
    line(`by @${maker}`, app.title),
    ...(app.takenDown === null ? [] : [line('taken down', iso(app.takenDown), app.takenDownFor)]),
    ...(app.heldAt === null ? [] : [line('held', iso(app.heldAt), app.heldFor)]),
    ...pages.map(({ version, verdict, findings, sha256 }) =>
      line(`version ${version}`, verdict, findings.map(({ code }) => code).join(' '), sha256),
    ),
    ...(await listReports(house, listMax, id)).map(reportLine),
  ]
}

/** A decision: what it is called with, what it does, and what it says when it did that. */
interface Verb {
  item: RegExp
  /** What it is about and what else it is told; what stands in <> is needed. */
  takes: string
  act(house: House, item: string, why: string): Promise<boolean>
  says: string
}

async function mayBuy(house: House, handle: string, may: boolean): Promise<boolean> {
  if (!(await pause(house, handle.slice(1), !may))) return false
  const entry = { by: 'operator', did: may ? 'resume' : 'pause', item: handle, why: '' }
  await house.db.tx((db) => note(house, db, entry))
  return true
}

const page = /^[0-9a-f]{64}$/
const ofApp = { item: idPattern, takes: '<app id> [reason]' }
const ofAgent = { item: /^@[a-z0-9-]+$/, takes: '<@handle>' }
const withReason = { takes: '<app id> <reason>' }

const verbs: Record<string, Verb> = {
  takedown: { ...ofApp, ...withReason, act: moderation.takeDown, says: 'is taken down' },
  restore: { ...ofApp, act: moderation.restore, says: 'is live again' },
  hold: { ...ofApp, ...withReason, act: moderation.hold, says: 'is held back' },
  release: { ...ofApp, act: moderation.release, says: 'is shown again' },
  dismiss: { ...ofApp, act: moderation.dismiss, says: 'has no open reports now' },
  decide: {
    ...{ ...ofApp, takes: '<app id> <grant|deny> <answer>', says: 'is decided; its maker is told' },
    act: (house, id, why) => {
      const [, word, answer] = /^(grant|deny) (.+)$/s.exec(why) ?? []
      return answer ? appeals.decide(house, id, word === 'grant', answer) : Promise.resolve(false)
    },
  },
  suspend: {
    ...{ ...ofAgent, takes: '<@handle> <reason>', says: 'is suspended' },
    act: (house, handle, why) => moderation.suspend(house, handle.slice(1), why),
  },
  unsuspend: {
    ...{ ...ofAgent, says: 'goes on as before' },
    act: (house, handle) => moderation.suspend(house, handle.slice(1), null),
  },
  pause: {
    ...{ ...ofAgent, says: 'can buy nothing now' },
    act: (house, handle) => mayBuy(house, handle, false),
  },
  resume: {
    ...{ ...ofAgent, says: 'can buy again' },
    act: (house, handle) => mayBuy(house, handle, true),
  },
  hide: {
    ...{ item: idPattern, takes: '<review or comment id> <reason>', says: 'is out of sight' },
    act: hideSaid,
  },
  block: {
    ...{ item: page, takes: '<sha256 of a page> <reason>', says: 'cannot come back' },
    act: moderation.block,
  },
  unblock: {
    ...{ item: page, takes: '<sha256 of a page> [reason]', says: 'may come back' },
    act: moderation.unblock,
  },
}

const reading: Record<string, (house: House, item?: string) => Promise<Outcome>> = {
  list: queue,
  show: (house, item = '') => show(house, item),
  reports: async (house) => listed((await listReports(house, listMax)).map(reportLine)),
  appeals: async (house) => listed((await appeals.listAppeals(house, listMax)).map(appealLine)),
  audit: async (house, item) => listed((await listAudit(house, listMax, item)).map(auditLine)),
}

const listed = (lines: string[]): Outcome => done(lines.join('\n') || 'Nothing is there.')

const usage = [
  'usage: berth admin list | show <app id|@handle> | reports | appeals | audit [app id|@handle]',
  ...Object.entries(verbs).map(([verb, { takes }]) => `       berth admin ${verb} ${takes}`),
].join('\n')

const ownOf = <T>(table: Record<string, T>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

/** `berth admin <verb> ...`: moderation. What is decided is written down (`berth admin audit`). */
export async function admin(house: House, [name = '', item, ...words]: string[]): Promise<Outcome> {
  const read = ownOf(reading, name)
  if (read) return read(house, item)
  const verb = ownOf(verbs, name)
  const needed = verb?.takes.match(/<[^>]+>/g)?.length ?? 0
  if (!verb || item === undefined || !verb.item.test(item) || words.length + 1 < needed) {
    return failed(usage)
  }
  return (await verb.act(house, item, words.join(' ')))
    ? done(`${item} ${verb.says}.`)
    : failed(`Nothing to ${name}: there is no such ${item}, or it is so already.`)
}
