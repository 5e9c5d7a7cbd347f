import { LRUCache } from 'lru-cache'

import { type Clock, secondsUntil } from './time.ts'

/** Addresses remembered at once; the one seen longest ago is forgotten first. */
const keysMax = 100_000

interface Window {
  start: number
  now: number
  before: number
}

/**
 * Counts calls per key over a sliding window: the last full window, weighted by how much of it
 * still lies within the window's length, plus the current one. A key's first call opens its first
 * window, so a burst gets exactly `max` through whenever it begins. `max` 0 turns the limit off.
 */
export class RateLimit {
  /** Made with the first call: it takes its room for all addresses at once. */
  private windows: LRUCache<string, Window> | undefined

  constructor(
    private readonly clock: Clock,
    readonly max: number,
    private readonly windowMs: number,
  ) {}

  /** Counts one call. Answers undefined when it may pass, else the whole seconds to wait. */
  take(key: string): number | undefined {
    if (this.max === 0) return undefined
    const at = this.clock.now()
    const window = this.windowAt(key, at)
    const left = 1 - (at - window.start) / this.windowMs
    if (window.before * left + window.now >= this.max) {
      return secondsUntil(this.opensAt(window), at)
    }
    window.now += 1
    return undefined
  }

  /** When a full window takes a call again: with its end, or sooner as the one before it goes. */
  private opensAt({ start, now, before }: Window): number {
    const room = this.max - now
    return start + this.windowMs * (room > 0 ? 1 - room / before : 1)
  }

  /** Takes the newest call of a key back: it is not one to be counted. */
  giveBack(key: string): void {
    const window = this.windowAt(key, this.clock.now())
    window.now = Math.max(0, window.now - 1)
  }

  /** Calls a key may still make now, and the whole seconds until it may make all again. */
  left(key: string): { calls: number; resetAfter: number } {
    const at = this.clock.now()
    const window = this.windowAt(key, at)
    const used = window.before * (1 - (at - window.start) / this.windowMs) + window.now
    const windows = window.now > 0 ? 2 : 1
    return {
      calls: Math.max(0, Math.floor(this.max - used)),
      resetAfter: Math.ceil((window.start + windows * this.windowMs - at) / 1_000),
    }
  }

  private windowAt(key: string, at: number): Window {
    this.windows ??= new LRUCache({ max: keysMax })
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
