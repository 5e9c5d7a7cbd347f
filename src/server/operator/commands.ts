import { checkData } from '../../apps/app-data/check-data.ts'
import { appUrl } from '../../apps/kinds.ts'
import type { AppContext } from '../../kernel/context.ts'
import { iso } from '../../kernel/time.ts'
import { doctor } from '../../money/ledger/doctor.ts'
import { findFutureEntry } from '../../money/ledger/reports.ts'
import { networkWaitMs } from '../../money/payments/limits.ts'
import { findOtherNetworks } from '../../money/payments/networks.ts'
import { createOperatorRecovery } from '../../people/people.ts'
import { readFirstApp } from '../../store/data-files.ts'
import { admin } from './admin.ts'
import { inWords, readOwnConditions } from './alerts.ts'
import { archiveBackup } from './archives.ts'
import { createBackup } from './backup.ts'
import { type CommandResult, failed, succeeded } from './command-result.ts'
import { exportCommand, importCommand } from './imports.ts'
import { keysCommand, projectsCommand } from './keys.ts'
import { libraries } from './libraries.ts'
import { giveCredits } from './operations.ts'
import { performCommand } from './perform-command.ts'
import { listReferenced } from './referenced-files.ts'
import { paymentsCommand } from './topups.ts'

/** A command that needs an open context. It runs in the server, or alone where no server runs. */
type Command = (ctx: AppContext, args: string[]) => Promise<CommandResult>

const usage = (text: string): CommandResult => failed(`usage: berth ${text}`)

/** `berth grant <@handle|name|credit_id> <usd>`: gives credits. */
const grant: Command = async (ctx, [name = '', usd = '', ...more]) => {
  if (!name || !usd || more.length > 0) return usage('grant <@handle|name|credit_id> <usd>')
  const { credits } = await performCommand(ctx, giveCredits, {}, { to: name, usd })
  return succeeded(`${name} has ${credits} credits now.`, { name, credits })
}

/** `berth backup <folder>`: writes a consistent copy. With `--to` or alone: an encrypted one. */
const backup: Command = async (ctx, [dir = '', to, keep]) => {
  if (dir && to !== undefined) return usage('backup [<folder> | verify [archive]]')
  return dir ? createBackup(ctx, dir) : archiveBackup(ctx, { to, keep })
}

/** `berth link`: prints the link of the sample app, else of the site. */
const link: Command = async (ctx) => {
  const id = await readFirstApp(ctx.config.dataDir)
  const url = id ? appUrl(ctx, id) : ctx.urls.app
  return succeeded(url, { link: url })
}

/** `berth recover`: prints a recovery code of the operator, which works once. */
const recover: Command = async (ctx, words) => {
  if (words.length > 0) return usage('recover')
  const recovery = await createOperatorRecovery(ctx)
  if (!recovery) return failed('This server has no operator yet. Start it and open its first link.')
  const { name, code } = recovery
  const url = `${ctx.urls.app}/recover`
  return succeeded(
    `Open ${url} and set a new password with the name ${name} and the code ${code}. The code works once.`,
    { url, name, code },
  )
}

/** The commands by name. */
export const commands: Record<string, Command> = {
  grant,
  admin,
  backup,
  doctor: doctorCommand,
  export: exportCommand,
  import: importCommand,
  keys: keysCommand,
  projects: projectsCommand,
  libraries,
  link,
  recover,
  payments: paymentsCommand,
  storage,
}

/**
 * `berth doctor`: checks the ledger, the counters of the data of apps, that each server of a chain
 * is of its network, the certificate of a server with HTTPS of its own, and disk, files, upstreams,
 * payments, backups, the proxy and the clock. Each problem says what to do.
 */
async function doctorCommand(ctx: AppContext): Promise<CommandResult> {
  const [ledger, miscounted, wrong, conditions, ahead] = await Promise.all([
    doctor(ctx),
    checkData(ctx),
    findOtherNetworks(ctx, networkWaitMs),
    readOwnConditions(ctx),
    findFutureEntry(ctx),
  ])
  const { current, problem } = ctx.certificates ?? {}
  const proxies = [...ctx.state.unknownProxies].join(', ')
  const [firing, calm] = [true, false].map((isFiring) =>
    conditions.filter((one) => one.isFiring === isFiring).map((one) => inWords(one).text),
  )
  const problems = [
    ...(miscounted.length > 0
      ? [
          'The data of apps is miscounted, so their limits are off. Report these lines as a bug:',
          ...miscounted,
        ]
      : []),
    ...(wrong.length > 0 ? ['A server of a chain is of another network:', ...wrong] : []),
    ...(problem === undefined ? [] : [`The certificate cannot be renewed: ${problem}`]),
    ...(firing ?? []),
    ...(proxies === ''
      ? []
      : [
          `A proxy at ${proxies} sends X-Forwarded-For, and TRUSTED_PROXIES does not name it. Limits count all its clients as one. Add it, or remove the header there.`,
        ]),
    ...(ahead === undefined
      ? []
      : [
          `The clock of this machine is wrong: it is ${iso(ctx.clock.now())}, and the newest ledger entry is of ${iso(ahead)}. Set the clock, for example with NTP.`,
        ]),
  ]
  const facts = [
    ...(miscounted.length > 0 ? [] : ['The data of apps is as large as it is counted.']),
    ...(current ? [`The certificate is valid until ${iso(current.to)}.`] : []),
    ...(calm ?? []),
  ]
  const text = [ledger.text, ...facts, ...problems].join('\n')
  const ok = ledger.ok && problems.length === 0
  const found = ledger.ok ? problems : [ledger.text, ...problems]
  const data = { ok, facts: ledger.ok ? [ledger.text, ...facts] : facts, problems: found }
  return ok ? succeeded(text, data) : failed(text, data)
}

const missingShownMax = 20
const atOnce = 16

/** `berth storage check`: finds every file that a row references, and brings deleted ones back. */
async function storage(ctx: AppContext, words: string[]): Promise<CommandResult> {
  if (words.join(' ') !== 'check') return failed('usage: berth storage check | berth storage copy')
  return ctx.state.fileWork.run(() => checkFiles(ctx))
}

/**
 * Checks that the storage has every referenced file. Files that are missing from a bucket come back
 * from its trash or, in a bucket with versions, from an older version.
 */
async function checkFiles({ db, storage }: AppContext): Promise<CommandResult> {
  const missing: string[] = []
  let [files, recovered] = [0, 0]
  for await (const names of listReferenced(db.read)) {
    files += names.length
    for (let at = 0; at < names.length; at += atOnce) {
      const some = names.slice(at, at + atOnce)
      const states = await Promise.all(some.map(async (name) => storage.recover(name)))
      recovered += states.filter((state) => state === 'recovered').length
      missing.push(...some.filter((_, index) => states[index] === 'missing'))
    }
  }
  const back = recovered > 0 ? ` ${recovered} of them were deleted and are back.` : ''
  if (missing.length === 0) {
    const text = `The storage has all ${files} files that the database references.${back}`
    return succeeded(text, { files, recovered, missing })
  }
  return failed(
    [
      `The storage lacks ${missing.length} of ${files} files that the database references.${back}`,
      'Restore the data folder or the bucket from a backup, then run this command again. Missing:',
      ...missing.slice(0, missingShownMax),
      ...(missing.length > missingShownMax ? ['…'] : []),
    ].join('\n'),
    { files, recovered, missing },
  )
}
