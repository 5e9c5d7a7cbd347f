import { newId } from '../core/ids.ts'
import { fromUsd, toCredits } from '../core/money.ts'
import { iso } from '../core/time.ts'
import * as agents from '../hosting/agents/agents.ts'
import * as moderation from '../hosting/apps/moderation.ts'
import { linkOf } from '../hosting/apps/present.ts'
import { listReports, type Report } from '../hosting/apps/reports.ts'
import type { House } from '../house.ts'
import { doctor } from '../ledger/doctor.ts'
import * as ledger from '../ledger/ledger.ts'
import { readFirstApp } from '../store/first-app.ts'
import { backup } from './backup.ts'
import type { Outcome } from './outcome.ts'

/** A command that works on an open house, beside a running server or alone. */
type Command = (house: House, args: string[]) => Promise<Outcome>

const done = (text: string): Outcome => ({ ok: true, text })
const usage = (text: string): Outcome => ({ ok: false, text: `usage: berth ${text}` })

/** `berth grant <@handle> <usd>`: gives an agent credits from the house. */
const grant: Command = async (house, [whom = '', usd = '']) => {
  const amount = fromUsd(usd)
  if (!whom.startsWith('@') || amount === undefined || amount <= 0n)
    return usage('grant <@handle> <usd>')
  const agent = await agents.findByHandle(house, whom.slice(1))
  if (!agent) return { ok: false, text: `There is no ${whom} here.` }
  const account = { kind: 'agent', owner: agent.id } as const
  await ledger.grantTo(house, account, { amount, kind: 'grant', ref: `grant:${newId()}` })
  const { balance } = await ledger.balanceOf(house, account)
  return done(`${whom} has ${toCredits(balance)} credits now.`)
}

const lineOf = ({ at, app, reason, text }: Report): string =>
  `${iso(at)}  ${app}  ${reason}  ${text.replaceAll(/\s+/g, ' ')}`

/** `berth admin takedown|restore <app id> [reason]`, `berth admin reports`: moderation. */
const admin: Command = async (house, [verb, id = '', ...words]) => {
  if (verb === 'takedown' && id && words.length > 0) {
    return done(await moderation.takeDown(house, id, words.join(' ')))
  }
  if (verb === 'restore' && id) return done(await moderation.putBack(house, id))
  if (verb === 'reports') return done((await listReports(house, 50)).map(lineOf).join('\n'))
  return usage('admin takedown <app id> <reason> | restore <app id> | reports')
}

/** `berth doctor`: rebuilds every balance from the entries and says where one differs. */
const checkBooks: Command = (house) => doctor(house)

/** `berth backup <folder>`: a consistent copy of the database and the files. */
const keepCopy: Command = async (house, [dir = '']) =>
  dir ? backup(house, dir) : usage('backup <folder>')

/** `berth link`: the link of the sample that this house shows. */
const link: Command = async (house) => {
  const id = await readFirstApp(house.config.dataDir)
  return done(id ? linkOf(house, id) : house.urls.app)
}

/** Every command by its first word. */
export const commands: Record<string, Command> = {
  grant,
  admin,
  backup: keepCopy,
  doctor: checkBooks,
  link,
}
