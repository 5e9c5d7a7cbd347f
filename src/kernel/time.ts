/** A source of the time. Only this file reads the real one, so that tests can replace it. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number
  /** Milliseconds of a clock that is never set. Without one, `now` is taken for it. */
  monotonic?(): number
}

/** Returns milliseconds of a monotonic clock, for durations. */
export const stopwatch = (): number => performance.now()

export const systemClock: Clock = { now: () => Date.now(), monotonic: stopwatch }

/** Returns milliseconds for deadlines of this process, which a change of the time must not move. */
export const monotonic = (clock: Clock): number => clock.monotonic?.() ?? clock.now()

export const second = 1_000
export const minute = 60 * second
export const hour = 60 * minute
export const day = 24 * hour

/** Formats a time for the wire: ISO 8601 in UTC. */
export const iso = (ms: number): string => new Date(ms).toISOString()

/** Returns whole seconds since 1970, for OpenAI's responses and Standard Webhooks. */
export const unixSeconds = (ms: number): number => Math.floor(ms / second)

/** Returns the UTC day, "2026-11-21". Daily caps and counters reset at 00:00 UTC. */
export const utcDay = (ms: number): string => iso(ms).slice(0, 10)

/** Returns the last `count` UTC days, oldest first. The last one is today. */
export function lastDays(clock: Clock, count: number): string[] {
  const now = clock.now()
  return Array.from({ length: count }, (_, at) => utcDay(now - (count - 1 - at) * day))
}

export const nextUtcDay = (ms: number): number => ms - (ms % day) + day

/** Returns whole seconds from now to a moment, at least 1, for `retry-after`. */
export const secondsUntil = (moment: number, now: number): number =>
  Math.max(1, Math.ceil((moment - now) / 1_000))

/**
 * Checks whether less than `ms` have passed since a moment. A future moment, possible after the
 * clock was set back, counts as long ago.
 */
export function isWithin(clock: Clock, since: number, ms: number): boolean {
  const age = clock.now() - since
  return age >= 0 && age < ms
}
