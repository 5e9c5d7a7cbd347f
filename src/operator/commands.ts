import { newId } from '../core/ids.ts'
import { fromUsd, toCredits } from '../core/money.ts'
import * as accounts from '../gateway/accounts/accounts.ts'
import * as agents from '../hosting/agents/agents.ts'
import { linkOf } from '../hosting/apps/present.ts'
import { note } from '../hosting/moderation/audit.ts'
import { tell } from '../hosting/notes/notes.ts'
import * as people from '../hosting/people/people.ts'
import type { House } from '../house.ts'
import type { Owner } from '../ledger/accounts.ts'
import { doctor } from '../ledger/doctor.ts'
import * as ledger from '../ledger/ledger.ts'
import { readFirstApp } from '../store/first-app.ts'
import { admin } from './admin.ts'
import { backup } from './backup.ts'
import type { Outcome } from './outcome.ts'

/** A command that works on an open house, beside a running server or alone. */
type Command = (house: House, args: string[]) => Promise<Outcome>

const done = (text: string): Outcome => ({ ok: true, text })
const usage = (text: string): Outcome => ({ ok: false, text: `usage: berth ${text}` })

/** `berth grant <@handle|name|credit_id> <usd>`: gives an agent, a person or an account credits. */
const grant: Command = async (house, [whom = '', usd = '']) => {
  const amount = fromUsd(usd)
  if (!whom || amount === undefined || amount <= 0n)
    return usage('grant <@handle|name|credit_id> <usd>')
  const owner = await ownerOf(house, whom)
  if (!owner) return { ok: false, text: `There is no ${whom} here.` }
  const ref = `grant:${newId()}`
  await house.db.tx(async (db) => {
    const account = await ledger.open(house, db, owner)
    await ledger.grant(house, db, { account, amount, kind: 'grant', ref, free: false })
    await note(house, db, { by: 'operator', did: 'grant', item: whom, why: `${usd} USD` })
    if (owner.kind !== 'agent') return
    const credits = toCredits(amount)
    const text = `The operator gave you ${credits} credits.`
    await tell(house, db, { to: owner.owner, kind: 'credits.received', text, data: { credits } })
  })
  const { balance } = await ledger.balanceOf(house, owner)
  return done(`${whom} has ${toCredits(balance)} credits now.`)
}

/** Whose account is meant: an agent's by its @handle, a person's wallet, or a gateway account's. */
async function ownerOf(house: House, whom: string): Promise<Owner | undefined> {
  if (whom.startsWith('@')) {
    const agent = await agents.findByHandle(house, whom.slice(1))
    return agent && { kind: 'agent', owner: agent.id }
  }
  const account = await accounts.find(house, whom)
  if (account) return { kind: 'gateway', owner: account.id }
  const person = await people.findByName(house, whom)
  return person && people.walletOf(person)
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
