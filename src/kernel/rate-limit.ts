import { Cache } from './lazy.ts'
import { type Clock, secondsUntil } from './time.ts'

/** Limit of keys in memory. The least recently used key is evicted first. */
const keysMax = 100_000

/** The calls of a window and of the window before it. `start` is milliseconds since 1970. */
export interface RateWindow {
  start: number
  now: number
  before: number
}

/** Returns when a window has less than `max` calls: as the window before fades, or itself. */
export function opensAt({ start, now, before }: RateWindow, max: number, windowMs: number): number {
  const left = max - now
  if (left > 0) return start + windowMs * (1 - left / before)
  return start + windowMs * (1 + Math.max(0, 1 - Math.max(0, max) / Math.max(1, now)))
}

/**
 * Counts calls per key over a sliding window: those of the current window, plus those of the window
 * before, weighted by its remaining share. The first call of a key opens its first window, so
 * exactly `max` calls of a burst pass. `max` 0 turns the limit off.
 */
export class RateLimit {
  private readonly windows = new Cache<RateWindow>(keysMax)
  /** Rejected calls since the start, for metrics. */
  rejected = 0
  /** Calls that other processes do not know yet, by key; undefined where there are none. */
  private unshared: Map<string, number> | undefined

  constructor(
    private readonly clock: Clock,
    public max: number,
    readonly windowMs: number,
  ) {}

  /**
   * Counts `calls` together, or none of them. Returns undefined if they may pass, else the whole
   * seconds to wait. `keyMax`: the limit of this key.
   */
  take(key: string, calls = 1, keyMax = this.max): number | undefined {
    if (keyMax === 0) return undefined
    const at = this.clock.now()
    const window = this.windowAt(key, at)
    const left = 1 - (at - window.start) / this.windowMs
    const max = keyMax - calls + 1
    if (window.before * left + window.now >= max) {
      this.rejected += 1
      return secondsUntil(opensAt(window, max, this.windowMs), at)
    }
    window.now += calls
    if (this.unshared) this.share(key, calls)
    return undefined
  }

  /** Returns the calls since the last time. They are counted from the first time on. */
  takeUnshared(): Map<string, number> {
    const all = this.unshared ?? new Map<string, number>()
    this.unshared = new Map()
    return all
  }

  /** Replaces the window of a key by that of all processes, which lacks the newest calls here. */
  merge(key: string, { start, now, before }: RateWindow): void {
    this.windows.set(key, { start, now: now + (this.unshared?.get(key) ?? 0), before })
  }

  /** Counts calls for the other processes. */
  share(key: string, calls: number): void {
    const isFull = this.unshared !== undefined && this.unshared.size >= keysMax
    // While the database is down, nothing takes the calls away.
    if (isFull && !this.unshared?.has(key)) return
    this.unshared?.set(key, (this.unshared.get(key) ?? 0) + calls)
  }

  /** Counts one call. Returns the limit and the seconds to wait where it may not pass. */
  takeOne(key: string): { max: number; retryAfter: number } | undefined {
    const retryAfter = this.take(key)
    return retryAfter === undefined ? undefined : { max: this.max, retryAfter }
  }

  /** Counts calls that were made already, also past the limit. */
  add(key: string, calls: number): void {
    if (this.max === 0) return
    this.windowAt(key, this.clock.now()).now += calls
    this.share(key, calls)
  }

  /** Removes the newest calls of a key from the count. */
  giveBack(key: string, calls = 1): void {
    const window = this.windowAt(key, this.clock.now())
    window.now = Math.max(0, window.now - calls)
    this.share(key, -calls)
  }

  /** Returns the calls that a key has left, and the whole seconds until it has all again. */
  left(key: string, keyMax = this.max): { calls: number; resetAfter: number } {
    const at = this.clock.now()
    const window = this.windowAt(key, at)
    const used = window.before * (1 - (at - window.start) / this.windowMs) + window.now
    const windows = window.now > 0 ? 2 : 1
    return {
      calls: Math.max(0, Math.floor(keyMax - used)),
      resetAfter: Math.ceil((window.start + windows * this.windowMs - at) / 1_000),
    }
  }

  private windowAt(key: string, at: number): RateWindow {
    const known = this.windows.get(key)
    const passed = known ? Math.floor((at - known.start) / this.windowMs) : undefined
    if (known && passed === 0) return known
    const window =
      known && passed === 1
        ? { start: known.start + this.windowMs, now: 0, before: known.now }
        : { start: at, now: 0, before: 0 }
    this.windows.set(key, window)
    return window
  }
}

/** Counts what runs at once, by key: at most `max` of each, or any number where `max` is 0. */
export class ConcurrencyLimit {
  private readonly running = new Map<string, number>()
  /** Rejected calls since the start, for metrics. */
  rejected = 0

  constructor(public max: number) {}

  /** Counts one more and returns the function that ends it; undefined where `max` already run. */
  begin(key: string, max = this.max): (() => void) | undefined {
    const count = this.running.get(key) ?? 0
    if (max > 0 && count >= max) {
      this.rejected += 1
      return undefined
    }
    this.running.set(key, count + 1)
    return () => {
      const left = (this.running.get(key) ?? 1) - 1
      if (left > 0) this.running.set(key, left)
      else this.running.delete(key)
    }
  }
}
