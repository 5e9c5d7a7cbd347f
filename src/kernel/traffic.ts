/** The parts of the server by which requests are counted. */
export const trafficParts = ['api', 'gateway', 'mcp', 'apps', 'pages'] as const

export type TrafficPart = (typeof trafficParts)[number]

/** Classes of HTTP statuses. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Upper bounds of the histogram in milliseconds. Longer requests are in no bucket. */
const boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000]

/**
 * Counts requests since the start by part, status and time. Flat arrays of numbers make a request
 * cost three additions.
 */
export class Traffic {
  private readonly counts = new Float64Array(trafficParts.length * statusClasses.length)
  private readonly buckets = new Float64Array(trafficParts.length * boundsMs.length)
  private readonly ms = new Float64Array(trafficParts.length)

  /** Counts a response. `ms` is the time until its headers. */
  count(part: TrafficPart, status: number, ms: number): void {
    const at = trafficParts.indexOf(part)
    const group = Math.min(Math.max(Math.trunc(status / 100), 1), statusClasses.length) - 1
    add(this.counts, at * statusClasses.length + group, 1)
    add(this.ms, at, ms)
    const bound = boundsMs.findIndex((max) => ms <= max)
    if (bound >= 0) add(this.buckets, at * boundsMs.length + bound, 1)
  }

  /** Returns the responses of a part with a class of status. */
  responses(part: TrafficPart, status: (typeof statusClasses)[number]): number {
    const at = trafficParts.indexOf(part) * statusClasses.length
    return this.counts[at + statusClasses.indexOf(status)] ?? 0
  }

  /** Returns the responses of all parts, with one class of status or with any. */
  total(status?: (typeof statusClasses)[number]): number {
    const classes = status ? [status] : statusClasses
    const all = trafficParts.flatMap((part) => classes.map((one) => this.responses(part, one)))
    return all.reduce((sum, one) => sum + one, 0)
  }

  /**
   * Returns a histogram of the times until responses began. Its buckets are cumulative, as in
   * Prometheus: requests that took at most `seconds`.
   */
  timings(part: TrafficPart) {
    const at = trafficParts.indexOf(part)
    let count = 0
    const buckets = boundsMs.map((ms, bound) => {
      count += this.buckets[at * boundsMs.length + bound] ?? 0
      return { seconds: ms / 1_000, count }
    })
    const all = statusClasses.reduce((sum, one) => sum + this.responses(part, one), 0)
    return { buckets, count: all, seconds: (this.ms[at] ?? 0) / 1_000 }
  }
}

function add(to: Float64Array, at: number, amount: number): void {
  to[at] = (to[at] ?? 0) + amount
}
