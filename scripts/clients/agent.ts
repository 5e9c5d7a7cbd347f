import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { type ClientServer, startClientServer } from '../../src/testing/clients/server.ts'

/** A coding agent from npm and its configuration for a gateway. */
export interface Agent {
  package: string
  /** Name of its command. */
  command: string
  /** Arguments before the prompt. */
  words(baseUrl: string): string[]
  /** Files by their path from its working folder, whose parent is its home. */
  files?(baseUrl: string, key: string): Record<string, string>
  /** Arguments of a first run that configures it. */
  setup?(baseUrl: string, key: string): string[]
  /** Environment variables beside HOME and GATEWAY_KEY. */
  env?(server: ClientServer): Record<string, string>
  /** A script of the package that npm may skip, run with node after the installation. */
  installScript?: string
  /** Returns a second prompt, after which the agent must have written a file in its folder. */
  toolPrompt?(folder: string): string
}

const prompt = 'Ahoy from a coding agent'
const runMs = 120_000
const installMs = 600_000

/**
 * Installs an agent with npm in a temporary folder and sends a prompt to a demo model through
 * Berth. Prints its output and cost. Throws if the reply is missing.
 */
export async function run(agent: Agent): Promise<void> {
  const home = makeHome()
  const berth = await startClientServer()
  try {
    const reply = await ask(agent, berth, home)
    const cost = await berth.spent()
    console.log(`${reply}\n${agent.package}: ${cost} nano USD were charged.`)
    // The demo model repeats the prompt, so it appears twice: as the question and as the reply.
    if (reply.split(prompt).length < 2 || cost === 0n) throw new Error('The reply is missing.')
  } finally {
    await berth.stop()
    rmSync(home, { recursive: true, force: true })
  }
}

/** Creates a temporary folder for packages and their configuration. */
export const makeHome = (): string => mkdtempSync(join(tmpdir(), 'berth-client-'))

async function ask(agent: Agent, server: ClientServer, home: string): Promise<string> {
  const [baseUrl = ''] = server.baseUrls
  const work = join(home, 'work')
  mkdirSync(work)
  const files = Object.entries(agent.files?.(baseUrl, server.key) ?? {})
  for (const [name, text] of files) await Bun.write(join(work, name), text)
  await install(agent.package, home)
  if (agent.installScript) await spawn(['node', agent.installScript], home)
  const program = join(home, 'node_modules/.bin', agent.command)
  const command = [program, ...agent.words(baseUrl)]
  const env = { HOME: home, GATEWAY_KEY: server.key, ...agent.env?.(server) }
  if (agent.setup) await spawn([program, ...agent.setup(baseUrl, server.key)], work, env)
  const reply = await spawn([...command, prompt], work, env)
  if (!agent.toolPrompt) return reply
  const filesBefore = readdirSync(work).length
  const toolReply = await spawn([...command, agent.toolPrompt(work)], work, env)
  if (readdirSync(work).length > filesBefore) return `${reply}\n${toolReply}`
  throw new Error(`The agent wrote no file:\n${toolReply}`)
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
