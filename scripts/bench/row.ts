/** One measured line of docs/bench.md. `value` and `limit` are in `unit`, ratios in "x". */
export interface BenchRow {
  name: string
  value: number
  limit: number
  unit: string
  ok: boolean
}
