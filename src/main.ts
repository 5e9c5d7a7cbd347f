import { resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { greet } from './cli/first-run.ts'
import { environmentForUpstreams, loadConfig } from './config/load.ts'
import type { Config } from './config/settings.ts'
import { originAt } from './config/urls.ts'
import { closeContext, createContext } from './context.ts'
import { systemClock } from './core/time.ts'
import { hasDatabase } from './db/open.ts'
import { operatorLink } from './hosting/people/people.ts'
import { serve } from './http/server.ts'
import { restore } from './operator/backup.ts'
import { commands } from './operator/commands.ts'
import { askRunning, run } from './operator/control.ts'
import { models } from './operator/models.ts'
import { done, failed, failedBy, type Outcome } from './operator/outcome.ts'
import { FolderInUse, lockFolder } from './storage/folder-lock.ts'
import { version } from './version.ts'

const usage = `berth ${version}: host apps and games that agents make, with one gateway in front of many models

  berth serve [--port 3000] [--host 127.0.0.1] [--data ./data] [--json]
  berth config                     every setting, its value and where that came from
  berth grant <@handle|name|credit_id> <usd>  give an agent, a person or an account credits
  berth models list                what is served, with prices and upstreams
  berth models check               ask the upstreams what they serve: unknown, unpriced, gone
  berth models sync [--yes] [url]  newer prices of public lists, for the providers with a key
  berth admin                      moderation: reports, takedowns, holds, appeals, suspensions
  berth backup <folder>            a consistent copy, beside a running server
  berth restore <folder>           prove a backup, then put it in the data folder's place
  berth doctor                     rebuild every balance from the entries
  berth health                     exit 0 when the server here answers
  berth version

Settings are environment variables or lines of berth.toml: see berth config.`

type Flags = Record<string, string>

/** The command line: its words, its settings, and whether it wants JSON. */
function readLine(): { words: string[]; flags: Flags; json: boolean; yes: boolean } {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    allowPositionals: true,
    options: {
      port: { type: 'string' },
      host: { type: 'string' },
      data: { type: 'string' },
      json: { type: 'boolean' },
      yes: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
    },
  })
  const { port, host, data } = values
  const flags = {
    ...(port !== undefined && { PORT: port }),
    ...(host !== undefined && { HOST: host }),
    ...(data !== undefined && { DATA_DIR: data }),
  }
  const { json = false, yes = false } = values
  const [asked] = (['help', 'version'] as const).filter((name) => values[name])
  return { words: asked ? [asked] : positionals, flags, json, yes }
}

/** What a command says and how it ends: lines on stdout when it went well, else on stderr. */
async function end({ ok, text }: Outcome): Promise<never> {
  const to = ok ? process.stdout : process.stderr
  // A pipe takes a long text in parts: leaving before it has all of them would cut it off.
  await new Promise<unknown>((written) => to.write(`${text}\n`, written))
  process.exit(ok ? 0 : 1)
}

/** Begins this process again, under the same id, where it could not have many streams at once. */
function beginForMany(config: Config): void {
  const env = environmentForUpstreams(config)
  const own = Bun.isStandaloneExecutable ? [] : [...process.execArgv, Bun.main]
  // Windows has no such call: there it stays at what Bun gives.
  if (env) process.execve?.(process.execPath, [process.execPath, ...own, ...Bun.argv.slice(2)], env)
}

async function serveUntilTold(config: Config, json: boolean): Promise<void> {
  const serving = await serve(config)
  const { urls } = serving.ctx
  const operatorUrl = await operatorLink(serving.ctx)
  const stop = (): void => void serving.stop().then(() => process.exit(0))
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
  // A promise that nobody waited for is one piece of work: all others go on.
  process.on('unhandledRejection', (error) => serving.ctx.log.fault('unhandled', error))
  const ready = {
    origin: serving.origin,
    baseUrl: urls.base,
    gatewayUrl: urls.gateway,
    appUrl: urls.app,
    mcpUrl: urls.mcp,
    pid: process.pid,
    ...(operatorUrl && { operatorUrl }),
  }
  process.stdout.write(json ? `${JSON.stringify(ready)}\n` : await greet(serving.ctx, serving.send))
  // Until here the binary compiles little of what it runs: scripts/build.
  Bun.unsafe.setJITPolicy(1)
}

/** Another process owns the data folder: one line, with the link it shows. */
async function sayWhoRuns(error: FolderInUse, dataDir: string): Promise<never> {
  const running = await askRunning(dataDir, { command: 'link', words: [] })
  return end(failed(`${error.message} ${running?.text ?? ''}`.trim()))
}

function showConfig({ rows }: Config): Outcome {
  const wide = Math.max(...rows.map((row) => row.name.length))
  const lines = rows.map(({ name, value, source, description }) => {
    const shown = value === '' ? '(none)' : value
    return `${name.padEnd(wide)}  ${shown}  [${source}]\n${' '.repeat(wide)}  ${description}`
  })
  return done(lines.join('\n'))
}

async function checkHealth(config: Config): Promise<Outcome> {
  const host = config.host === '0.0.0.0' ? '127.0.0.1' : config.host
  const url = `${originAt(host, config.port)}/healthz`
  const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined)
  return answer?.ok ? done('ok') : failed(`No answer from ${url}.`)
}

/**
 * Runs a command beside a running server, or on the house itself when none runs. The server may
 * have another working folder, so a folder is named in full.
 */
async function operate(config: Config, words: string[]): Promise<Outcome> {
  const [command = '', ...rest] = words
  const asked = { command, words: command === 'backup' ? rest.map((dir) => resolve(dir)) : rest }
  const answered = await askRunning(config.dataDir, asked)
  if (answered) return answered
  if (!hasDatabase(config)) return failed(`There is no house in ${config.dataDir}.`)
  const release = lockFolder(config.dataDir)
  const ctx = await createContext(config, `http://localhost:${config.port}`)
  const outcome = await run(ctx, asked)
  await closeContext(ctx)
  release()
  return outcome
}

async function putBack(config: Config, [, dir, ...more]: string[]): Promise<Outcome> {
  return dir && more.length === 0
    ? restore(config, dir, systemClock)
    : failed('usage: berth restore <folder> [--data ./data]')
}

async function main(): Promise<void> {
  // What is made here is for its owner alone, also in a folder that others may enter.
  process.umask(0o077)
  const { words, flags, json, yes } = readLine()
  const [command = 'help'] = words
  if (command === 'help') return end(done(usage))
  if (command === 'version') return end(done(version))
  const config = loadConfig(flags, undefined, command === 'serve' || command === 'models')
  if (command === 'config') return end(showConfig(config))
  if (command === 'health') return end(await checkHealth(config))
  if (Object.hasOwn(commands, command)) return end(await operate(config, words))
  if (command === 'models') return end(await models(config, words.slice(1), yes))
  if (command === 'restore') return end(await putBack(config, words))
  if (command !== 'serve') return end(failed(`There is no ${command}.\n\n${usage}`))
  beginForMany(config)
  await serveUntilTold(config, json).catch((error: unknown) => {
    if (error instanceof FolderInUse) return sayWhoRuns(error, config.dataDir)
    throw error
  })
}

main().catch((error: unknown) => end(failedBy(error)))
