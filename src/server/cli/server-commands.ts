import { join, resolve } from 'node:path'

import { Command } from 'commander'

import { loadConfig, localOrigin } from '../../kernel/config/load.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { hasDatabase } from '../../kernel/db/open.ts'
import { target, version } from '../../kernel/version.ts'
import { FolderInUse, lockFolder } from '../../store/folder-lock.ts'
import { closeContext, createContext } from '../context.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'
import { runCommand, runOnServer } from '../operator/control.ts'
import { serveUntilSignal } from './serve.ts'
import { CommandFailure, printResult, printValue, withBar } from './terminal.ts'

interface Flags {
  port?: string
  host?: string
  data?: string
  json?: boolean
}

/** Reads the settings with the flags of a command. */
export function configOf(
  { port, host, data }: Flags,
  needsKeys = false,
  hosts: string[] = [],
  more: Record<string, string> = {},
): Config {
  const flags = {
    ...more,
    ...(hosts.length > 0 && { HTTPS_HOSTS: hosts.join(',') }),
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
    ...(data !== undefined && { DATA_DIR: data }),
  }
  return loadConfig(flags, undefined, needsKeys)
}

/** Declares a command of the server on this machine. */
const serverCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('--port <port>', 'the port of the server')
    .option('--host <host>', 'the address that it listens on')
    .option('--data <folder>', 'the data folder')

/**
 * Declares the commands that run on the data folder, or in the server that uses it. Actions load
 * their code, because the start of a server waits for what this file imports.
 */
export const serverCommands = (): Command[] => [
  serverCommand('serve', 'serve the data folder')
    .argument('[hosts...]', 'hosts to serve over HTTPS: of the site, and of the app sandbox')
    .action(async (hosts: string[], flags: Flags) =>
      startServer(configOf(flags, true, hosts), flags.json ?? false),
    ),
  serverCommand('config', 'print every setting, its value and origin')
    .option('--write [file]', 'write a new settings file with comments; default: berth.toml')
    .action(async ({ write, ...flags }: Flags & { write?: string | true }) => {
      const config = configOf(flags)
      if (write === undefined) return printResult(showConfig(config), flags.json)
      const { writeSettings } = await import('./settings-file.ts')
      await printResult(
        await writeSettings(config, write === true ? 'berth.toml' : write),
        flags.json,
      )
    }),
  serverCommand('health', 'exit 0 if the server on this machine responds').action(
    async (flags: Flags) => printResult(await checkHealth(configOf(flags)), flags.json),
  ),
  operatorCommand(
    'grant',
    '<@handle|name|credit_id> <usd>',
    'give credits to an agent, a person or an account',
  ),
  operatorCommand(
    'keys',
    '<action> <credit_id|@handle>',
    'list, add, change, rotate and revoke API keys',
  ),
  operatorCommand(
    'projects',
    '<action> <credit_id>',
    'manage groups of keys with budgets of their own',
  ),
  operatorCommand('admin', '', 'moderate: reports, takedowns, quarantines, appeals, suspensions'),
  operatorCommand(
    'libraries',
    '[add <name>@<version> | remove <name>@<version>]',
    'manage the libraries that pages load',
  ),
  ...backupCommands(),
  operatorCommand(
    'storage',
    'check | copy',
    'find missing files, or copy all into the bucket of S3_BUCKET',
  ),
  ...movingCommands(),
  operatorCommand(
    'doctor',
    '',
    'check balances, data of apps, disk, upstreams, backups, proxy and clock',
  ),
  operatorCommand('recover', '', 'print a recovery code of the operator, which works once'),
  operatorCommand('payments', 'check', 'ask every server of coins and rates whether it works'),
  operatorCommand('link', '', 'print the link of the sample app, or of the site'),
  ...binaryCommands(),
]

/** Declares the commands that move an instance to another database, and an agent to here. */
const movingCommands = (): Command[] => [
  serverCommand('copy', 'move the database from SQLite to PostgreSQL or back, with a proof')
    .argument('[words...]')
    .usage('<postgres | sqlite> [options]')
    .action(async (words: string[], flags: Flags) => {
      const { databaseCopy } = await import('./copies.ts')
      await printResult(await databaseCopy(configOf(flags), words), flags.json)
    }),
  serverCommand('import', 'import an agent from the zip that another server exported')
    .argument('<file>', 'the zip of berth export')
    .option('--from <server>', 'the address of the server that you got it from')
    .option('--as <handle>', 'the handle here; default: the one that it has')
    .option('--credits <most>', 'give it its credits, at most so many', '0')
    .action(async (file: string, { from = '', as = '', credits, ...flags }: ImportFlags) => {
      const words = [resolve(file), from.replace(/\/$/, ''), as, credits]
      await printResult(await operate(configOf(flags), 'import', words), flags.json)
    }),
]

interface ImportFlags extends Flags {
  from?: string
  as?: string
  credits: string
}

interface BackupFlags extends Flags {
  to?: string
  keep?: string
  every?: string
}

/** Declares the commands that write, verify and restore backups. */
const backupCommands = (): Command[] => [
  serverCommand('backup', 'write a consistent copy; the server may run')
    .argument('[words...]')
    .usage('[<folder> | verify [archive]] [options]')
    .option('--to <place>', 'write an encrypted archive into a folder or s3://bucket/prefix')
    .option('--keep <counts>', 'the archives to keep there, such as 24h,7d,4w')
    .option('--every <time>', 'repeat, such as 1h, until Ctrl-C')
    .action(async ([word, ...more]: string[], { to, keep, every, ...flags }: BackupFlags) => {
      const { backUpEvery, verify } = await import('./copies.ts')
      const config = configOf(flags, false, [], {
        ...(to !== undefined && { BACKUP_TO: to }),
        ...(keep !== undefined && { BACKUP_KEEP: keep }),
        ...(every !== undefined && { BACKUP_EVERY: every }),
      })
      if (word === 'verify') {
        const verified = await withBar('Verifying', () => verify(config, more))
        return printResult(verified, flags.json)
      }
      if (more.length > 0) throw new CommandFailure('usage: berth backup [<folder> | verify]')
      const words = word ? [word] : ['', resolvePlace(config.backupTo), config.backupKeep]
      const run = async () => {
        const work = () => operate(config, 'backup', words)
        await printResult(await withBar('Backing up', work), flags.json)
      }
      return every === undefined ? run() : backUpEvery(config.backupEvery, run)
    }),
  serverCommand('restore', 'verify a backup and replace the data folder with it')
    .argument('[words...]')
    .usage('<folder | archive | newest> [options]')
    .action(async (words: string[], flags: Flags) => {
      const { restore } = await import('./copies.ts')
      const work = () => restore(configOf(flags), words)
      await printResult(await withBar('Restoring', work), flags.json)
    }),
]

/** Returns the place of archives with an absolute path. */
const resolvePlace = (to: string): string => (/^(s3:|$)/.test(to) ? to : resolve(to))

/** Declares the commands about the binary itself. */
const binaryCommands = (): Command[] => [
  serverCommand('upgrade', 'install the newest release, and keep the present binary')
    .argument('[channel]', 'the channel of releases', 'stable')
    .action(async (channel: string, flags: Flags) => {
      const { upgrade } = await import('./upgrade.ts')
      await printResult(await upgrade(configOf(flags), [channel]), flags.json)
    }),
  new Command('licenses')
    .description('print the licenses of what the binary contains')
    .action(async ({ json }: Flags) => printResult(await licenses(), json)),
  new Command('version')
    .description('print the version')
    .action(({ json }: Flags) =>
      printValue({ version, target: target ?? null, bun: Bun.version }, version, json),
    ),
]

/** Declares the subcommands of `berth models` that read the settings, without a server. */
export function modelCommands(): Command[] {
  const load = () => import('./models.ts')
  const list = serverCommand('list', 'list the models of the settings with prices and upstreams')
  const check = serverCommand('check', 'compare the catalog with what the upstreams serve')
  const sync = serverCommand('sync', 'update prices from public lists, for providers with a key')
  return [
    list.action(async (flags: Flags) =>
      printResult(await (await load()).list(configOf(flags, true)), flags.json),
    ),
    check.action(async (flags: Flags) =>
      printResult(await (await load()).check(configOf(flags, true)), flags.json),
    ),
    sync
      .argument('[url...]', 'lists instead of the known ones')
      .option('--yes', 'also store suspect prices')
      .action(async (urls: string[], flags: Flags & { yes?: boolean }) => {
        const { sync: run } = await import('./models.ts')
        const result = await run(configOf(flags, true), urls, flags.yes ?? false)
        await printResult(result, flags.json)
      }),
  ]
}

/** Declares a command of operator/commands.ts, which checks its words. */
function operatorCommand(name: string, words: string, description: string): Command {
  return serverCommand(name, description)
    .argument('[words...]')
    .usage(`${words} [options]`.trimStart())
    .action(async (given: string[], flags: Flags) => {
      const config = configOf(flags)
      const isCopy = name === 'storage' && given.join(' ') === 'copy'
      const result = isCopy
        ? await (await import('./copies.ts')).storageCopy(config)
        : await operate(config, name, given)
      await printResult(result, flags.json)
    })
}

function showConfig({ rows, warnings }: Config): CommandResult {
  const width = Math.max(...rows.map((row) => row.name.length))
  const lines = rows.map(({ name, value, source, description }) => {
    const shown = value === '' ? '(none)' : value
    return `${name.padEnd(width)}  ${shown}  [${source}]\n${' '.repeat(width)}  ${description}`
  })
  const text = [...lines, ...warnings.map((why) => `Warning: ${why}`)].join('\n')
  return succeeded(text, { settings: rows, warnings })
}

async function checkHealth(config: Config): Promise<CommandResult> {
  const url = `${localOrigin(config)}/healthz`
  const response = await fetch(url, {
    signal: AbortSignal.timeout(5_000),
    // The certificate is of the public name.
    tls: { rejectUnauthorized: false },
  }).catch(() => undefined)
  return response?.ok
    ? succeeded('ok', { url })
    : failed(`No response from ${url}. Start the server: berth serve.`)
}

/** Starts a server. Fails with the link of the server that already uses the data folder. */
async function startServer(config: Config, json: boolean): Promise<void> {
  try {
    await serveUntilSignal(config, json)
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    const running = await runOnServer(config.dataDir, { command: 'link', words: [] })
    throw new CommandFailure(`${error.message} ${running?.text ?? ''}`.trim())
  }
}

/**
 * Runs a command in the running server, or on the data folder where no server runs. The server may
 * have another working folder, so it gets absolute paths.
 */
export async function operate(
  config: Config,
  command: string,
  words: string[],
): Promise<CommandResult> {
  const isPath = (word: string, at: number): boolean =>
    word !== '' && ((command === 'backup' && at === 0) || word.endsWith('gz'))
  const paths = words.map((word, at) => (isPath(word, at) ? resolve(word) : word))
  const request = { command, words: paths }
  const result = await runOnServer(config.dataDir, request)
  if (result) return result
  if (!hasDatabase(config)) {
    const next =
      'Name the folder of the server: --data <folder>. A new one begins with: berth serve.'
    return failed(`There is no database in ${config.dataDir}. ${next}`)
  }
  const release = lockFolder(config.dataDir)
  const ctx = await createContext(config, `http://localhost:${config.port}`)
  const own = await runCommand(ctx, request)
  await closeContext(ctx)
  release()
  return own
}

/** The binary embeds the text beside its bundle: see scripts/packaging/build-licenses.ts. */
const licensesFile = join(import.meta.dir, 'packages/licenses.txt.zst')

/** `berth licenses`: prints the licenses of everything that the binary contains. */
async function licenses(): Promise<CommandResult> {
  if (!Bun.isStandaloneExecutable) {
    return failed('Only the binary has this list. Build it with ./scripts/build.')
  }
  return succeeded(String(await Bun.zstdDecompress(await Bun.file(licensesFile).bytes())))
}
