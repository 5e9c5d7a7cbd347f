/** The parts of the house that requests are counted by. */
export const trafficParts = ['api', 'gateway', 'mcp', 'apps', 'pages'] as const

export type TrafficPart = (typeof trafficParts)[number]

/** The hundreds of a status. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const

/** Upper bounds in milliseconds of the classes of time; what takes longer is in none of them. */
const boundsMs = [1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 60_000]

/** How many requests took how long until their answer began. */
export interface Times {
  /** Requests that took at most so many seconds: growing, as Prometheus has its buckets. */
  buckets: { seconds: number; count: number }[]
  count: number
  seconds: number
}

/**
 * Every request that was answered since the start, by part, status and time, in arrays of numbers:
 * a request costs three additions.
 */
export class Traffic {
  private readonly answers = new Float64Array(trafficParts.length * statusClasses.length)
  private readonly quick = new Float64Array(trafficParts.length * boundsMs.length)
  private readonly ms = new Float64Array(trafficParts.length)

  /** Counts one answer; `ms` went by until its headers were there. */
  count(part: TrafficPart, status: number, ms: number): void {
    const at = trafficParts.indexOf(part)
    const group = Math.min(Math.max(Math.trunc(status / 100), 1), statusClasses.length) - 1
    add(this.answers, at * statusClasses.length + group, 1)
    add(this.ms, at, ms)
    const bound = boundsMs.findIndex((max) => ms <= max)
    if (bound >= 0) add(this.quick, at * boundsMs.length + bound, 1)
  }

  /** Answers of a part with a class of status. */
  answered(part: TrafficPart, status: (typeof statusClasses)[number]): number {
    const at = trafficParts.indexOf(part) * statusClasses.length
    return this.answers[at + statusClasses.indexOf(status)] ?? 0
  }

  /** Answers of all parts: with a class of status, or all of them. */
  total(status?: (typeof statusClasses)[number]): number {
    const classes = status ? [status] : statusClasses
    const all = trafficParts.flatMap((part) => classes.map((one) => this.answered(part, one)))
    return all.reduce((sum, one) => sum + one, 0)
  }

  times(part: TrafficPart): Times {
    const at = trafficParts.indexOf(part)
    let count = 0
    const buckets = boundsMs.map((ms, bound) => {
      count += this.quick[at * boundsMs.length + bound] ?? 0
      return { seconds: ms / 1_000, count }
    })
    const all = statusClasses.reduce((sum, one) => sum + this.answered(part, one), 0)
    return { buckets, count: all, seconds: (this.ms[at] ?? 0) / 1_000 }
  }
}

function add(to: Float64Array, at: number, amount: number): void {
  to[at] = (to[at] ?? 0) + amount
}
