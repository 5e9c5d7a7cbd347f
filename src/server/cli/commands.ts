import { resolve } from 'node:path'

import { loadConfig } from '../../kernel/config/load.ts'
import type { Config } from '../../kernel/config/settings.ts'
import { originAt } from '../../kernel/config/urls.ts'
import { hasDatabase } from '../../kernel/db/open.ts'
import { systemClock } from '../../kernel/time.ts'
import { target, version } from '../../kernel/version.ts'
import { FolderInUse, lockFolder } from '../../store/folder-lock.ts'
import { closeContext, createContext } from '../context.ts'
import { type CommandResult, failed, succeeded } from '../operator/command-result.ts'
import { runCommand, runOnServer } from '../operator/control.ts'
import { type Arguments, usage } from './arguments.ts'
import { serveUntilSignal } from './serve.ts'

/**
 * Runs a command line. Returns undefined for a server that now runs. `serve` loads no code of the
 * other commands, because the start waits for what it loads.
 */
export async function run(args: Arguments): Promise<CommandResult | undefined> {
  const { words, flags, json, yes } = args
  const [command = 'help', ...rest] = words
  if (command === 'help') return succeeded(usage)
  if (command === 'version') return succeeded(json ? versionJson() : version)
  if (command === 'licenses') return (await import('./licenses.ts')).licenses()
  const config = loadConfig(flags, undefined, command === 'serve' || command === 'models')
  if (command === 'config') return showConfig(config)
  if (command === 'health') return checkHealth(config)
  if (command === 'serve') return startServer(config, json)
  if (command === 'models') return (await import('./models.ts')).models(config, rest, yes)
  if (command === 'restore') return restore(config, rest)
  if (command === 'upgrade') return (await import('./upgrade.ts')).upgrade(config, rest)
  if (command === 'storage' && rest.join(' ') === 'copy') {
    return (await import('./storage-copy.ts')).storageCopy(config)
  }
  const { commands } = await import('../operator/commands.ts')
  if (Object.hasOwn(commands, command)) return operate(config, command, rest)
  return failed(`Unknown command ${command}.\n\n${usage}`)
}

/** Returns what `berth version --json` prints. The target is null from source. */
const versionJson = (): string =>
  JSON.stringify({ version, target: target ?? null, bun: Bun.version })

function showConfig({ rows, warnings }: Config): CommandResult {
  const width = Math.max(...rows.map((row) => row.name.length))
  const lines = rows.map(({ name, value, source, description }) => {
    const shown = value === '' ? '(none)' : value
    return `${name.padEnd(width)}  ${shown}  [${source}]\n${' '.repeat(width)}  ${description}`
  })
  return succeeded([...lines, ...warnings.map((why) => `Warning: ${why}`)].join('\n'))
}

async function checkHealth(config: Config): Promise<CommandResult> {
  const host = config.host === '0.0.0.0' ? '127.0.0.1' : config.host
  const url = `${originAt(host, config.port)}/healthz`
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
  return response?.ok ? succeeded('ok') : failed(`No response from ${url}.`)
}

async function restore(config: Config, [dir, ...more]: string[]): Promise<CommandResult> {
  if (!dir || more.length > 0) return failed('usage: berth restore <folder> [--data ./data]')
  const { restoreBackup } = await import('../operator/backup.ts')
  return restoreBackup(config, dir, systemClock)
}

/** Starts a server. Fails with the link of the server that already uses the data folder. */
async function startServer(config: Config, json: boolean): Promise<CommandResult | undefined> {
  try {
    await serveUntilSignal(config, json)
    return undefined
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error
    const running = await runOnServer(config.dataDir, { command: 'link', words: [] })
    return failed(`${error.message} ${running?.text ?? ''}`.trim())
  }
}

/**
 * Runs a command in the running server, or on the data folder where no server runs. The server may
 * have another working folder, so it gets absolute paths.
 */
async function operate(config: Config, command: string, words: string[]): Promise<CommandResult> {
  const isPath = (word: string): boolean => command === 'backup' || word.endsWith('gz')
  const paths = words.map((word) => (isPath(word) ? resolve(word) : word))
  const request = { command, words: paths }
  const result = await runOnServer(config.dataDir, request)
  if (result) return result
  if (!hasDatabase(config)) return failed(`There is no database in ${config.dataDir}.`)
  const release = lockFolder(config.dataDir)
  const ctx = await createContext(config, `http://localhost:${config.port}`)
  const own = await runCommand(ctx, request)
  await closeContext(ctx)
  release()
  return own
}
