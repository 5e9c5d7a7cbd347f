import { readdirSync, readFileSync } from 'node:fs'

const ticksPerSecond = 100
const pageBytes = 4_096
const sampleMs = 100

interface Process {
  pid: number
  parent: number
  cpuSeconds: number
  bytes: number
}

/** Reads a process of Linux; undefined when it has ended. */
function readProcess(pid: string): Process | undefined {
  try {
    // The name in brackets may contain spaces.
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
    const [parent, user, system] = [stat[1], stat[11], stat[12]].map(Number)
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8')
      .split(' ')
      .map(Number)
    const cpuSeconds = ((user ?? 0) + (system ?? 0)) / ticksPerSecond
    return {
      pid: Number(pid),
      parent: parent ?? 0,
      cpuSeconds,
      bytes: (resident - shared) * pageBytes,
    }
  } catch {
    return undefined
  }
}

/** Returns all processes that this one started, and those that they started. */
export function listChildren(): Process[] {
  const all = readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? (readProcess(name) ?? []) : [],
  )
  const own = new Set([process.pid])
  // Children often follow their parent, so this needs few rounds.
  for (let size = 0; size < own.size;) {
    size = own.size
    for (const { pid, parent } of all) if (own.has(parent)) own.add(pid)
  }
  return all.filter(({ pid }) => pid !== process.pid && own.has(pid))
}

/** Returns the CPU seconds of all children during `work`, also of those that end in it. */
export async function cpuSecondsOf(work: () => Promise<unknown>): Promise<number> {
  const before = new Map(listChildren().map((child) => [child.pid, child.cpuSeconds]))
  const latest = new Map<number, number>()
  const sample = (): void => {
    for (const { pid, cpuSeconds } of listChildren()) latest.set(pid, cpuSeconds)
  }
  const timer = setInterval(sample, sampleMs)
  await work().finally(() => clearInterval(timer))
  sample()
  return [...latest].reduce((sum, [pid, cpu]) => sum + cpu - (before.get(pid) ?? 0), 0)
}
