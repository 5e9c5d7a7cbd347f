import { type Client, currentClient } from './client.ts'
import { stopwatch } from './time.ts'
import { partiesOf, Turns } from './turns.ts'

/** A task that was not done although nothing is wrong with it. It may be tried again. */
export class PoolBusyError extends Error {}

export interface QueueBounds {
  /** Pieces of work that run at once. */
  slots: number
  /** Pieces of one network or account that run at once. Default: `slots`. */
  slotsPerClient?: number
  waitingMax: number
  waitingBytesMax: number
  /** Work of more bytes is large. */
  largeBytes: number
  /** Work of a client in a minute, in milliseconds, after which its next work counts as large. */
  heavyMs?: number
  /** The work only waits for another machine, so it costs its client nothing. */
  isFree?: boolean
}

interface Work {
  client: Client
  bytes: number
}

interface QueuedWork extends Work {
  /** Receives the function that ends the work. */
  start(end: () => void): void
  reject(error: PoolBusyError): void
}

/**
 * Shares slots fairly by network and account: see `Turns`. Large work, and work of a client that
 * worked much, never takes the last of several slots, so that small work of others need not wait
 * for it. A full queue drops the newest work of the client with the most.
 */
export class FairQueue {
  private readonly turns = new Turns()
  private readonly waiting: QueuedWork[] = []
  private running = 0
  private runningLarge = 0

  constructor(private readonly bounds: QueueBounds) {}

  /** Runs work for the current client when its turn comes. Throws PoolBusyError. */
  async run<Result>(bytes: number, run: () => Promise<Result>): Promise<Result> {
    const work = { client: currentClient(), bytes }
    const end = this.mayStart(work) ? this.begin(work) : await this.wait(work)
    try {
      return await run()
    } finally {
      end()
      this.startNext()
    }
  }

  /** Rejects all that waits. */
  close(why: string): void {
    for (const { reject } of this.waiting.splice(0)) reject(new PoolBusyError(why))
  }

  private isLarge({ client, bytes }: Work): boolean {
    const { largeBytes, heavyMs = 5_000 } = this.bounds
    return bytes > largeBytes || this.turns.hasWorked(client, heavyMs)
  }

  private mayStart(work: Work): boolean {
    const { slots, slotsPerClient = slots } = this.bounds
    if (this.running >= slots || this.turns.running(work.client) >= slotsPerClient) return false
    return !this.isLarge(work) || this.runningLarge < Math.max(1, slots - 1)
  }

  /** Takes a slot. Returns the function that frees it and charges the client. */
  private begin(work: Work): () => void {
    const isLarge = this.isLarge(work)
    const endTurn = this.turns.begin(work.client)
    const startedAt = stopwatch()
    this.running += 1
    this.runningLarge += Number(isLarge)
    return () => {
      this.running -= 1
      this.runningLarge -= Number(isLarge)
      endTurn()
      if (!this.bounds.isFree) work.client.charge('work', stopwatch() - startedAt)
    }
  }

  private async wait(work: Work): Promise<() => void> {
    this.dropExcess(work)
    const { promise, resolve: start, reject } = Promise.withResolvers<() => void>()
    this.waiting.push({ ...work, start, reject })
    return promise
  }

  /** Drops the newest work of the clients with the most. Throws where that is this client. */
  private dropExcess({ client, bytes }: Work): void {
    const { waitingMax, waitingBytesMax } = this.bounds
    const error = new PoolBusyError('too many tasks are waiting')
    const isFull = () =>
      this.waiting.length >= waitingMax ||
      this.waiting.reduce((sum, one) => sum + one.bytes, bytes) > waitingBytesMax
    while (isFull()) {
      const counts = this.waiting.map((one) => this.countOf(one.client))
      const most = Math.max(0, ...counts)
      if (most <= this.countOf(client) + 1) throw error
      for (const { reject } of this.waiting.splice(counts.lastIndexOf(most), 1)) reject(error)
    }
  }

  /** Returns what waits of a client: of its network or of its account, whichever is more. */
  private countOf(client: Client): number {
    const counts = partiesOf(client).map(
      (name) => this.waiting.filter((one) => partiesOf(one.client).includes(name)).length,
    )
    return Math.max(...counts)
  }

  private startNext(): void {
    for (;;) {
      const ready = this.waiting.filter((work) => this.mayStart(work))
      const next = ready[this.turns.next(ready, ({ client }) => client)]
      if (!next) return
      this.waiting.splice(this.waiting.indexOf(next), 1)
      next.start(this.begin(next))
    }
  }
}
