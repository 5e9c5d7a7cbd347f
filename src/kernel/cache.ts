import { LRUCache } from 'lru-cache'

import type { Clock } from './time.ts'

/** Lifetime of cached values and the clock that measures it. */
interface Lifetime {
  clock: Clock
  ms: number
}

/**
 * Values by key, at most `max`: past it the one that was used longest ago goes. Memory is allocated
 * with the first value, because an LRUCache reserves space for `max` at once.
 */
export class Cache<Value extends NonNullable<unknown>> {
  private values: LRUCache<string, Value> | undefined

  constructor(
    private readonly max: number,
    private readonly lifetime?: Lifetime,
  ) {}

  get(key: string): Value | undefined {
    const { values, lifetime } = this
    if (!values || !lifetime) return values?.get(key)
    // A clock that was set back makes a value look younger than new.
    const leftMs = values.getRemainingTTL(key)
    return leftMs > 0 && leftMs <= lifetime.ms ? values.get(key) : undefined
  }

  set(key: string, value: Value): void {
    this.values ??= this.open()
    this.values.set(key, value)
  }

  delete(key: string): void {
    this.values?.delete(key)
  }

  entries(): [key: string, value: Value][] {
    return [...(this.values?.entries() ?? [])]
  }

  get size(): number {
    return this.values?.size ?? 0
  }

  private open(): LRUCache<string, Value> {
    const { max, lifetime } = this
    if (!lifetime) return new LRUCache({ max })
    const { clock, ms } = lifetime
    return new LRUCache({ max, ttl: ms, ttlResolution: 0, perf: clock })
  }
}
