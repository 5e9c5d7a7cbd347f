import { LRUCache } from 'lru-cache'

import type { Clock } from './time.ts'

/** Returns a function that creates a value with its first call and then returns that one. */
export function lazy<Value>(create: () => Value): () => Value {
  let value: Value | undefined
  return () => (value ??= create())
}

/** Returns a function that creates one value for each owner, such as a database. */
export function lazyFor<Owner extends WeakKey, Value extends NonNullable<unknown>>(
  create: (owner: Owner) => Value,
): (owner: Owner) => Value {
  const values = new WeakMap<Owner, Value>()
  return (owner) => {
    const known = values.get(owner)
    if (known !== undefined) return known
    const value = create(owner)
    values.set(owner, value)
    return value
  }
}

/**
 * The result of asynchronous work that runs once per process: all callers share it. For `restMs`
 * after the start of failed work callers get its error; the next call then runs the work again.
 */
export class SharedResult<Value> {
  private result: Promise<Value> | undefined
  private retryAt = Number.POSITIVE_INFINITY

  constructor(
    private readonly clock: Clock,
    private readonly restMs = 0,
  ) {}

  get(work: () => Promise<Value>): Promise<Value> {
    if (this.result && this.clock.now() < this.retryAt) return this.result
    const startedAt = this.clock.now()
    this.retryAt = Number.POSITIVE_INFINITY
    this.result = work().catch((error: unknown) => {
      this.retryAt = startedAt + this.restMs
      throw error
    })
    return this.result
  }
}

/** Lifetime of cached values and the clock that measures it. */
interface Lifetime {
  clock: Clock
  ms: number
}

/**
 * Values by key, at most `max`: past it the one that was used longest ago goes. Memory grows with
 * the values: an LRUCache with `max` instead of `maxSize` reserves space for all of them at once.
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
    const { max: maxSize, lifetime } = this
    const bound = { maxSize, sizeCalculation: () => 1 }
    if (!lifetime) return new LRUCache(bound)
    const { clock, ms } = lifetime
    return new LRUCache({ ...bound, ttl: ms, ttlResolution: 0, perf: clock })
  }
}
