import { chmod, mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'

import { readClientEnvironment } from '../../kernel/config/client.ts'
import { isRecord } from '../../kernel/schema.ts'
import { CommandFailure } from './terminal.ts'

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
export async function readHosts(): Promise<Hosts> {
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
