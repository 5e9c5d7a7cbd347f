import { type Attributes, encodeAttributes, encodeTime } from './otlp.ts'

/** The values of a histogram with one set of attributes. */
export class Series {
  readonly counts: number[]
  sum = 0

  constructor(
    readonly attributes: Attributes,
    private readonly bounds: readonly number[],
  ) {
    this.counts = Array.from({ length: bounds.length + 1 }, () => 0)
  }

  record(value: number): void {
    const { bounds, counts } = this
    let bucket = 0
    while (bucket < bounds.length && value > (bounds[bucket] ?? 0)) bucket += 1
    counts[bucket] = (counts[bucket] ?? 0) + 1
    this.sum += value
  }
}

/** Sets of attributes of one histogram. Further ones are counted together. */
const seriesMax = 1_000
const overflow: Attributes = { 'otel.metric.overflow': true }

export interface HistogramOptions {
  name: string
  unit: string
  description: string
  /** The upper bounds of the buckets, ascending. The last bucket has none. */
  bounds: readonly number[]
}

/** A histogram of OpenTelemetry with cumulative buckets since the start. */
export class Histogram {
  private readonly all = new Map<string, Series>()

  constructor(private readonly options: HistogramOptions) {}

  /** Returns the series of some attributes. */
  series(attributes: Attributes): Series {
    const key = Object.values(attributes).join('\n')
    const known = this.all.get(key)
    if (known) return known
    if (this.all.size >= seriesMax && attributes !== overflow) return this.series(overflow)
    const created = new Series(attributes, this.options.bounds)
    this.all.set(key, created)
    return created
  }

  /** Encodes all series; undefined before the first value. Times are milliseconds since 1970. */
  encode(startedAt: number, now: number): string | undefined {
    if (this.all.size === 0) return undefined
    const { name, unit, description, bounds } = this.options
    const points = [...this.all.values()].map(({ attributes, counts, sum }) => {
      const count = counts.reduce((total, one) => total + one, 0)
      const buckets = counts.map((one) => `"${one}"`).join(',')
      return (
        `{"attributes":${encodeAttributes(attributes)},"startTimeUnixNano":${encodeTime(startedAt)},` +
        `"timeUnixNano":${encodeTime(now)},"count":"${count}","sum":${sum},` +
        `"bucketCounts":[${buckets}],"explicitBounds":[${bounds.join(',')}]}`
      )
    })
    return (
      `{"name":"${name}","unit":"${unit}","description":"${description}",` +
      `"histogram":{"aggregationTemporality":2,"dataPoints":[${points.join(',')}]}}`
    )
  }
}
