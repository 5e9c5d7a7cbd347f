/** The message of a worker about a task: its result, or the message of its error. */
export type WorkerReply<Result> = { result: Result } | { error: string }

/** A task that was not done although nothing is wrong with it. It may be tried again. */
export class PoolBusyError extends Error {}

interface QueuedTask<Task, Result> {
  task: Task
  bytes: number
  transfer: ArrayBuffer[]
  done: PromiseWithResolvers<Result>
}

interface PoolWorker<Task, Result> {
  worker: Worker
  current: QueuedTask<Task, Result> | undefined
  /** Ends the task after `taskMs`, or the idle worker after `idleMs`. */
  timer: Timer | undefined
}

export interface PoolBounds {
  workersMax: number
  queueMax: number
  queueBytesMax: number
  /** The time one task may take, in milliseconds. */
  taskMs: number
  /** The time without a task after which a worker ends, in milliseconds. */
  idleMs: number
}

/**
 * Workers for tasks that would block the event loop. Each does one task at a time and replies with
 * a `WorkerReply`. A task that takes too long, or whose worker dies, fails with PoolBusyError, and
 * its worker is replaced. Idle workers end, and no worker keeps the process alive.
 */
export class WorkerPool<Task, Result> {
  private readonly workers = new Set<PoolWorker<Task, Result>>()
  private readonly queue: QueuedTask<Task, Result>[] = []
  private queuedBytes = 0
  private isClosed = false

  constructor(
    private readonly start: () => Worker,
    private readonly bounds: PoolBounds,
  ) {}

  /** Does a task; `transfer` moves to the worker. Throws PoolBusyError, or the worker's error. */
  async run(task: Task, transfer: ArrayBuffer[] = []): Promise<Result> {
    const bytes = transfer.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const { queueMax, queueBytesMax } = this.bounds
    const isFull = this.queue.length >= queueMax || this.queuedBytes + bytes > queueBytesMax
    if (this.isClosed || isFull) throw new PoolBusyError('too many tasks are waiting')
    const done = Promise.withResolvers<Result>()
    this.queue.push({ task, bytes, transfer, done })
    this.queuedBytes += bytes
    this.startNext()
    return done.promise
  }

  /** Ends all workers. Unfinished tasks throw PoolBusyError. */
  close(): void {
    this.isClosed = true
    const why = 'the server is stopping'
    for (const { done } of this.queue.splice(0)) done.reject(new PoolBusyError(why))
    for (const worker of this.workers) this.drop(worker, why)
  }

  private startNext(): void {
    if (this.isClosed || this.queue.length === 0) return
    const worker = [...this.workers].find(({ current }) => !current) ?? this.addWorker()
    const next = worker && this.queue.shift()
    if (!worker || !next) return
    this.queuedBytes -= next.bytes
    clearTimeout(worker.timer)
    worker.current = next
    worker.timer = setTimeout(() => this.drop(worker, 'it took too long'), this.bounds.taskMs)
    worker.worker.postMessage(next.task, next.transfer)
  }

  private addWorker(): PoolWorker<Task, Result> | undefined {
    if (this.workers.size >= this.bounds.workersMax) return undefined
    const added: PoolWorker<Task, Result> = {
      worker: this.start(),
      current: undefined,
      timer: undefined,
    }
    added.worker.unref()
    added.worker.onmessage = (event: MessageEvent<WorkerReply<Result>>) =>
      this.finish(added, event.data)
    added.worker.onerror = (event) => {
      event.preventDefault()
      this.drop(added, event.message)
    }
    added.worker.addEventListener('close', () => this.drop(added, 'its worker ended'))
    this.workers.add(added)
    return added
  }

  private finish(worker: PoolWorker<Task, Result>, reply: WorkerReply<Result>): void {
    const { current } = worker
    worker.current = undefined
    clearTimeout(worker.timer)
    worker.timer = setTimeout(() => this.drop(worker, 'idle'), this.bounds.idleMs)
    worker.timer.unref()
    if ('error' in reply) current?.done.reject(new Error(reply.error))
    else current?.done.resolve(reply.result)
    this.startNext()
  }

  private drop(worker: PoolWorker<Task, Result>, why: string): void {
    if (!this.workers.delete(worker)) return
    clearTimeout(worker.timer)
    worker.worker.terminate()
    worker.current?.done.reject(new PoolBusyError(why))
    this.startNext()
  }
}
