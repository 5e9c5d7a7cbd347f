/** A measured row of docs/bench.md. `value` and `limit` are in `unit`; ratios are in "x". */
export interface BenchRow {
  name: string
  value: number
  limit: number
  unit: string
  ok: boolean
}

/** Returns a row whose value must not exceed its limit. */
export function atMost(name: string, value: number, limit: number, unit = 'x'): BenchRow {
  return { name, value, limit, unit, ok: value <= limit }
}

/** Returns a row whose value must reach its limit. */
export function atLeast(name: string, value: number, limit: number, unit = 'x'): BenchRow {
  return { name, value, limit, unit, ok: value >= limit }
}
