import { currentClient } from './client.ts'
import { FairQueue, PoolBusyError, type QueueBounds } from './fair-queue.ts'

/** The message of a worker about a task: its result, or the message of its error. */
export type WorkerReply<Result> = { result: Result } | { error: string }

/** A task exceeded the limits of a worker process. It would do so again. */
export class TaskLimitError extends PoolBusyError {
  constructor(
    message: string,
    readonly limit: 'time' | 'memory',
  ) {
    super(message)
  }
}

/** A task took longer than its pool allows, perhaps because the machine is busy. */
export class TaskTimeError extends PoolBusyError {}

/** The messages of a worker. After `onEnd` there are none. */
interface WorkerEvents<Result> {
  onReply(reply: WorkerReply<Result>): void
  /** `limit`: the task exceeded it. */
  onEnd(why: string, limit?: TaskLimitError['limit']): void
}

/** A worker thread, or a process that works like one. */
interface TaskWorker {
  post(task: unknown, transfer: ArrayBuffer[]): void
  end(): void
}

type StartWorker<Result> = (events: WorkerEvents<Result>) => TaskWorker

/** In the binary this file is above the folders of the workers. */
const root = import.meta.url.endsWith('/kernel/worker-pool.ts') ? '../' : './'

/** Returns the function that starts a worker by the path of its file below `src`. */
export const workerAt = (path: string) => (): Worker =>
  new Worker(new URL(root + path, import.meta.url))

/** Starts workers as threads of this process. */
export const inThread =
  <Result>(create: () => Worker): StartWorker<Result> =>
  ({ onReply, onEnd }) => {
    const worker = create()
    worker.unref()
    worker.onmessage = ({ data }) => onReply(data)
    worker.onerror = (event) => {
      event.preventDefault()
      onEnd(event.message)
    }
    worker.addEventListener('close', () => onEnd('its worker ended'))
    return {
      post: (task, transfer) => worker.postMessage(task, transfer),
      end: () => void worker.terminate(),
    }
  }

interface PoolWorker<Result> {
  worker: TaskWorker
  /** The network of its last task. */
  network: string
  current: PromiseWithResolvers<Result> | undefined
  /** Ends the task after `taskMs`, or the idle worker after `idleMs`. */
  timer: Timer | undefined
}

export interface PoolBounds extends QueueBounds {
  /** The time one task may take, in milliseconds. */
  taskMs: number
  /** The time without a task after which a worker ends, in milliseconds. */
  idleMs: number
}

/**
 * Workers for tasks that would block the event loop, shared fairly by clients. Each does one task
 * at a time and replies with a `WorkerReply`. A task that takes too long, or whose worker dies,
 * fails with PoolBusyError, and its worker is replaced. Idle workers end, and no worker keeps the
 * process alive.
 */
export class WorkerPool<Task, Result> {
  private readonly workers = new Set<PoolWorker<Result>>()
  private readonly queue: FairQueue
  private isClosed = false

  constructor(
    private readonly start: StartWorker<Result>,
    private readonly bounds: PoolBounds,
  ) {
    this.queue = new FairQueue(bounds)
  }

  /**
   * Does a task of `bytes`. `create` makes it when its turn comes, so that no copy of the bytes
   * waits. `transfer` moves to a thread. Throws PoolBusyError, or the worker's error.
   */
  async run(bytes: number, create: () => Task, transfer: ArrayBuffer[] = []): Promise<Result> {
    if (this.isClosed) throw new PoolBusyError(stopping)
    return this.queue.run(bytes, () => this.runNow(create(), transfer))
  }

  /** Ends all workers. Unfinished tasks throw PoolBusyError. */
  close(): void {
    this.isClosed = true
    this.queue.close(stopping)
    for (const worker of this.workers) this.drop(worker, stopping)
  }

  private runNow(task: Task, transfer: ArrayBuffer[]): Promise<Result> {
    const worker = this.idleWorker() ?? this.addWorker()
    worker.network = currentClient().prefix
    const current = Promise.withResolvers<Result>()
    clearTimeout(worker.timer)
    worker.current = current
    worker.timer = setTimeout(() => {
      current.reject(new TaskTimeError('it took too long'))
      this.drop(worker, 'it took too long')
    }, this.bounds.taskMs)
    worker.worker.post(task, transfer)
    return current.promise
  }

  /**
   * Returns an idle worker, if possible one that the network had before. A client that worked much
   * starts one of its own instead of taking that of another, because its tasks often end a worker.
   */
  private idleWorker(): PoolWorker<Result> | undefined {
    const client = currentClient()
    const idle = [...this.workers].filter(({ current }) => !current)
    const own = idle.find(({ network }) => network === client.prefix)
    const mayAdd = this.workers.size < this.bounds.slots && this.queue.isHeavy(client)
    return own ?? (mayAdd ? undefined : idle[0])
  }

  private addWorker(): PoolWorker<Result> {
    const worker = this.start({
      onReply: (reply) => this.finish(added, reply),
      onEnd: (why, limit) => this.drop(added, why, limit),
    })
    const added: PoolWorker<Result> = {
      worker,
      network: '',
      current: undefined,
      timer: undefined,
    }
    this.workers.add(added)
    return added
  }

  private finish(worker: PoolWorker<Result>, reply: WorkerReply<Result>): void {
    const { current } = worker
    worker.current = undefined
    clearTimeout(worker.timer)
    worker.timer = setTimeout(() => this.drop(worker, 'idle'), this.bounds.idleMs)
    worker.timer.unref()
    if ('error' in reply) current?.reject(new Error(reply.error))
    else current?.resolve(reply.result)
  }

  private drop(worker: PoolWorker<Result>, why: string, limit?: TaskLimitError['limit']): void {
    if (!this.workers.delete(worker)) return
    clearTimeout(worker.timer)
    worker.worker.end()
    worker.current?.reject(limit ? new TaskLimitError(why, limit) : new PoolBusyError(why))
  }
}

const stopping = 'the server is stopping'

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
