/** One measured line of docs/bench.md. `value` and `limit` are in `unit`, ratios in "x". */
export interface BenchRow {
  name: string
  value: number
  limit: number
  unit: string
  ok: boolean
}

/** A row whose value may not be more than its limit. */
export function atMost(name: string, value: number, limit: number, unit = 'x'): BenchRow {
  return { name, value, limit, unit, ok: value <= limit }
}

/** A row whose value may not be less. */
export function atLeast(name: string, value: number, limit: number, unit = 'x'): BenchRow {
  return { name, value, limit, unit, ok: value >= limit }
}
