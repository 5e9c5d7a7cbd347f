import type { NanoUsd } from '../money.ts'
import { minute, second, stopwatch } from '../time.ts'
import { observedMs } from './observations.ts'

const samplesMax = observedMs / minute + 1

/** Counters of the server at one moment, counted since its start. */
export interface Sample {
  /** Milliseconds since 1970. */
  at: number
  upstreamErrors: number
  /** Revenue of the operator. */
  income: NanoUsd
  jobs: number
  /** Free disk space in bytes. */
  free: number
  /** The longest delay of a timer since the sample before, in milliseconds. */
  lateMs: number
}

/** One sample a minute for a day, and the delay of the event loop. */
export class MetricsHistory {
  readonly samples: Sample[] = []
  private lastTick = stopwatch()
  private maxLateMs = 0

  /** Keeps a sample and measures the delay of timers anew. */
  add(sample: Sample): void {
    this.samples.push(sample)
    this.samples.splice(0, this.samples.length - samplesMax)
    this.maxLateMs = 0
  }

  /** Measures the delay of the event loop. A timer calls it once a second. */
  tick(): void {
    const now = stopwatch()
    this.maxLateMs = Math.max(this.maxLateMs, now - this.lastTick - second)
    this.lastTick = now
  }

  /** The longest delay of a timer since the last sample, in milliseconds. */
  get lateMs(): number {
    return this.maxLateMs
  }

  /** The longest delay of a timer in the last one to two minutes, in milliseconds. */
  get recentLateMs(): number {
    return Math.max(this.maxLateMs, this.samples.at(-1)?.lateMs ?? 0)
  }
}
