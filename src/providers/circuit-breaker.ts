import { type Clock, isWithin, minute, second } from '../core/time.ts'

/** Failures in a row that open the breaker. */
const failuresMax = 5
const firstPauseMs = 5 * second
const longestPauseMs = 5 * minute

/**
 * The circuit breaker of one upstream. Five failures in a row open it: it blocks requests for 5 s,
 * then admits one probe. Each failed probe doubles the pause, up to 5 minutes.
 */
export class CircuitBreaker {
  private failures = 0
  private pauseMs = firstPauseMs
  private openedAt = -Infinity
  /** Start of the running probe. A probe without a result expires after the longest pause. */
  private probeAt: number | undefined

  constructor(private readonly clock: Clock) {}

  /** closed: all requests pass; open: none; half-open: one probe. */
  get state(): 'closed' | 'open' | 'half-open' {
    if (this.failures < failuresMax) return 'closed'
    return this.isPaused ? 'open' : 'half-open'
  }

  /** Returns whether a request may be sent now. */
  get isAvailable(): boolean {
    if (this.failures < failuresMax) return true
    const probeAt = this.probeAt ?? -Infinity
    return !this.isPaused && !isWithin(this.clock, probeAt, longestPauseMs)
  }

  /** Reserves one request. When true, the caller then reports its result. */
  tryAcquire(): boolean {
    if (!this.isAvailable) return false
    if (this.failures >= failuresMax) this.probeAt = this.clock.now()
    return true
  }

  succeeded(): void {
    this.failures = 0
    this.pauseMs = firstPauseMs
    this.probeAt = undefined
  }

  /** Returns whether this failure opened the breaker or kept it open. */
  failed(): boolean {
    this.failures += 1
    if (this.failures < failuresMax) return false
    const wasProbe = this.probeAt !== undefined
    if (wasProbe) this.pauseMs = Math.min(this.pauseMs * 2, longestPauseMs)
    if (this.failures > failuresMax && !wasProbe) return false
    this.probeAt = undefined
    this.openedAt = this.clock.now()
    return true
  }

  /** Ends a request without a result: its client left. */
  released(): void {
    this.probeAt = undefined
  }

  private get isPaused(): boolean {
    return isWithin(this.clock, this.openedAt, this.pauseMs)
  }
}
