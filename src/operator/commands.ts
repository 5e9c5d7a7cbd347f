import { linkOf } from '../hosting/apps/present.ts'
import type { House } from '../house.ts'
import { doctor } from '../ledger/doctor.ts'
import { readFirstApp } from '../store/first-app.ts'
import { admin } from './admin.ts'
import { backup } from './backup.ts'
import { amountOf, grant, granteeOf, hasNow } from './grants.ts'
import { done, failed, type Outcome } from './outcome.ts'

/** A command that works on an open house, beside a running server or alone. */
type Command = (house: House, args: string[]) => Promise<Outcome>

const usage = (text: string): Outcome => failed(`usage: berth ${text}`)

/** `berth grant <@handle|name|credit_id> <usd>`: gives an agent, a person or an account credits. */
const giveCredits: Command = async (house, [whom = '', usd = '', ...more]) => {
  const amount = amountOf(usd)
  if (!whom || amount === undefined || more.length > 0)
    return usage('grant <@handle|name|credit_id> <usd>')
  const grantee = await granteeOf(house, whom)
  if (!grantee) return failed(`There is no ${whom} here.`)
  await grant(house, grantee, { amount })
  return done(`${whom} has ${await hasNow(house, grantee)} credits now.`)
}

/** `berth doctor`: rebuilds every balance from the entries and says where one differs. */
const checkBooks: Command = (house) => doctor(house)

/** `berth backup <folder>`: a consistent copy of the database and the files. */
const keepCopy: Command = async (house, [dir = '', ...more]) =>
  dir && more.length === 0 ? backup(house, dir) : usage('backup <folder>')

/** `berth link`: the link of the sample that this house shows. */
const link: Command = async (house) => {
  const id = await readFirstApp(house.config.dataDir)
  return done(id ? linkOf(house, id) : house.urls.app)
}

/** Every command by its first word. */
export const commands: Record<string, Command> = {
  grant: giveCredits,
  admin,
  backup: keepCopy,
  doctor: checkBooks,
  link,
}
