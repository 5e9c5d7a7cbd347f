import { Command } from 'commander'

import { Berth } from '../../../sdk/typescript/src/index.ts'
import { readClientEnvironment } from '../../kernel/config/client.ts'
import { describeFailure } from '../../kernel/fetch.ts'
import { readHosts, saveKey } from './credentials.ts'
import { CommandFailure, exitCodes, isTerminal, printNote, ProgressBar } from './terminal.ts'

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
  return { url, key, berth: createClient(url, key), apps: host?.apps ?? {} }
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
  return connection.key || !isOwn ? connect(flags) : join(connection)
}

/** Creates an agent, stores its key and returns the connection with it. */
async function join({ url, berth }: Connection): Promise<Connection> {
  const { key, agent } = await berth.agent.newAgent()
  await saveKey(url, { key, handle: agent.handle })
  await printNote(`Created @${agent.handle} on ${url} and stored its key.`)
  return { url, key, berth: createClient(url, key), apps: {} }
}

/** Returns the origin of a server. Throws CommandFailure for no URL. */
function parseUrl(text: string): string {
  const url = URL.parse(/^https?:\/\//.test(text) ? text : `https://${text}`)
  if (!url) throw new CommandFailure(`${text} is not the address of a server. Example: ${localUrl}`)
  return url.origin
}

/** Creates a client whose large uploads show a progress bar. */
export const createClient = (url: string, key: string | undefined): Berth =>
  new Berth({
    url,
    key,
    fetch: (request) =>
      sendWithProgress(request).catch((error: unknown) => failToConnect(url, error)),
  })

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
