import { rename, rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { resolve } from 'node:path'

import { Command } from 'commander'

import { BerthError } from '../../../../sdk/typescript/src/error.ts'
import { type Json, lookUp, recordOf } from '../../../kernel/schema.ts'
import {
  clientCommand,
  type ClientFlags,
  connect,
  type Connection,
  connectOrJoin,
  createClient,
  failToConnect,
  openConnection,
  saveKey,
} from '../connection.ts'
import {
  CommandFailure,
  exitCodes,
  inColumns,
  printNote,
  printResult,
  printValue,
} from '../terminal.ts'

const createKey = clientCommand('create', 'create an API key of your agent and print it once')
  .option('--name <name>', 'what the key is for')
  .action(async ({ name, ...flags }: ClientFlags & { name?: string }) => {
    const { berth } = await connectOrJoin(flags)
    const result = await berth.agent.addKey(name === undefined ? {} : { name })
    await printNote('The key is shown once. Both APIs accept it: Authorization: Bearer <key>')
    await printValue(result, result.key, flags.json)
  })

export const key = new Command('key').description('API keys of your agent').addCommand(createKey)

const groups = ['day', 'key', 'model', 'upstream', 'tag', 'project'] as const

export const usage = clientCommand('usage', 'show your credits and what models cost you')
  .option('--by <field>', groups.join(', '), 'model')
  .action(async ({ by, ...flags }: ClientFlags & { by: (typeof groups)[number] }) => {
    const { berth } = await connect(flags)
    const me = await berth.agent.getMe()
    const used = await berth.gateway.listUsage({ group_by: by })
    const data = typeof used === 'string' ? [] : used.data
    const rows = data.map((group) => [
      group[by] ?? '(none)',
      `${group.requests}`,
      `${group.input_count}`,
      `${group.output_count}`,
      `${group.price_in_usd}`,
    ])
    await printNote(
      `@${me.handle} has ${me.credits} credits and has spent ${me.spend.total} on items.`,
    )
    const head = [by.toUpperCase(), 'REQUESTS', 'INPUT', 'OUTPUT', 'USD']
    await printValue(
      { credits: me.credits, spend: me.spend, usage: data },
      inColumns([head, ...rows]),
      flags.json,
    )
  })

interface LoginFlags extends ClientFlags {
  key?: string | true
  new?: boolean
}

export const login = clientCommand('login', 'sign in with your browser and store an API key')
  .argument('[url]', 'the server; default: http://localhost:3000')
  .option('--key [key]', 'use this API key; without a value, the line on stdin')
  .option('--new', 'create an agent on the server')
  .action(async (url: string | undefined, flags: LoginFlags) => {
    const connection = await openConnection(url === undefined ? flags : { server: url })
    const key = await keyFor(connection, flags)
    const { handle, credits } = await readAgent(connection.url, key)
    await saveKey(connection.url, { key, handle })
    const text = `Signed in to ${connection.url} as @${handle}.`
    await printValue({ url: connection.url, handle, credits }, text, flags.json)
  })

/** Returns the key to store: of a flag, of a new agent, or of a sign-in with the browser. */
async function keyFor({ url }: Connection, { key, new: isNew }: LoginFlags): Promise<string> {
  if (isNew) return (await (await createClient(url, undefined)).agent.newAgent()).key
  if (key === undefined) return signInDevice(url)
  const given = key === true ? (await Bun.stdin.text()).trim() : key
  if (given) return given
  throw new CommandFailure(`The key is empty. Give one with --key, or run: berth login ${url}`)
}

/** Returns the agent of a key. Throws CommandFailure for an invalid one. */
async function readAgent(url: string, key: string) {
  try {
    const { agent } = await createClient(url, key)
    return await agent.getMe()
  } catch (error) {
    if (!(error instanceof BerthError) || error.status !== 401) throw error
    const what = `${url} does not accept this key. Check it, or run: berth login ${url}`
    throw new CommandFailure(what, exitCodes.signInRequired)
  }
}

/** Prints a code, and waits until a person approves it in a browser (RFC 8628). */
async function signInDevice(url: string): Promise<string> {
  const client = { client_id: `berth on ${hostname()}`.slice(0, 80) }
  const codes = await sendForm(url, 'authorization', client)
  const { user_code: code, verification_uri_complete: page, device_code: device } = codes
  const [pauseMs, lifetimeMs] = [
    Number(codes['interval']) * 1_000,
    Number(codes['expires_in']) * 1_000,
  ]
  await printNote(`Open ${String(page)} and check that it shows ${String(code)}.`)
  await printNote(`Waiting ${lifetimeMs / 60_000} minutes for your approval. Ctrl-C cancels.`)
  const request = {
    ...client,
    grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
    device_code: String(device),
  }
  for (let waitedMs = 0; waitedMs <= lifetimeMs; waitedMs += pauseMs) {
    await Bun.sleep(pauseMs)
    const key = await findKey(url, request)
    if (key !== undefined) return key
  }
  throw new CommandFailure(hasExpired)
}

const hasExpired = 'The code has expired. Run again: berth login'
/** The ends of a sign-in without a key. */
const failures: Record<string, string> = {
  access_denied: 'The sign-in was denied in the browser. No key was stored.',
  expired_token: hasExpired,
}

/** Returns the key of an approved sign-in; undefined while it waits. Throws CommandFailure. */
async function findKey(url: string, request: Record<string, string>): Promise<string | undefined> {
  try {
    return String((await sendForm(url, 'token', request))['access_token'])
  } catch (error) {
    if (!(error instanceof BerthError)) throw error
    const failure = lookUp(failures, error.code)
    if (failure !== undefined) throw new CommandFailure(failure)
    if (error.code === 'authorization_pending' || [429, 503].includes(error.status))
      return undefined
    throw error
  }
}

async function sendForm(url: string, name: string, fields: Record<string, string>): Promise<Json> {
  const response = await fetch(`${url}/api/device/${name}`, {
    method: 'POST',
    body: new URLSearchParams(fields),
    signal: AbortSignal.timeout(30_000),
  }).catch((error: unknown) => failToConnect(url, error))
  const body: unknown = await response.json().catch(() => undefined)
  if (!response.ok) throw new BerthError(response.status, body, response.headers)
  return recordOf(body)
}

interface Flags extends ClientFlags {
  data?: string
}

export const exportAgent = clientCommand('export', 'download all that an agent has as a zip')
  .argument('[agent]', 'as an operator: an agent of the server on this machine, such as @fox')
  .argument('[file]', 'a new file; default: the handle of the agent, .zip')
  .option('--data <folder>', 'as an operator: the data folder')
  .action(async (first: string | undefined, second: string | undefined, flags: Flags) => {
    if (first?.startsWith('@')) return exportHere(first, second ?? `${first.slice(1)}.zip`, flags)
    if (second !== undefined) throw new CommandFailure('usage: berth export [@handle] [file]')
    return exportOwn(first, flags)
  })

/** Exports an agent of the server on this machine. */
async function exportHere(name: string, file: string, { data, json }: Flags): Promise<void> {
  const { operate, configOf } = await import('../server-commands.ts')
  const config = configOf({ ...(data !== undefined && { data }) })
  await printResult(await operate(config, 'export', [name, resolve(file)]), json)
}

async function exportOwn(given: string | undefined, flags: ClientFlags): Promise<void> {
  const { url, key, berth } = await connect(flags)
  const { handle } = await berth.agent.getMe()
  const file = given ?? `${handle}.zip`
  if (await Bun.file(file).exists()) {
    throw new CommandFailure(`${file} exists. Name another file: berth export <file>`)
  }
  const bytes = await download(url, `Bearer ${key}`, file)
  await printValue(
    { handle, file, bytes },
    `Exported @${handle} to ${file}: ${bytes.toLocaleString('en')} bytes.`,
    flags.json,
  )
}

/** Downloads the export without keeping it in memory. The file appears when it is complete. */
async function download(url: string, authorization: string, file: string): Promise<number> {
  const request = fetch(`${url}/api/me/export`, { headers: { authorization } })
  const response = await request.catch((error: unknown) => failToConnect(url, error))
  if (!response.ok) {
    const body: unknown = await response.json().catch(() => undefined)
    throw new BerthError(response.status, body, response.headers)
  }
  const part = `${file}.part`
  try {
    const bytes = await Bun.write(part, response)
    await rename(part, file)
    return bytes
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}
