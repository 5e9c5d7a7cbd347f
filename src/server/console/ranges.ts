import type { Html } from '../../kernel/html.ts'
import { day, hour, minute } from '../../kernel/time.ts'
import { withQuery } from '../../site/components.ts'
import { tabNav } from '../../site/lists.ts'

/** A span of time up to now, in `points` of equal length. */
export interface Range {
  name: string
  label: string
  ms: number
  points: number
}

/** Spans of the traffic that the process remembers. */
export const trafficRanges: Range[] = [
  { name: '15m', label: '15 minutes', ms: 15 * minute, points: 15 },
  { name: '1h', label: 'Hour', ms: hour, points: 60 },
  { name: '6h', label: '6 hours', ms: 6 * hour, points: 72 },
  { name: '24h', label: 'Day', ms: day, points: 72 },
]

/** Spans of the money that the database has, in UTC days. */
export const moneyRanges: Range[] = [
  { name: '1d', label: 'Today', ms: day, points: 1 },
  { name: '7d', label: '7 days', ms: 7 * day, points: 7 },
  { name: '30d', label: '30 days', ms: 30 * day, points: 30 },
  { name: '90d', label: '90 days', ms: 90 * day, points: 90 },
]

/**
 * Returns the requested span. By default it is the shortest one with all data there is, which began
 * `ageMs` ago, up to the second of them.
 */
export function readRange(query: URLSearchParams, ranges: Range[], ageMs: number): Range {
  const name = query.get('range')
  const fitting = ranges[ageMs > (ranges[0]?.ms ?? 0) ? 1 : 0]
  const range = ranges.find((one) => one.name === name) ?? fitting
  if (!range) throw new Error('there are no ranges')
  return range
}

/** The one picker of a page. */
export function rangePicker(path: string, ranges: Range[], current: Range): Html {
  const to = (range: Range): string => withQuery(path, { range: range.name })
  const links = ranges.map((range) => [to(range), range.label] as const)
  return tabNav('Range', links, to(current), 'range-picker')
}
