/** The one reader of the clock. Everything else is given a Clock, so that tests can turn it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** Milliseconds of a monotonic clock, for measuring how long something took. */
export const stopwatch = (): number => performance.now()

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** ISO 8601 in UTC, as both documents want times on the wire. */
export const iso = (ms: number): string => new Date(ms).toISOString()

/** Whole seconds since 1970, as OpenAI's answers and Standard Webhooks have times. */
export const unixSeconds = (ms: number): number => Math.floor(ms / second)

/** The UTC day a moment falls on, "2026-11-21": daily caps and counters reset at 00:00 UTC. */
export const utcDay = (ms: number): string => iso(ms).slice(0, 10)

/** The last `count` UTC days, oldest first; the last is today. */
export function lastDays(clock: Clock, count: number): string[] {
  const now = clock.now()
  return Array.from({ length: count }, (_, at) => utcDay(now - (count - 1 - at) * day))
}

/** The moment the next UTC day begins. */
export const nextUtcDay = (ms: number): number => ms - (ms % day) + day

/** Whole seconds from now to a moment, for who is to come again then: one at the least. */
export const secondsUntil = (moment: number, now: number): number =>
  Math.max(1, Math.ceil((moment - now) / 1_000))

/**
 * Whether less than `ms` has gone by since a moment. One that is still to come, as after the clock
 * was set back, counts as long ago.
 */
export function isWithin(clock: Clock, since: number, ms: number): boolean {
  const age = clock.now() - since
  return age >= 0 && age < ms
}
