import type { Clock } from './time.ts'

/** Steps of the histogram: three in each doubling, from half a millisecond to nine minutes. */
const stepsPerDoubling = 3
const steps = 60
const firstMs = 0.5
/** Cells of a window: the histogram, client errors (4xx) and server errors (5xx and failures). */
const [clientErrors, serverErrors] = [steps, steps + 1]
const cells = steps + 2

/** The label of what comes after the most labels. */
const otherLabel = 'other'

interface LatencyOptions {
  windowMs: number
  windows: number
  labelsMax: number
}

/** Measurements of a label in a span of time. Milliseconds are undefined without one. */
export interface LatencyStats {
  count: number
  clientErrors: number
  serverErrors: number
  p50: number | undefined
  p95: number | undefined
  p99: number | undefined
}

/** The measurements of a window of time, which another server can add up: see `windowsSince`. */
export interface LatencyWindow {
  /** Its beginning, in milliseconds since 1970. */
  at: number
  /** The cells that are not zero, by label: index and count in turn. */
  counts: Record<string, number[]>
}

/** One label: a histogram for each window, reused for the window that comes a whole turn later. */
interface Series {
  numbers: Float64Array
  counts: (Uint32Array | undefined)[]
}

/**
 * Histograms of durations by label and window of time, for percentiles of the last day. A
 * measurement adds two numbers; memory is allocated with the first one of a window and then reused.
 */
export class Latencies {
  private readonly series = new Map<string, Series>()

  constructor(
    private readonly clock: Clock,
    private readonly options: LatencyOptions,
  ) {}

  /** Records a duration that ended `at`. `status`: 500 for a failure without a response. */
  record(label: string, ms: number, status: number, at = this.clock.now()): void {
    const counts = this.window(this.seriesOf(label), at)
    add(counts, stepOf(ms))
    if (status >= 500) add(counts, serverErrors)
    else if (status >= 400) add(counts, clientErrors)
  }

  /** Returns the windows that end after a time, oldest first. */
  windowsSince(time: number): LatencyWindow[] {
    const { windowMs, windows } = this.options
    const last = this.numberNow()
    const first = Math.max(last - windows + 1, Math.floor(time / windowMs))
    const found: LatencyWindow[] = []
    for (let number = first; number <= last; number += 1) {
      const counts = Object.fromEntries(
        this.labels().flatMap((label) =>
          this.windowsOf(label, number, number).map((cellsOf) => [label, sparse(cellsOf)] as const),
        ),
      )
      if (Object.keys(counts).length > 0) found.push({ at: number * windowMs, counts })
    }
    return found
  }

  /** Returns the sum of windows, as `windowsSince` returned them. */
  sumOf(windows: readonly LatencyWindow[]): Latencies {
    const sum = new Latencies(this.clock, this.options)
    const last = this.numberNow()
    for (const { at, counts } of windows) {
      // A window outside of the ring would take the place of another one.
      const age = last - Math.floor(at / this.options.windowMs)
      if (age < 0 || age >= this.options.windows) continue
      for (const [label, listed] of Object.entries(counts)) {
        const into = sum.window(sum.seriesOf(label), at)
        for (let index = 0; index < listed.length; index += 2) {
          add(into, listed[index] ?? cells, listed[index + 1])
        }
      }
    }
    return sum
  }

  labels(): string[] {
    return [...this.series.keys()]
  }

  /** Returns the measurements of the last `ms` milliseconds, to a whole window. */
  stats(label: string, ms: number): LatencyStats {
    const last = this.numberNow()
    const windows = Math.min(this.options.windows, Math.ceil(ms / this.options.windowMs))
    return this.sum(label, last - windows + 1, last)
  }

  /**
   * Returns the measurements of `points` spans of equal length, oldest first; the last one is not
   * over.
   */
  history(ms: number, points: number): LatencyStats[] {
    const { windowMs } = this.options
    const labels = this.labels()
    const perPoint = Math.max(1, Math.round(ms / points / windowMs))
    const last = this.numberNow()
    return Array.from({ length: points }, (_, at) => {
      const end = last - (points - 1 - at) * perPoint
      return summarize(labels.flatMap((label) => this.windowsOf(label, end - perPoint + 1, end)))
    })
  }

  private numberNow(): number {
    return Math.floor(this.clock.now() / this.options.windowMs)
  }

  private sum(label: string, first: number, last: number): LatencyStats {
    return summarize(this.windowsOf(label, first, last))
  }

  private windowsOf(label: string, first: number, last: number): Uint32Array[] {
    const series = this.series.get(label)
    if (!series) return []
    const { windows } = this.options
    const found: Uint32Array[] = []
    for (let number = Math.max(first, last - windows + 1); number <= last; number += 1) {
      const slot = number % windows
      const counts = series.counts[slot]
      if (counts && series.numbers[slot] === number) found.push(counts)
    }
    return found
  }

  private seriesOf(label: string): Series {
    const known = this.series.get(label)
    if (known) return known
    const { labelsMax, windows } = this.options
    if (this.series.size >= labelsMax && label !== otherLabel) return this.seriesOf(otherLabel)
    const created = { numbers: new Float64Array(windows), counts: Array(windows).fill(undefined) }
    this.series.set(label, created)
    return created
  }

  private window({ numbers, counts }: Series, at: number): Uint32Array {
    const number = Math.floor(at / this.options.windowMs)
    const slot = number % this.options.windows
    const known = counts[slot]
    if (known && numbers[slot] === number) return known
    const window = known?.fill(0) ?? new Uint32Array(cells)
    numbers[slot] = number
    counts[slot] = window
    return window
  }
}

const stepOf = (ms: number): number =>
  ms <= firstMs ? 0 : Math.min(steps - 1, Math.ceil(Math.log2(ms / firstMs) * stepsPerDoubling))

/** Returns the upper bound of a step in milliseconds. */
const boundOf = (step: number): number => firstMs * 2 ** (step / stepsPerDoubling)

function add(counts: Uint32Array, at: number, count = 1): void {
  counts[at] = (counts[at] ?? 0) + count
}

const sparse = (counts: Uint32Array): number[] =>
  [...counts].flatMap((count, at) => (count > 0 ? [at, count] : []))

function summarize(windows: Uint32Array[]): LatencyStats {
  const sums = new Float64Array(cells)
  for (const counts of windows) {
    for (let at = 0; at < cells; at += 1) sums[at] = (sums[at] ?? 0) + (counts[at] ?? 0)
  }
  const histogram = sums.subarray(0, steps)
  const count = histogram.reduce((sum, one) => sum + one, 0)
  const at = (share: number) => (count === 0 ? undefined : percentile(histogram, count * share))
  return {
    count,
    clientErrors: sums[clientErrors] ?? 0,
    serverErrors: sums[serverErrors] ?? 0,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
  }
}

/** Returns the duration below which `rank` measurements are, interpolated within its step. */
function percentile(histogram: Float64Array, rank: number): number {
  let before = 0
  for (const [step, count] of histogram.entries()) {
    if (count > 0 && before + count >= rank) {
      const low = step === 0 ? 0 : boundOf(step - 1)
      return low + ((rank - before) / count) * (boundOf(step) - low)
    }
    before += count
  }
  return boundOf(steps - 1)
}
