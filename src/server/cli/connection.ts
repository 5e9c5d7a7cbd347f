import { chmod, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { Command } from 'commander'

import type { Berth } from '../../../sdk/typescript/src/index.ts'
import { readClientEnvironment } from '../../kernel/config/client.ts'
import { describeFailure } from '../../kernel/fetch.ts'
import { isRecord } from '../../kernel/schema.ts'
import { CommandFailure, exitCodes, isTerminal, printNote, ProgressBar } from './terminal.ts'

/** A server that the person has signed in to. */
interface Host {
  key: string
  /** The agent of the key. */
  handle: string
  /** The apps that were published from files and folders, by their absolute paths. */
  apps: Record<string, string>
}

/** The content of hosts.json. */
interface Hosts {
  /** The URL of the server that commands call. */
  current: string | undefined
  hosts: Record<string, Host>
}

const path = (): string => join(readClientEnvironment().folder, 'hosts.json')

/** Reads the credentials. Throws CommandFailure for a damaged file. */
async function readHosts(): Promise<Hosts> {
  const file = Bun.file(path())
  if (!(await file.exists())) return { current: undefined, hosts: {} }
  const value: unknown = await file.json().catch(() => undefined)
  if (isHosts(value)) return value
  throw new CommandFailure(`${path()} is damaged. Delete it and run: berth login`)
}

const isHosts = (value: unknown): value is Hosts => isRecord(value) && isRecord(value['hosts'])

/** Replaces the credentials in one step. Only the owner of the file can read it. */
async function writeHosts(hosts: Hosts): Promise<void> {
  await mkdir(readClientEnvironment().folder, { recursive: true, mode: 0o700 })
  const next = `${path()}.next`
  await Bun.write(next, `${JSON.stringify(hosts, null, 2)}\n`)
  await chmod(next, 0o600)
  await rename(next, path())
}

/** Stores the key of a server, which commands then call. */
export async function saveKey(url: string, { key, handle }: Omit<Host, 'apps'>): Promise<void> {
  const { hosts } = await readHosts()
  const apps = hosts[url]?.handle === handle ? hosts[url].apps : {}
  await writeHosts({ current: url, hosts: { ...hosts, [url]: { key, handle, apps } } })
}

/** Stores the app that a file or folder is published as. */
export async function saveApp(url: string, source: string, id: string): Promise<void> {
  const { hosts, ...rest } = await readHosts()
  const host = hosts[url]
  if (!host) return
  const apps = { ...host.apps, [source]: id }
  await writeHosts({ ...rest, hosts: { ...hosts, [url]: { ...host, apps } } })
}

/** The flags of every command that calls a server. */
export interface ClientFlags {
  server?: string
  json?: boolean
}

/** Declares a command that calls a server. */
export const clientCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .option('-s, --server <url>', 'call this server instead of that of berth login')

/** A server with the key of its agent. */
export interface Connection {
  url: string
  key: string | undefined
  berth: Berth
  /** The apps that were published from files and folders. */
  apps: Record<string, string>
}

const localUrl = 'http://localhost:3000'

/** Opens the server of a command, without a key where the person has not signed in. */
export async function openConnection({ server }: ClientFlags): Promise<Connection> {
  const environment = readClientEnvironment()
  const { current, hosts } = await readHosts()
  const url = parseUrl(server ?? environment.url ?? current ?? localUrl)
  const host = hosts[url]
  const key = environment.key ?? host?.key
  return { url, key, berth: await createClient(url, key), apps: host?.apps ?? {} }
}

/** Opens the server of a command. Throws CommandFailure without a key. */
export async function connect(flags: ClientFlags): Promise<Connection> {
  const connection = await openConnection(flags)
  if (connection.key) return connection
  const what = `You are not signed in to ${connection.url}. Run: berth login ${connection.url}`
  throw new CommandFailure(what, exitCodes.signInRequired)
}

/** Opens the server of a command. Without a key it creates an agent on a server of this machine. */
export async function connectOrJoin(flags: ClientFlags): Promise<Connection> {
  const connection = await openConnection(flags)
  const isOwn = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(connection.url).hostname)
  return connection.key || !isOwn ? connect(flags) : joinServer(connection)
}

/** Creates an agent, stores its key and returns the connection with it. */
async function joinServer({ url, berth }: Connection): Promise<Connection> {
  const { key, agent } = await berth.agent.newAgent()
  await saveKey(url, { key, handle: agent.handle })
  await printNote(`Created @${agent.handle} on ${url} and stored its key.`)
  return { url, key, berth: await createClient(url, key), apps: {} }
}

/** Returns the origin of a server. Throws CommandFailure for no URL. */
function parseUrl(text: string): string {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `https://${text}`)
  if (!url) throw new CommandFailure(`${text} is not the address of a server. Example: ${localUrl}`)
  return url.origin
}

/** Creates a client whose large uploads show a progress bar. */
export async function createClient(url: string, key: string | undefined): Promise<Berth> {
  // A start of a server needs no client.
  const { Berth } = await import('../../../sdk/typescript/src/index.ts')
  return new Berth({
    url,
    key,
    fetch: (request) =>
      sendWithProgress(request).catch((error: unknown) => failToConnect(url, error)),
  })
}

/** Throws CommandFailure for a request without a response. */
export function failToConnect(url: string, error: unknown): never {
  const why = describeFailure(error)
  throw new CommandFailure(
    `No response from ${url} (${why}). Start a server: berth serve. Or use another: berth login <url>`,
  )
}

/** A smaller body is sent before a bar can be seen. */
const shownBytesMin = 256 * 1024
const partBytes = 64 * 1024

async function sendWithProgress(request: Request): Promise<Response> {
  if (!isTerminal() || !request.body) return fetch(request)
  const bytes = await request.bytes()
  const { url, method, headers, signal } = request
  const body = bytes.length < shownBytesMin ? bytes : countedStream(bytes)
  return fetch(url, { method, headers, signal, body })
}

/** Returns a body that shows how much of it was read. */
function countedStream(bytes: Uint8Array): ReadableStream<Uint8Array> {
  const bar = new ProgressBar('Uploading')
  let at = 0
  return new ReadableStream({
    pull(out) {
      out.enqueue(bytes.subarray(at, at + partBytes))
      at += partBytes
      bar.show(Math.min(1, at / bytes.length))
      if (at < bytes.length) return
      bar.end()
      out.close()
    },
  })
}
