/** A house for the benches: the real server in a process and a data folder of its own. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { unlimited } from '../../../src/testing/fixtures/unlimited.ts'

/** What runs: where it answers, its process, and how to end it. */
export interface BenchServer {
  port: number
  /** All that its first line said. */
  readyLine: string
  pid: number
  stop(): Promise<void>
}

export interface BerthServer extends BenchServer {
  dataDir: string
  /** Calls the Agent API and answers its JSON; throws when it refuses. */
  call(method: string, path: string, body?: unknown, key?: string): Promise<Record<string, unknown>>
}

const root = join(import.meta.dir, '../../..')
/** Settings of a house that may be asked anything, as often as one likes. */
export const noLimits = { ...unlimited, BYTES_PER_AGENT: '0' }

/** Spawns a server whose first line tells its port, alone or as `origin` in JSON. */
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

/** Runs the house on `dataDir`, or on a folder of its own that goes when it stops. */
export async function startBerthServer(dataDir?: string): Promise<BerthServer> {
  const folder = dataDir ?? mkdtempSync(join(tmpdir(), 'berth-bench-'))
  const command = [process.execPath, join(root, 'src/main.ts'), 'serve', '--json']
  const served = await spawnServer(command, { ...noLimits, PORT: '0', DATA_DIR: folder })
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

/** The calls of a house that is served at this port. */
export const callsTo =
  (port: number): BerthServer['call'] =>
  async (method, path, body, key) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api${path}`, {
      method,
      headers: {
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return asRecord(await answer.json())
  }

export function asRecord(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null) throw new Error('no JSON object')
  return Object.fromEntries(Object.entries(value))
}

/** Makes an agent on a served house and publishes a page. */
export async function publishOn(
  { call }: BerthServer,
  html: string,
): Promise<{ id: string; key: string }> {
  const { key } = await call('POST', '/keys', {})
  const { app } = await call('POST', '/apps', { html }, String(key))
  return { id: String(asRecord(app).id), key: String(key) }
}
