import { type Client, currentClient } from './client.ts'
import { minute, stopwatch } from './time.ts'

/** The parts of a client that take turns. */
export type Party = Pick<Client, 'prefix' | 'group' | 'account'>

const forgetMs = minute
/** The share of all bytes that the first work of a client leaves to others. */
const leftShare = 1 / 12

interface Record {
  running: number
  /** Bytes of what runs. */
  bytes: number
  /** The number of the last turn. */
  turn: number
  /** Milliseconds of work since `since`. */
  work: number
  since: number
}

/**
 * Returns the names that a client takes turns by, with the share of a queue that each may have. An
 * address or an account has half. A network with several addresses has three quarters.
 */
function partsOf({ prefix, group = prefix, account }: Party): Map<string, number> {
  const parts = new Map<string, number>()
  if (prefix !== '') parts.set(prefix, 3 / 4).set(group, 1 / 2)
  if (account !== undefined) parts.set(account, 1 / 2)
  return parts
}

/** Returns the most of `max` that a share allows. One piece of work is always allowed. */
const partOf = (share: number, max: number): number => Math.max(1, Math.floor(share * max))

/**
 * Remembers who had a turn, so that all who wait are served in rotation. A client counts by its
 * network and by its account; the one that had more counts. The clients of a network take turns
 * among themselves: its addresses first, then their accounts.
 */
export class Turns {
  private readonly records = new Map<string, Record>()
  private turn = 0

  /** Returns the index of the next item, -1 for none: the fewest running, then the longest wait. */
  next<Item>(items: readonly Item[], partyOf: (item: Item) => Party): number {
    let best = -1
    let bestRank: number[] = []
    for (const [at, item] of items.entries()) {
      const rank = this.rankOf(partyOf(item))
      if (best >= 0 && !isBefore(rank, bestRank)) continue
      best = at
      bestRank = rank
    }
    return best
  }

  /** Returns whether each part of a client has less than its share of `max` running. */
  hasShare(party: Party, max: number): boolean {
    const isBelow = ([name, share]: [string, number]) =>
      (this.records.get(name)?.running ?? 0) < partOf(share, max)
    return [...partsOf(party)].every(isBelow)
  }

  /**
   * Returns whether each part of a client may have `bytes` more, of `max` of which `free` are free.
   * It may have its share, but not more than it leaves to others, so that another network always
   * finds some. Its first work may take all but a small part.
   */
  hasBytes(party: Party, bytes: number, { max, free }: { max: number; free: number }): boolean {
    const left = free - bytes
    const isWithin = ([name, share]: [string, number]) => {
      const used = this.records.get(name)?.bytes ?? 0
      if (used === 0 && left >= max * leftShare) return true
      return used + bytes <= Math.min(share * max, left)
    }
    return [...partsOf(party)].every(isWithin)
  }

  /**
   * Returns whether an address or an account has worked for more than `ms` milliseconds in the last
   * minute.
   */
  hasWorked(party: Party, ms: number): boolean {
    const now = stopwatch()
    return ownNamesOf(party).some((name) => {
      const record = this.records.get(name)
      return record !== undefined && now - record.since < forgetMs && record.work > ms
    })
  }

  /** Counts a turn. Returns the function that ends it. */
  begin(party: Party, bytes = 0): () => void {
    this.turn += 1
    const startedAt = stopwatch()
    this.forget(startedAt)
    const names = [...partsOf(party).keys()]
    for (const name of names) {
      const record = this.records.get(name) ?? newRecord(startedAt)
      record.running += 1
      record.bytes += bytes
      record.turn = this.turn
      this.records.set(name, record)
    }
    return () => {
      const now = stopwatch()
      for (const name of names) {
        const record = this.records.get(name)
        if (!record) continue
        record.running -= 1
        record.bytes -= bytes
        if (now - record.since >= forgetMs) Object.assign(record, { work: 0, since: now })
        record.work += now - startedAt
      }
    }
  }

  /** Returns what decides the order: of the part with the most, then of the address and account. */
  private rankOf(party: Party): number[] {
    const found = (names: Iterable<string>) =>
      [...names].map((name) => this.records.get(name) ?? { running: 0, turn: 0 })
    const all = found(partsOf(party).keys())
    const most = {
      running: Math.max(0, ...all.map(({ running }) => running)),
      turn: Math.max(0, ...all.map(({ turn }) => turn)),
    }
    return [most, ...found(ownNamesOf(party))].flatMap(({ running, turn }) => [running, turn])
  }

  private forget(now: number): void {
    for (const [name, { running, since }] of this.records) {
      if (running === 0 && now - since >= forgetMs) this.records.delete(name)
    }
  }
}

const newRecord = (since: number): Record => ({ running: 0, bytes: 0, turn: 0, work: 0, since })

/** Returns the names of the address, else of the network, and of the account. */
const ownNamesOf = ({ prefix, group = prefix, account = '' }: Party): string[] => [group, account]

/** Compares two ranks by their first difference. */
function isBefore(rank: number[], other: number[]): boolean {
  const at = rank.findIndex((value, index) => value !== other[index])
  return at >= 0 && (rank[at] ?? 0) < (other[at] ?? 0)
}

/** A task that was not done although nothing is wrong with it. It may be tried again. */
export class PoolBusyError extends Error {}

export interface QueueBounds {
  /** Pieces of work that run at once. */
  slots: number
  /** Bytes of all work that runs at once. Default: any number. */
  bytesMax?: number
  waitingMax: number
  waitingBytesMax: number
  /** The time work may wait, in milliseconds. Default: any. */
  waitMs?: number
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

/** Pieces of work and their bytes. */
interface Load {
  count: number
  bytes: number
}

/**
 * Shares slots, bytes and places fairly by network, address and account (see `Turns`). No address
 * and no account has more than half of any of them, so that another client finds some free. Large
 * work, and work of a client that worked much, never takes the last of several slots. A full queue
 * drops the newest work of the client with the most.
 */
export class FairQueue {
  private readonly turns = new Turns()
  private readonly waiting: QueuedWork[] = []
  private running = 0
  private runningBytes = 0
  private runningLarge = 0

  constructor(private readonly bounds: QueueBounds) {}

  /** Runs work for the current client when its turn comes. Throws PoolBusyError. */
  async run<Result>(bytes: number, run: () => Promise<Result>): Promise<Result> {
    const end = await this.begin(bytes)
    try {
      return await run()
    } finally {
      end()
    }
  }

  /** Waits for the turn of the current client. Returns what ends it. Throws PoolBusyError. */
  async begin(bytes: number): Promise<() => void> {
    const { promise, resolve: start, reject } = Promise.withResolvers<() => void>()
    const work = { client: currentClient(), bytes, start, reject }
    this.waiting.push(work)
    this.startNext()
    if (this.waiting.includes(work)) this.dropExcess(work)
    const { waitMs } = this.bounds
    if (waitMs === undefined || !this.waiting.includes(work)) return promise
    const timer = setTimeout(() => this.drop(work), waitMs)
    return promise.finally(() => clearTimeout(timer))
  }

  /** Counts work that has begun already, also past the bounds. Returns what ends it. */
  count(bytes: number): () => void {
    return this.take({ client: currentClient(), bytes })
  }

  close(why: string): void {
    for (const { reject } of this.waiting.splice(0)) reject(new PoolBusyError(why))
  }

  /** Returns whether a client worked so much that its work counts as large. */
  isHeavy(client: Client): boolean {
    return this.turns.hasWorked(client, this.bounds.heavyMs ?? 5_000)
  }

  private isLarge({ client, bytes }: Work): boolean {
    return bytes > this.bounds.largeBytes || this.isHeavy(client)
  }

  /** Returns whether a client may have more, whatever is free. */
  private hasShare(work: Work): boolean {
    const { slots, bytesMax = Infinity } = this.bounds
    const { client, bytes } = work
    if (!this.turns.hasShare(client, slots)) return false
    const free = bytesMax - this.runningBytes
    if (this.running > 0 && !this.turns.hasBytes(client, bytes, { max: bytesMax, free }))
      return false
    return this.runningLarge < Math.max(1, slots - 1) || !this.isLarge(work)
  }

  private isFree(bytes: number): boolean {
    const { slots, bytesMax = Infinity } = this.bounds
    if (this.running >= slots) return false
    return this.running === 0 || this.runningBytes + bytes <= bytesMax
  }

  /** Takes a slot. Returns the function that frees it and charges the client. */
  private take(work: Work): () => void {
    const { client, bytes } = work
    const isLarge = this.isLarge(work)
    const endTurn = this.turns.begin(client, bytes)
    const startedAt = stopwatch()
    this.running += 1
    this.runningBytes += bytes
    this.runningLarge += Number(isLarge)
    return () => {
      this.running -= 1
      this.runningBytes -= bytes
      this.runningLarge -= Number(isLarge)
      endTurn()
      if (!this.bounds.isFree) client.charge('work', stopwatch() - startedAt)
      this.startNext()
    }
  }

  /**
   * Drops new work beyond the share of its client. Otherwise drops the newest work of the clients
   * with the most, until the rest is within the bounds.
   */
  private dropExcess(work: QueuedWork): void {
    const { waitingMax, waitingBytesMax } = this.bounds
    const isBeyond = [...partsOf(work.client)].some(([name, share]) => {
      const { count, bytes } = this.loadOf(name)
      return (
        count > partOf(share, waitingMax) || (bytes > work.bytes && bytes > share * waitingBytesMax)
      )
    })
    if (isBeyond) return this.drop(work)
    for (;;) {
      const { count, bytes } = this.loadOf()
      if (count > waitingMax) this.drop(this.newestOfMost('count'))
      else if (bytes > waitingBytesMax) this.drop(this.newestOfMost('bytes'))
      else return
    }
  }

  private drop(work: QueuedWork | undefined): void {
    const at = work ? this.waiting.indexOf(work) : -1
    if (!work || at < 0) return
    this.waiting.splice(at, 1)
    work.reject(new PoolBusyError('too many tasks are waiting'))
  }

  /** Returns the newest work of the client with the most, and within its network of the account. */
  private newestOfMost(of: keyof Load): QueuedWork | undefined {
    let found: QueuedWork | undefined
    let most: number[] = []
    for (const work of this.waiting) {
      const loads = (names: Iterable<string>) => [...names].map((name) => this.loadOf(name)[of])
      const { client } = work
      const rank = [Math.max(0, ...loads(partsOf(client).keys())), ...loads(ownNamesOf(client))]
      if (found && isBefore(rank, most)) continue
      found = work
      most = rank
    }
    return found
  }

  /** Returns what waits, of one part of a client or of all. */
  private loadOf(name?: string): Load {
    const isOf = ({ client }: Work) => name === undefined || partsOf(client).has(name)
    const counted = this.waiting.filter(isOf)
    return { count: counted.length, bytes: counted.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  /** Starts what may run. Work whose bytes are free overtakes work that needs more. */
  private startNext(): void {
    for (;;) {
      const allowed = this.waiting.filter((work) => this.isFree(work.bytes) && this.hasShare(work))
      const next = allowed[this.turns.next(allowed, ({ client }) => client)]
      if (!next) return
      this.waiting.splice(this.waiting.indexOf(next), 1)
      next.start(this.take(next))
    }
  }
}

/** Runs asynchronous work in the order it arrives, one piece at a time. A failure stops nothing. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve()

  run<Value>(work: () => Promise<Value>): Promise<Value> {
    const result = this.last.then(work)
    this.last = result.catch(() => undefined)
    return result
  }
}
