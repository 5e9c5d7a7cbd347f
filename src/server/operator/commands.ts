import { appUrl } from '../../apps/app-url.ts'
import type { AppContext } from '../../kernel/context.ts'
import { iso } from '../../kernel/time.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { networkWaitMs } from '../../money/payments/limits.ts'
import { findOtherNetworks } from '../../money/payments/networks.ts'
import { createOperatorRecovery } from '../../people/people.ts'
import { readFirstApp } from '../../store/sample-app-record.ts'
import { admin } from './admin.ts'
import { createBackup } from './backup.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { creditsOf, findGrantee, grantCredits, parseGrantUsd } from './grants.ts'
import { keysCommand, projectsCommand } from './keys.ts'
import { libraries } from './libraries.ts'

/** A command that needs an open context. It runs in the server, or alone where no server runs. */
type Command = (ctx: AppContext, args: string[]) => Promise<CommandResult>
import { storage } from './storage.ts'
import { paymentsCommand } from './topups.ts'

const usage = (text: string): CommandResult => failed(`usage: berth ${text}`)

/** `berth grant <@handle|name|credit_id> <usd>`: gives credits. */
const grant: Command = async (ctx, [name = '', usd = '', ...more]) => {
  const amount = parseGrantUsd(usd)
  if (!name || amount === undefined || more.length > 0) {
    return usage('grant <@handle|name|credit_id> <usd>')
  }
  const grantee = await findGrantee(ctx, name)
  if (!grantee) return failed(`${name} does not exist on this server.`)
  await grantCredits(ctx, grantee, { amount })
  return succeeded(`${name} has ${await creditsOf(ctx, grantee)} credits now.`)
}

/** `berth backup <folder>`: writes a consistent copy of the database and the files. */
const backup: Command = async (ctx, [dir = '', ...more]) =>
  dir && more.length === 0 ? createBackup(ctx, dir) : usage('backup <folder>')

/** `berth link`: prints the link of the sample app, else of the site. */
const link: Command = async (ctx) => {
  const id = await readFirstApp(ctx.config.dataDir)
  return succeeded(id ? appUrl(ctx, id) : ctx.urls.app)
}

/** `berth recover`: prints a recovery code of the operator, which works once. */
const recover: Command = async (ctx, words) => {
  if (words.length > 0) return usage('recover')
  const recovery = await createOperatorRecovery(ctx)
  if (!recovery) return failed('This server has no operator yet. Start it and open its first link.')
  const { name, code } = recovery
  return succeeded(
    `Open ${ctx.urls.app}/recover and set a new password with the name ${name} and the code ${code}. The code works once.`,
  )
}

/** The commands by name. */
export const commands: Record<string, Command> = {
  grant,
  admin,
  backup,
  doctor: doctorCommand,
  keys: keysCommand,
  projects: projectsCommand,
  libraries,
  link,
  recover,
  payments: paymentsCommand,
  storage,
}

/**
 * `berth doctor`: checks the ledger, that each server of a chain is of its network, and the
 * certificate of a server with HTTPS of its own.
 */
async function doctorCommand(ctx: AppContext): Promise<CommandResult> {
  const [ledger, wrong] = await Promise.all([doctor(ctx), findOtherNetworks(ctx, networkWaitMs)])
  const { current, problem } = ctx.certificates ?? {}
  const problems = [
    ...(wrong.length > 0 ? ['A server of a chain is of another network:', ...wrong] : []),
    ...(problem === undefined ? [] : [`The certificate cannot be renewed: ${problem}`]),
  ]
  const until = current ? [`The certificate is valid until ${iso(current.to)}.`] : []
  const text = [ledger.text, ...until, ...problems].join('\n')
  return ledger.ok && problems.length === 0 ? succeeded(text) : failed(text)
}
