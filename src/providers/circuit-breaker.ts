import { type Clock, isWithin, minute, second } from '../core/time.ts'

/** So many failures in a row open a breaker. */
const failuresMax = 5
const firstPauseMs = 5 * second
const longestPauseMs = 5 * minute

/**
 * The health of one upstream. After five failures in a row it is open: nothing is sent for 5 s,
 * then one probe; each probe that fails doubles the pause, up to 5 minutes.
 */
export class CircuitBreaker {
  private failures = 0
  private pauseMs = firstPauseMs
  private openedAt = -Infinity
  /** When the running probe was sent. One that never ends is forgotten after a pause. */
  private probeAt: number | undefined

  constructor(private readonly clock: Clock) {}

  /** Closed lets all through, open none, and half-open one that probes. */
  get state(): 'closed' | 'open' | 'half-open' {
    if (this.failures < failuresMax) return 'closed'
    return this.isPaused ? 'open' : 'half-open'
  }

  /** Whether a request may be sent now. */
  get isAvailable(): boolean {
    if (this.failures < failuresMax) return true
    const probeAt = this.probeAt ?? -Infinity
    return !this.isPaused && !isWithin(this.clock, probeAt, longestPauseMs)
  }

  /** Takes the right to send one request, which is to be followed by one of the reports. */
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

  /** Answers whether this failure opened the breaker, or kept it open. */
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

  /** The request ended without telling anything: its client left. */
  released(): void {
    this.probeAt = undefined
  }

  private get isPaused(): boolean {
    return isWithin(this.clock, this.openedAt, this.pauseMs)
  }
}
