import { expect, test } from 'bun:test'

import { Latencies } from './latencies.ts'
import { minute } from './time.ts'

function open(labelsMax = 3) {
  let now = 1_000 * minute
  const latencies = new Latencies({ now: () => now }, { windowMs: minute, windows: 10, labelsMax })
  return { latencies, advance: (ms: number) => void (now += ms) }
}

test('percentiles are within a step of the exact ones', () => {
  const { latencies } = open()
  for (let ms = 1; ms <= 1_000; ms += 1) latencies.record('a', ms, ms > 990 ? 500 : 200)
  const {
    count,
    p50 = 0,
    p95 = 0,
    p99 = 0,
    serverErrors,
    clientErrors,
  } = latencies.stats('a', minute)
  expect([count, serverErrors, clientErrors]).toEqual([1_000, 10, 0])
  for (const [found, exact] of [
    [p50, 500],
    [p95, 950],
    [p99, 990],
  ] as const) {
    expect(Math.abs(found / exact - 1)).toBeLessThan(0.13)
  }
})

test('durations beyond the histogram are in its first and last step', () => {
  const { latencies } = open()
  for (const ms of [0, -1, 1e9]) latencies.record('a', ms, 404)
  const { count, clientErrors, p99 = 0 } = latencies.stats('a', minute)
  expect([count, clientErrors]).toEqual([3, 3])
  expect(p99).toBeGreaterThan(400_000)
})

test('windows end, are reused after a turn, and form a history', () => {
  const { latencies, advance } = open()
  latencies.record('a', 10, 200)
  advance(minute)
  latencies.record('a', 10, 200)
  latencies.record('b', 10, 200)
  expect(latencies.stats('a', minute).count).toBe(1)
  expect(latencies.stats('a', 2 * minute).count).toBe(2)
  expect(latencies.history(3 * minute, 3).map(({ count }) => count)).toEqual([0, 1, 2])
  advance(10 * minute)
  expect(latencies.stats('a', 10 * minute).count).toBe(0)
  expect(latencies.stats('a', 10 * minute).p95).toBeUndefined()
  latencies.record('a', 10, 200)
  expect(latencies.stats('a', 10 * minute).count).toBe(1)
})

test('labels past the most are counted together', () => {
  const { latencies } = open(2)
  for (const label of ['a', 'b', 'c', 'd', 'e']) latencies.record(label, 1, 200)
  expect(latencies.labels()).toEqual(['a', 'b', 'other'])
  expect(latencies.stats('other', minute).count).toBe(3)
})

test('windows of several servers add up, without those outside of the ring', () => {
  const [one, other] = [open(), open()]
  one.latencies.record('a', 10, 200)
  other.latencies.record('a', 10, 404)
  other.latencies.record('b', 20, 500)
  one.advance(3 * minute)
  one.latencies.record('a', 40, 200)
  const windows = [...one.latencies.windowsSince(0), ...other.latencies.windowsSince(0)]
  expect(windows.map(({ at }) => at / minute)).toEqual([1_000, 1_003, 1_000])
  const outside = [990, 1_004].map((number) => ({ at: number * minute, counts: { a: [0, 5] } }))
  const stored: typeof windows = JSON.parse(JSON.stringify([...windows, ...outside]))
  const sum = one.latencies.sumOf(stored)
  expect(sum.stats('a', 10 * minute)).toMatchObject({ count: 3, clientErrors: 1 })
  expect(sum.stats('b', 10 * minute)).toMatchObject({ count: 1, serverErrors: 1 })
  expect(sum.stats('a', minute).count).toBe(1)
  expect(one.latencies.windowsSince(1_003 * minute)).toHaveLength(1)
})
