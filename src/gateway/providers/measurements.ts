import { LRUCache } from 'lru-cache'

import type { AttemptEnd } from '../../kernel/state/observations.ts'
import { type Clock, hour, isWithin, minute, monotonic } from '../../kernel/time.ts'

/** Weight of a new measurement in the moving average of the speed. */
const speedWeight = 0.2
/** Models at upstreams that are remembered, and calls of each. */
const entriesMax = 1_000
const samplesMax = 256
const keptMs = 24 * hour
/** A latency that is older than this does not decide about the next upstream. */
const freshMs = 5 * minute

interface Sample {
  /** Milliseconds since 1970. */
  at: number
  firstByteMs: number
  ms: number
  isSuccess: boolean
}

/** The calls of one model at one upstream. */
interface Entry {
  running: number
  tokensPerSecond: number
  /** A ring: `next` is the place of the next sample. */
  samples: Sample[]
  next: number
}

/** Percentiles in milliseconds. */
export interface Percentiles {
  p50: number
  p90: number
  p99: number
}

/** The measured calls of a model. */
export interface MeasuredCalls {
  /** Calls of the last 24 hours, at most the newest 256 of each upstream, since the start. */
  calls: number
  /** Share of the calls that succeeded, 0 to 1. */
  successRate: number
  /** Time to the first event of a stream, or to the whole response. Null without a success. */
  firstByteMs: Percentiles | null
  totalMs: Percentiles | null
  /** Output tokens per second; 0 when unknown. */
  tokensPerSecond: number
  /** Calls that run now. */
  running: number
}

interface Place {
  upstream: string
  model: string
}

/** A call that runs at an upstream. It ends once. */
export class Attempt {
  private readonly started: number
  private firstByteMs: number | undefined
  private endedMs: number | undefined
  private outcome: AttemptEnd | undefined

  constructor(
    private readonly entry: Entry,
    private readonly clock: Clock,
  ) {
    this.started = monotonic(clock)
    entry.running += 1
  }

  /** Milliseconds until the end, or until now. */
  get ms(): number {
    return this.endedMs ?? monotonic(this.clock) - this.started
  }

  /** The end of the call; undefined while it runs. */
  get endedAs(): AttemptEnd | undefined {
    return this.outcome
  }

  /** Milliseconds until the first byte. */
  get firstByte(): number | undefined {
    return this.firstByteMs
  }

  markFirstByte(): void {
    this.firstByteMs ??= monotonic(this.clock) - this.started
  }

  /** Ends the call. `tokens`: output tokens, for the speed. */
  end(how: AttemptEnd, tokens = 0): void {
    if (this.endedMs !== undefined) return
    const ms = monotonic(this.clock) - this.started
    this.endedMs = ms
    this.outcome = how
    const { entry } = this
    entry.running -= 1
    if (how === 'dismissed') return
    const { firstByteMs = ms } = this
    const isSuccess = how === 'completed'
    entry.samples[entry.next] = { at: this.clock.now(), firstByteMs, ms, isSuccess }
    entry.next = (entry.next + 1) % samplesMax
    if (tokens > 0 && ms > 0) recordSpeed(entry, (tokens * 1_000) / ms)
  }
}

function recordSpeed(entry: Entry, speed: number): void {
  const before = entry.tokensPerSecond
  entry.tokensPerSecond = before === 0 ? speed : before + speedWeight * (speed - before)
}

/** Latency, success and speed of every model at every upstream, as this process measured them. */
export class Measurements {
  private readonly entries = new LRUCache<string, Entry>({ max: entriesMax })

  constructor(private readonly clock: Clock) {}

  /** Begins a call. The caller ends it. */
  begin({ upstream, model }: Place): Attempt {
    const key = `${upstream} ${model}`
    const entry = this.entries.get(key) ?? emptyEntry()
    if (entry.samples.length === 0) this.entries.set(key, entry)
    return new Attempt(entry, this.clock)
  }

  /** Returns the average output tokens per second; 0 before the first measurement. */
  tokensPerSecond(place: Place): number {
    return this.find(place)?.tokensPerSecond ?? 0
  }

  /** Returns the calls that run now. */
  running(place: Place): number {
    return this.find(place)?.running ?? 0
  }

  /**
   * Returns the median time to the first byte of the last five minutes; Infinity where every call
   * failed, and undefined without a call.
   */
  recentLatency(place: Place): number | undefined {
    const recent = this.samplesOf([place], freshMs)
    if (recent.length === 0) return undefined
    const successes = recent.filter(({ isSuccess }) => isSuccess)
    return percentilesOf(successes.map(({ firstByteMs }) => firstByteMs))?.p50 ?? Infinity
  }

  /** Sums up a model at one upstream, or at all of `model.offers`. Undefined without a call. */
  summarize(places: readonly Place[]): MeasuredCalls | undefined {
    const samples = this.samplesOf(places, keptMs)
    const successes = samples.filter(({ isSuccess }) => isSuccess)
    const running = places.reduce((sum, place) => sum + this.running(place), 0)
    if (samples.length === 0 && running === 0) return undefined
    return {
      calls: samples.length,
      successRate: samples.length > 0 ? successes.length / samples.length : 1,
      firstByteMs: percentilesOf(successes.map(({ firstByteMs }) => firstByteMs)),
      totalMs: percentilesOf(successes.map(({ ms }) => ms)),
      tokensPerSecond: Math.max(...places.map((place) => this.tokensPerSecond(place))),
      running,
    }
  }

  private samplesOf(places: readonly Place[], ms: number): Sample[] {
    const { clock } = this
    return places
      .flatMap((place) => this.find(place)?.samples ?? [])
      .filter(({ at }) => isWithin(clock, at, ms))
  }

  private find({ upstream, model }: Place): Entry | undefined {
    return this.entries.get(`${upstream} ${model}`)
  }
}

const emptyEntry = (): Entry => ({ running: 0, tokensPerSecond: 0, samples: [], next: 0 })

function percentilesOf(values: number[]): Percentiles | null {
  if (values.length === 0) return null
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number): number =>
    Math.round(sorted[Math.ceil(sorted.length * share) - 1] ?? 0)
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}
