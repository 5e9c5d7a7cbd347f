import type { Client } from './client.ts'
import { minute, stopwatch } from './time.ts'

/** The parts of a client that take turns. */
export type Party = Pick<Client, 'prefix' | 'account'>

const forgetMs = minute

interface Record {
  running: number
  /** The number of the last turn. */
  turn: number
  /** Milliseconds of work since `since`. */
  work: number
  since: number
}

/** Returns the names that a client takes turns by: its network, and its account. */
export const partiesOf = ({ prefix, account }: Party): string[] =>
  account === undefined ? [prefix] : prefix === '' ? [account] : [prefix, account]

/**
 * Remembers who had a turn, so that all who wait are served in rotation. A client counts twice: by
 * its network and by its account. The one that had more counts.
 */
export class Turns {
  private readonly records = new Map<string, Record>()
  private turn = 0

  /** Returns the index of the next item, -1 for none: the fewest running, then the longest wait. */
  next<Item>(items: readonly Item[], partyOf: (item: Item) => Party): number {
    let best = -1
    let bestRank: Rank = [Infinity, Infinity]
    for (const [at, item] of items.entries()) {
      const rank = this.rankOf(partyOf(item))
      if (!isBefore(rank, bestRank)) continue
      best = at
      bestRank = rank
    }
    return best
  }

  /** Returns how much of a client runs. */
  running(party: Party): number {
    return this.rankOf(party)[0]
  }

  /** Returns whether a client has worked for more than `ms` milliseconds in the last minute. */
  hasWorked(party: Party, ms: number): boolean {
    const now = stopwatch()
    return partiesOf(party).some((name) => {
      const record = this.records.get(name)
      return record !== undefined && now - record.since < forgetMs && record.work > ms
    })
  }

  /** Counts a turn. Returns the function that ends it. */
  begin(party: Party): () => void {
    this.turn += 1
    const startedAt = stopwatch()
    this.forget(startedAt)
    const names = partiesOf(party)
    for (const name of names) {
      const record = this.records.get(name) ?? { running: 0, turn: 0, work: 0, since: startedAt }
      record.running += 1
      record.turn = this.turn
      this.records.set(name, record)
    }
    return () => {
      const now = stopwatch()
      for (const name of names) {
        const record = this.records.get(name)
        if (!record) continue
        record.running -= 1
        if (now - record.since >= forgetMs) Object.assign(record, { work: 0, since: now })
        record.work += now - startedAt
      }
    }
  }

  private rankOf(party: Party): Rank {
    const records = partiesOf(party).flatMap((name) => this.records.get(name) ?? [])
    return [
      Math.max(0, ...records.map(({ running }) => running)),
      Math.max(0, ...records.map(({ turn }) => turn)),
    ]
  }

  private forget(now: number): void {
    for (const [name, { running, since }] of this.records) {
      if (running === 0 && now - since >= forgetMs) this.records.delete(name)
    }
  }
}

/** Running work of a client, and the number of its last turn. */
type Rank = [running: number, turn: number]

const isBefore = ([running, turn]: Rank, other: Rank): boolean =>
  running < other[0] || (running === other[0] && turn < other[1])
