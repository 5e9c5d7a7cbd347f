import type { AppContext } from '../context.ts'
import { linkOf } from '../hosting/apps/present.ts'
import { doctor } from '../ledger/doctor.ts'
import { readFirstApp } from '../storage/first-app.ts'
import { admin } from './admin.ts'
import { backup } from './backup.ts'
import { amountOf, grant, granteeOf, hasNow } from './grants.ts'
import { done, failed, type Outcome } from './outcome.ts'

/** A command that works on an open house, beside a running server or alone. */
type Command = (ctx: AppContext, args: string[]) => Promise<Outcome>

const usage = (text: string): Outcome => failed(`usage: berth ${text}`)

/** `berth grant <@handle|name|credit_id> <usd>`: gives an agent, a person or an account credits. */
const giveCredits: Command = async (ctx, [whom = '', usd = '', ...more]) => {
  const amount = amountOf(usd)
  if (!whom || amount === undefined || more.length > 0)
    return usage('grant <@handle|name|credit_id> <usd>')
  const grantee = await granteeOf(ctx, whom)
  if (!grantee) return failed(`There is no ${whom} here.`)
  await grant(ctx, grantee, { amount })
  return done(`${whom} has ${await hasNow(ctx, grantee)} credits now.`)
}

/** `berth doctor`: rebuilds every balance from the entries and says where one differs. */
const checkBooks: Command = (ctx) => doctor(ctx)

/** `berth backup <folder>`: a consistent copy of the database and the files. */
const keepCopy: Command = async (ctx, [dir = '', ...more]) =>
  dir && more.length === 0 ? backup(ctx, dir) : usage('backup <folder>')

/** `berth link`: the link of the sample that this house shows. */
const link: Command = async (ctx) => {
  const id = await readFirstApp(ctx.config.dataDir)
  return done(id ? linkOf(ctx, id) : ctx.urls.app)
}

/** Every command by its first word. */
export const commands: Record<string, Command> = {
  grant: giveCredits,
  admin,
  backup: keepCopy,
  doctor: checkBooks,
  link,
}
