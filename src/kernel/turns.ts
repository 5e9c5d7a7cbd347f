import type { Client } from './client.ts'
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
export function partsOf({ prefix, group = prefix, account }: Party): Map<string, number> {
  const parts = new Map<string, number>()
  if (prefix !== '') parts.set(prefix, 3 / 4).set(group, 1 / 2)
  if (account !== undefined) parts.set(account, 1 / 2)
  return parts
}

/** Returns the most of `max` that a share allows. One piece of work is always allowed. */
export const partOf = (share: number, max: number): number => Math.max(1, Math.floor(share * max))

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
export const ownNamesOf = ({ prefix, group = prefix, account = '' }: Party): string[] => [
  group,
  account,
]

/** Compares two ranks by their first difference. */
export function isBefore(rank: number[], other: number[]): boolean {
  const at = rank.findIndex((value, index) => value !== other[index])
  return at >= 0 && (rank[at] ?? 0) < (other[at] ?? 0)
}
