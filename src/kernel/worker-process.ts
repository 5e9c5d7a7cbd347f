import type { StartWorker } from './worker-pool.ts'

/** The limits of one task in a worker process, beside the time that its pool allows. */
export interface TaskLimits {
  /** Milliseconds of CPU time, of all threads. */
  cpuMs: number
  /** Bytes of memory beyond those of the idle process. */
  memoryBytes: number
}

/** The first message to a worker process. */
export interface HostRequest extends TaskLimits {
  /** The worker to run: its path below src, such as "kernel/pdf.worker.ts". */
  file: string
}

/** A worker process ends itself with this signal when a task exceeds its CPU time. */
export const cpuSignal = 'SIGXCPU'
/** The same for memory. The system sends SIGKILL when the machine has none left. */
export const memorySignal = 'SIGUSR2'

/** The command line of a worker process: a hidden command of this program. */
const program = Bun.isStandaloneExecutable
  ? [process.execPath, 'worker']
  : [process.execPath, Bun.fileURLToPath(new URL('../main.ts', import.meta.url)), 'worker']

/**
 * Starts workers in child processes of this program, for tasks on unchecked bytes. A
 * process has no environment and a lower priority, and ends itself when a task exceeds its limits
 * (worker-host.ts), so that the bound depends on the task and never on the rest of the server.
 */
export const inProcess =
  <Result>(request: HostRequest): StartWorker<Result> =>
  ({ onReply, onEnd }) => {
    let isEnding = false
    const child = Bun.spawn(program, {
      env: {},
      stdio: ['ignore', 'ignore', 'ignore'],
      serialization: 'advanced',
      ipc: ({ data, hasGrown }) => {
        onReply(data)
        if (hasGrown) onEnd('its worker is replaced')
      },
      onExit: (_, code, signal) => {
        if (isEnding) return
        if (signal === cpuSignal) onEnd('it took too long', 'time')
        else if (signal === memorySignal) onEnd('it took too much memory', 'memory')
        else onEnd(`its worker ended with ${signal ?? code}`)
      },
    })
    child.unref()
    child.send(request)
    return {
      post: (task) => void child.send({ task }),
      end: () => {
        isEnding = true
        child.kill('SIGKILL')
      },
    }
  }
