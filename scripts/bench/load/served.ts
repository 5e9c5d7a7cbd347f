/** A server for benchmarks in its own process and data folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { zipSync } from 'fflate'

import { unlimited } from '../../../src/testing/fixtures/unlimited.ts'

/** A running server process. */
export interface BenchServer {
  port: number
  /** First line of its output. */
  readyLine: string
  pid: number
  stop(): Promise<void>
}

export interface BerthServer extends BenchServer {
  dataDir: string
  /** Calls the Agent API and returns the JSON. Throws on an error status. */
  call(method: string, path: string, body?: unknown, key?: string): Promise<Record<string, unknown>>
}

const root = join(import.meta.dir, '../../..')
/** Settings without limits. */
export const noLimits = { ...unlimited, BYTES_PER_AGENT: '0' }

/** Starts a server whose first line has its port, alone or as `origin` in JSON. */
export async function spawnServer(
  command: string[],
  env: Record<string, string> = {},
): Promise<BenchServer> {
  const child = Bun.spawn(command, {
    env: { PATH: Bun.env.PATH, ...env },
    stdout: 'pipe',
    stderr: Bun.file(join(tmpdir(), 'berth-bench.log')),
  })
  let readyLine = ''
  for await (const bytes of child.stdout) {
    readyLine += new TextDecoder().decode(bytes)
    if (readyLine.includes('\n')) break
  }
  const port = Number(/(\d+)"?[,\s]/.exec(readyLine)?.[1])
  if (!port) throw new Error(`${command.join(' ')} did not start: ${readyLine}`)
  return {
    port,
    readyLine,
    pid: child.pid,
    stop: async () => {
      child.kill()
      await child.exited
    },
  }
}

const fromSource = [process.execPath, join(root, 'src/main.ts')]

/**
 * Starts Berth on `dataDir`, or on a temporary folder that is deleted on stop: this checkout, or
 * the program given.
 */
export async function startBerthServer(
  dataDir?: string,
  settings: Record<string, string> = {},
  program = fromSource,
): Promise<BerthServer> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const command = [...program, 'serve', '--json']
  const env = { ...noLimits, ...settings, PORT: '0', DATA_DIR: folder }
  const served = await spawnServer(command, env)
  return {
    ...served,
    dataDir: folder,
    call: callsTo(served.port),
    stop: async () => {
      await served.stop()
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns calls to the server at this port. `from` is the address that a proxy reports. */
export const callsTo =
  (port: number, from?: string): BerthServer['call'] =>
  async (method, path, body, key) => {
    const response = await fetch(`http://127.0.0.1:${port}/api${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...(from === undefined ? {} : { 'x-forwarded-for': from }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
    return asRecord(await response.json())
  }

export function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null)
    throw new Error('The response is not a JSON object.')
  return Object.fromEntries(Object.entries(value))
}

/** Creates an agent and publishes a page. */
export async function publishOn(
  { call }: BerthServer,
  html: string,
): Promise<{ id: string; key: string }> {
  const { key } = await call('POST', '/keys', {})
  const { app } = await call('POST', '/apps', { html }, String(key))
  return { id: String(asRecord(app).id), key: String(key) }
}

/** Publishes a folder as a zip and returns the path of its page. */
export async function publishFolder(
  { port }: BerthServer,
  key: string,
  files: Record<string, string | Uint8Array>,
): Promise<string> {
  const entries = Object.entries(files).map(([name, content]) => [name, Buffer.from(content)])
  const response = await fetch(`http://127.0.0.1:${port}/api/apps`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/zip' },
    body: zipSync(Object.fromEntries(entries)),
  })
  const { app } = asRecord(await response.json())
  return `/a/${String(asRecord(app)['id'])}`
}

/** Returns the ETag of a resource without a content encoding; '' without one. */
export async function etagOf(url: string): Promise<string> {
  const head = await fetch(url, { method: 'HEAD', headers: { 'accept-encoding': 'identity' } })
  return head.headers.get('etag') ?? ''
}
