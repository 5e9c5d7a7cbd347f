import { setPriority } from 'node:os'

import { cpuSignal, type HostRequest, memorySignal } from './worker-pool.ts'

const checkMs = 20
/** A process that has grown by this much is replaced, so that each task begins with a small one. */
const grownBytes = 128 * 1_048_576
/** Requests to the server take priority over tasks. */
const priority = 5

/** Runs the worker of this process for its parent. See `inProcess`. */
export function hostWorker(): void {
  setPriority(priority)
  process.once('disconnect', () => kill('SIGKILL'))
  process.once('message', (request: HostRequest) => {
    const host = new WorkerHost(request)
    process.on('message', ({ task }: { task: unknown }) => host.run(task))
  })
}

function kill(signal: NodeJS.Signals): void {
  process.kill(process.pid, signal)
}

/** Passes tasks to the worker in a thread of its own, and watches what they use from this one. */
class WorkerHost {
  private readonly worker: Worker
  private idleBytes = 0
  private watch: Timer | undefined

  constructor(private readonly limits: HostRequest) {
    // In the binary this file is below the root, like the workers.
    const root = import.meta.url.endsWith('/kernel/worker-host.ts') ? '../' : './'
    this.worker = new Worker(new URL(root + limits.file, import.meta.url))
    this.worker.onmessage = ({ data }) => this.reply(data)
    this.worker.onerror = () => process.exit(1)
    this.worker.addEventListener('close', () => process.exit(1))
  }

  run(task: unknown): void {
    const { cpuMs, memoryBytes } = this.limits
    const before = usedCpuMs()
    this.idleBytes ||= process.memoryUsage.rss()
    this.watch = setInterval(() => {
      if (usedCpuMs() - before > cpuMs) kill(cpuSignal)
      if (process.memoryUsage.rss() - this.idleBytes > memoryBytes) kill(memorySignal)
    }, checkMs)
    this.worker.postMessage(task)
  }

  private reply(data: unknown): void {
    clearInterval(this.watch)
    const hasGrown = process.memoryUsage.rss() - this.idleBytes > grownBytes
    process.send?.({ data, hasGrown })
  }
}

function usedCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
