/** Load on servers from a separate process, in turns, measured in the servers' CPU. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A request and its server. Every response must have `status`. */
export interface Target {
  port: number
  pid: number
  request: string
  /** Requests after the first one. */
  more?: string[]
  status: number
  /** True where responses to one request have different lengths. */
  isVaried?: boolean
}

export interface Plan {
  targets: Target[]
  connections: number
  turnMs: number
  rounds: number
}

/** Measurements of a server in one turn. */
export interface Turn {
  responses: number
  ms: number
  cpuUs: number
  /** Median response time in milliseconds. */
  p50: number
  /** Median time to the first byte in milliseconds. */
  firstP50: number
}

/** Returns a request to a running server. */
export const targetAt = (
  { port, pid }: Pick<Target, 'port' | 'pid'>,
  request: string,
  status = 200,
): Target => ({ port, pid, request, status })

/** Returns a raw keep-alive request. The body must be ASCII. */
export function requestFor(
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): string {
  const length = body === undefined ? {} : { 'content-length': String(body.length) }
  const head = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'Host: localhost',
    ...Object.entries({ ...headers, ...length }).map(([name, value]) => `${name}: ${value}`),
    '\r\n',
  ]
  return head.join('\r\n') + (body ?? '')
}

/** Returns the CPU time of all threads of a process, or of one, in nanoseconds. */
export function cpuNs(pid: number, thread?: number): number {
  const tasks = thread === undefined ? readdirSync(`/proc/${pid}/task`) : [String(thread)]
  return tasks.reduce((sum, task) => sum + ranNs(`/proc/${pid}/task/${task}/schedstat`), 0)
}

/** A thread can end between the list and the read. */
function ranNs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}

/** Runs a plan in a client process. Returns the turns of each target. */
export async function runLoad(plan: Plan): Promise<Turn[][]> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'client.ts')], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('The load client failed.')
  return JSON.parse(output)
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** Returns the 25th percentile. Noise of the machine only adds time. */
export const quick = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? Number.NaN

/** Returns the server's CPU per response in microseconds, the median over turns. */
export const costUs = (turns: Turn[]): number =>
  median(turns.map(({ cpuUs, responses }) => cpuUs / responses))

/** Returns the throughput of `ours` over that of `peer` by the clock, the median over rounds. */
export const throughput = (ours: Turn[], peer: Turn[]): number =>
  median(
    ours.map(({ responses, ms }, round) => {
      const other = peer[round]
      return other ? responses / ms / (other.responses / other.ms) : Number.NaN
    }),
  )

/** Returns the responses per CPU time of `ours` over those of `peer`, the median over rounds. */
export const ratio = (ours: Turn[], peer: Turn[]): number =>
  median(
    ours.map(({ cpuUs, responses }, round) => {
      const other = peer[round]
      return other ? other.cpuUs / other.responses / (cpuUs / responses) : Number.NaN
    }),
  )
