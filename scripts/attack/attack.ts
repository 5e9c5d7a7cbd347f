/** Bounded attacks on a server that they start on this machine: an attacker beside a victim. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { binaryPath } from '../../src/testing/processes/server-process.ts'
import { type BenchServer, spawnServer } from '../bench/load/served.ts'

/** Requests of the attacker: `perSecond` of them for `ms` milliseconds. */
export interface Flood {
  port: number
  path: string
  method: string
  headers: Record<string, string>
  body?: string
  perSecond: number
  ms: number
}

/** One line of the table: the measurement and whether it keeps its bound. */
export interface AttackRow {
  /** The row of the table in docs/security.md. */
  name: string
  measured: string
  bound: string
  isKept: boolean
  /** True when the limit held, by counts. Tests check this, since times depend on the load. */
  isLimited: boolean
}

/** Milliseconds of the victim's requests. */
export interface Latency {
  p50: number
  p95: number
}

/**
 * Runs an attack against dist/berth with the default limits in a folder of its own. It trusts
 * X-Forwarded-For of this machine, so that one script has many addresses.
 */
export async function withServer<Result>(
  run: (server: BenchServer) => Promise<Result>,
  settings: Record<string, string> = {},
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'berth-attack-'))
  const server = await spawnServer([binaryPath, 'serve', '--json'], {
    PORT: '0',
    DATA_DIR: folder,
    OLLAMA_HOST: 'off',
    BUILDER_BROWSER: 'off',
    TRUSTED_PROXIES: '127.0.0.1',
    ...settings,
  })
  try {
    return await run(server)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts the attacker. Returns the responses by status when it has ended. */
export function startFlood(flood: Flood): { done: Promise<Record<string, number>> } {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'flood.ts')], {
    stdin: new Blob([JSON.stringify(flood)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const read = async (): Promise<Record<string, number>> =>
    JSON.parse(await new Response(child.stdout).text())
  return { done: read() }
}

/** Sends a request of the victim every `everyMs` for `ms` milliseconds, one at a time. */
export async function measureVictim(
  send: () => Promise<unknown>,
  { ms, everyMs }: { ms: number; everyMs: number },
): Promise<Latency> {
  const times: number[] = []
  const until = performance.now() + ms
  while (performance.now() < until) {
    const startedAt = performance.now()
    await send()
    times.push(performance.now() - startedAt)
    await Bun.sleep(everyMs)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
  return { p50: at(0.5), p95: at(0.95) }
}

/** Milliseconds of a tick of the clock in /proc. */
const tickMs = 10

/** Returns the CPU time of a process in milliseconds, with that of threads that have ended. */
function cpuMs(pid: number): number {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13).map(Number)
  return tickMs * ((user ?? 0) + (system ?? 0))
}

/** Returns the share of one core that a server uses while `run` runs, some seconds. */
export async function shareOfCore(
  { pid }: Pick<BenchServer, 'pid'>,
  run: () => Promise<unknown>,
): Promise<number> {
  const [cpu, startedAt] = [cpuMs(pid), performance.now()]
  await run()
  return (cpuMs(pid) - cpu) / (performance.now() - startedAt)
}

/** Sends a GET request of another address and throws where it fails. */
export const getFrom =
  ({ port }: Pick<BenchServer, 'port'>, path: string, address: string) =>
  async (): Promise<void> => {
    const headers = { 'x-forwarded-for': address }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    await response.bytes()
    if (!response.ok) throw new Error(`${path}: ${response.status}`)
  }

export const inMs = (value: number): string => `${value.toPrecision(3)} ms`
