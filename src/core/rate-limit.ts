import { Cache } from './cache.ts'
import { type Clock, secondsUntil } from './time.ts'

/** Limit of keys in memory. The least recently used key is evicted first. */
const keysMax = 100_000

interface Window {
  start: number
  now: number
  before: number
}

/**
 * Counts calls per key over a sliding window: those of the current window, plus those of the window
 * before, weighted by its remaining share. The first call of a key opens its first window, so
 * exactly `max` calls of a burst pass. `max` 0 turns the limit off.
 */
export class RateLimit {
  private readonly windows = new Cache<Window>(keysMax)
  /** Rejected calls since the start, for metrics. */
  rejected = 0

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
      return secondsUntil(this.opensAt(window, max), at)
    }
    window.now += calls
    return undefined
  }

  /** Counts one call. Returns the limit and the seconds to wait where it may not pass. */
  takeOne(key: string): { max: number; retryAfter: number } | undefined {
    const retryAfter = this.take(key)
    return retryAfter === undefined ? undefined : { max: this.max, retryAfter }
  }

  /** Counts calls that were made already, also past the limit. */
  add(key: string, calls: number): void {
    if (this.max > 0) this.windowAt(key, this.clock.now()).now += calls
  }

  /** Returns when a window has less than `max` calls: as the window before fades, or itself. */
  private opensAt({ start, now, before }: Window, max: number): number {
    const left = max - now
    if (left > 0) return start + this.windowMs * (1 - left / before)
    return start + this.windowMs * (1 + Math.max(0, 1 - Math.max(0, max) / Math.max(1, now)))
  }

  /** Removes the newest calls of a key from the count. */
  giveBack(key: string, calls = 1): void {
    const window = this.windowAt(key, this.clock.now())
    window.now = Math.max(0, window.now - calls)
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

  private windowAt(key: string, at: number): Window {
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
