/** Load on servers from a process of its own, both sides in turns, counted in the servers' CPU. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where to ask and what; `status` is what every answer must have. */
export interface Target {
  port: number
  pid: number
  request: string
  /** What is asked for after it, in turns. */
  more?: string[]
  status: number
}

export interface Plan {
  targets: Target[]
  connections: number
  turnMs: number
  rounds: number
}

/** What one server did in one turn. */
export interface Turn {
  answers: number
  ms: number
  cpuUs: number
  /** Milliseconds that half of the answers took at most. */
  p50: number
  /** The same, to their first bytes. */
  firstP50: number
}

/** A request to a server that runs. */
export const targetAt = (
  { port, pid }: Pick<Target, 'port' | 'pid'>,
  request: string,
  status = 200,
): Target => ({ port, pid, request, status })

/** A request as it goes over the wire, for a connection that stays open. A body is ASCII. */
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

/** Nanoseconds of CPU that all threads of a process have used, or one of them. */
export function cpuNs(pid: number, thread?: number): number {
  const tasks = thread === undefined ? readdirSync(`/proc/${pid}/task`) : [String(thread)]
  return tasks.reduce((sum, task) => sum + ranNs(`/proc/${pid}/task/${task}/schedstat`), 0)
}

/** A thread may end between being listed and being read. */
function ranNs(path: string): number {
  try {
    return Number(readFileSync(path, 'utf8').split(' ')[0])
  } catch {
    return 0
  }
}

/** Runs a plan in a client process. Answers the turns of each target. */
export async function load(plan: Plan): Promise<Turn[][]> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'client.ts')], {
    stdin: new Blob([JSON.stringify(plan)]),
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const output = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error('the client failed')
  return JSON.parse(output)
}

export const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/** What the quickest quarter took at most: what else the machine does only ever adds. */
export const quick = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 4)] ?? Number.NaN

/** Microseconds of the server's CPU for one answer, the median of its turns. */
export const costUs = (turns: Turn[]): number =>
  median(turns.map(({ cpuUs, answers }) => cpuUs / answers))

/** The answers a second of `ours` over those of `peer`, by the clock, the median over rounds. */
export const throughput = (ours: Turn[], peer: Turn[]): number =>
  median(
    ours.map(({ answers, ms }, round) => {
      const other = peer[round]
      return other ? answers / ms / (other.answers / other.ms) : Number.NaN
    }),
  )

/** The answers a second of CPU of `ours` over those of `peer`, the median over rounds. */
export const ratio = (ours: Turn[], peer: Turn[]): number =>
  median(
    ours.map(({ cpuUs, answers }, round) => {
      const other = peer[round]
      return other ? other.cpuUs / other.answers / (cpuUs / answers) : Number.NaN
    }),
  )
