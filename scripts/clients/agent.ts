import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import type { Target } from '../../src/testing/clients/round-trips/task.ts'
import type { ClientServer } from '../../src/testing/clients/server.ts'
import { type ClientRun, demoModel, type Results, runEveryKind, runRelayed } from './every-kind.ts'

/** A coding agent from npm and its configuration for a model of a gateway. */
export interface Agent {
  package: string
  /** Name of its command. */
  command: string
  /** Arguments before the prompt. */
  words(to: Target): string[]
  /** Files by their path from its working folder, whose parent is its home. */
  files?(to: Target): Record<string, string>
  /** Arguments of a first run that configures it. */
  setup?(to: Target): string[]
  /** Environment variables beside HOME and GATEWAY_KEY. */
  env?(to: Target): Record<string, string>
  /** A script of the package that npm may skip, run with node after the installation. */
  installScript?: string
  /** It quotes an argument with spaces, so the words of a prompt are arguments of their own. */
  splitsPrompt?: boolean
  /** It also runs with a model at an upstream with the Responses API, whose bytes are relayed. */
  relayedModel?: string
  /** Returns a prompt after which the agent must have written a file in its folder. */
  toolPrompt(folder: string, model: string): string
}

const prompt = 'Ahoy from a coding agent'
/** Long, because clients also run beside other work on two cores. */
const runMs = 600_000
export const installMs = 3_600_000

/**
 * Installs an agent with npm in a temporary folder. Lets it answer a prompt with the demo model,
 * and write a file with that and with a model of each kind of upstream. Throws if a reply, a file
 * or its charge is missing.
 */
export async function run(agent: Agent): Promise<Results> {
  const home = makeHome()
  try {
    await install(agent.package, home)
    if (agent.installScript) await spawn(['node', agent.installScript], home)
    const write: ClientRun = (to, server) => writeFile(agent, to, server, home)
    if (agent.relayedModel) await runRelayed(agent.relayedModel, write)
    return await runEveryKind(write)
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

/** Creates a temporary folder for packages and their configuration. */
export const makeHome = (): string => mkdtempSync(join(tmpdir(), 'berth-client-'))

async function writeFile(
  agent: Agent,
  to: Target,
  server: ClientServer,
  packages: string,
): Promise<void> {
  const home = mkdtempSync(join(packages, 'home-'))
  const work = join(home, 'work')
  mkdirSync(work)
  for (const [name, text] of Object.entries(agent.files?.(to) ?? {})) {
    await Bun.write(join(work, name), text)
  }
  const program = join(packages, 'node_modules/.bin', agent.command)
  const env = { HOME: home, GATEWAY_KEY: to.key, ...agent.env?.(to) }
  if (agent.setup) await spawn([program, ...agent.setup(to)], work, env)
  const ask = async (text: string): Promise<string> => {
    const before = await server.spent()
    const prompts = agent.splitsPrompt ? text.split(' ') : [text]
    const reply = await spawn([program, ...agent.words(to), ...prompts], work, env)
    if ((await server.spent()) === before) throw new Error(`Nothing was charged:\n${reply}`)
    return reply
  }
  if (to.model === demoModel) {
    const reply = await ask(prompt)
    if (!reply.includes(prompt)) throw new Error(`The reply is missing:\n${reply}`)
  }
  const filesBefore = readdirSync(work).length
  const reply = await ask(agent.toolPrompt(work, to.model))
  if (readdirSync(work).length === filesBefore) {
    throw new Error(`The agent wrote no file:\n${reply}`)
  }
}

/** Installs packages with npm in a folder, such as "openai@7.57.0", parted by spaces. */
export const install = (names: string, folder: string): Promise<string> =>
  spawn(
    ['npm', 'install', '--no-audit', '--no-fund', '--prefix', folder, ...names.split(' ')],
    folder,
    {},
    installMs,
  )

/** Runs a command to its end and returns its output. Throws if it fails. */
export async function spawn(
  command: string[],
  cwd: string,
  env: Record<string, string> = {},
  timeout = runMs,
): Promise<string> {
  const child = Bun.spawn(command, {
    cwd,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout,
    env: { ...process.env, PWD: cwd, ...env },
  })
  const [out, err, code] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ])
  if (code === 0) return (out + err).trim()
  throw new Error(`${command[0]} ended with ${code}:\n${out}${err}`)
}
