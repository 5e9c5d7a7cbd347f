import { LRUCache } from 'lru-cache'

import type { Balance } from '../../kernel/config/tables.ts'
import { type Clock, monotonic, second } from '../../kernel/time.ts'
import type { Measurements } from './measurements.ts'

/** A model at an upstream, as the balancer sees it. */
export interface BalancedOffer {
  upstream: string
  model: string
  /** Share of the calls; 1 by default. */
  weight?: number
  /** The upstream of which this is a further API key. */
  replicaOf?: string
}

const entriesMax = 10_000
const coolSecondsMax = 300

/** Returns the name by which clients and settings know the upstream of an offer. */
export const upstreamNameOf = ({ upstream, replicaOf }: BalancedOffer): string =>
  replicaOf ?? upstream

/** Distributes the calls of models over their upstreams. */
export class Balancer {
  /** Counts the calls of each model, so that equal upstreams take turns. */
  private readonly turns = new LRUCache<string, number>({ max: entriesMax })
  /** The share that each upstream is owed, for weights. */
  private readonly owed = new LRUCache<string, Map<string, number>>({ max: entriesMax })
  /** The ends of cool-downs, in monotonic milliseconds. */
  private readonly coolUntil = new LRUCache<string, number>({ max: entriesMax })

  constructor(
    private readonly measurements: Measurements,
    private readonly clock: Clock,
  ) {}

  /** Puts a model at an upstream behind its others, after a 429. */
  cool({ upstream, model }: BalancedOffer, seconds: number): void {
    const ms = Math.min(seconds, coolSecondsMax) * second
    this.coolUntil.set(`${upstream} ${model}`, monotonic(this.clock) + ms)
  }

  /** Moves offers that cool down to the end. Returns the same list where there are none. */
  withoutCooling<T extends { offer: BalancedOffer }>(list: readonly T[]): readonly T[] {
    if (this.coolUntil.size === 0 || list.length < 2) return list
    const isCooling = ({ offer }: T): boolean => this.isCooling(offer)
    return [...list.filter((one) => !isCooling(one)), ...list.filter(isCooling)]
  }

  /** Sorts the offers of a model for its next call. */
  sort<T extends { offer: BalancedOffer }>(id: string, balance: Balance, list: T[]): T[] {
    if (list.length < 2) return list
    if (balance === 'weights') return this.byWeight(id, list)
    const hasReplicas = list.some(({ offer }) => offer.replicaOf !== undefined)
    if (balance === 'order' && !hasReplicas) return list
    const turn = this.turns.get(id) ?? 0
    this.turns.set(id, (turn + 1) % Number.MAX_SAFE_INTEGER)
    const start = turn % list.length
    const rotated = [...list.slice(start), ...list.slice(0, start)]
    if (balance === 'latency') return sortUp(rotated, ({ offer }) => this.latencyOf(offer))
    const busy = sortUp(rotated, ({ offer }) => this.measurements.running(offer))
    if (balance === 'busy') return busy
    const names = list.map(({ offer }) => upstreamNameOf(offer))
    return sortUp(busy, ({ offer }) => names.indexOf(upstreamNameOf(offer)))
  }

  /** Smooth weighted round robin: over time each upstream gets its share, evenly spread. */
  private byWeight<T extends { offer: BalancedOffer }>(id: string, list: T[]): T[] {
    const owed = this.owed.get(id) ?? new Map<string, number>()
    this.owed.set(id, owed)
    let total = 0
    for (const { offer } of list) {
      const { upstream, weight = 1 } = offer
      total += weight
      owed.set(upstream, (owed.get(upstream) ?? 0) + weight)
    }
    const sorted = sortUp(list, ({ offer }) => -(owed.get(offer.upstream) ?? 0))
    const first = sorted[0]?.offer.upstream ?? ''
    owed.set(first, (owed.get(first) ?? 0) - total)
    return sorted
  }

  /** An upstream without a recent call gets one call at a time, to be measured. */
  private latencyOf(offer: BalancedOffer): number {
    const { measurements } = this
    const unknown = measurements.running(offer) > 0 ? Infinity : -1
    return measurements.recentLatency(offer) ?? unknown
  }

  private isCooling({ upstream, model }: BalancedOffer): boolean {
    const until = this.coolUntil.get(`${upstream} ${model}`)
    return until !== undefined && until > monotonic(this.clock)
  }
}

const sortUp = <T>(list: T[], rank: (item: T) => number): T[] => {
  const ranks = new Map(list.map((item) => [item, rank(item)]))
  return list.toSorted((a, b) => {
    const [first = 0, second = 0] = [ranks.get(a), ranks.get(b)]
    // Infinity minus Infinity is no number.
    return first === second ? 0 : first - second
  })
}
