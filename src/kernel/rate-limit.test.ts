import { expect, test } from 'bun:test'

import { RateLimit } from './rate-limit.ts'
import { minute } from './time.ts'

/** So many calls in a row, `apart` milliseconds between them: how many passed. */
function burst(limit: RateLimit, clock: { at: number }, calls: number, apart: number): number {
  let passed = 0
  for (let call = 0; call < calls; call += 1) {
    if (limit.take('ann') === undefined) passed += 1
    clock.at += apart
  }
  return passed
}

function limited(max: number, at: number) {
  const clock = { at, now: () => clock.at }
  return { clock, limit: new RateLimit(clock, max, minute) }
}

test.each([0, 20_000, 50_000, 59_990])(
  'a burst gets what is allowed, begun %d ms into a minute',
  (at) => {
    const { clock, limit } = limited(120, at)
    expect(burst(limit, clock, 150, 200)).toBe(120)
  },
)

test('a call passes after the returned wait, and all calls are back after two windows', () => {
  const { clock, limit } = limited(120, 59_000)
  burst(limit, clock, 120, 10)
  expect(limit.left('ann').calls).toBe(0)
  const wait = limit.take('ann') ?? 0
  expect(wait).toBeGreaterThan(0)
  clock.at += wait * 1_000
  expect(limit.take('ann')).toBeUndefined()
  clock.at += limit.left('ann').resetAfter * 1_000
  expect(limit.left('ann').calls).toBe(120)
})

test('the returned wait is enough and not too long', () => {
  const { clock, limit } = limited(120, 0)
  burst(limit, clock, 120, 1)
  for (const wait of [60, 1, 1]) {
    expect(limit.take('ann')).toBe(wait)
    clock.at += wait * 1_000
    while (limit.take('ann') === undefined) clock.at += 1
  }
})

test('a steady caller gets at most a tenth more than the limit', () => {
  const { clock, limit } = limited(120, 0)
  const passed = burst(limit, clock, 3_000, 100)
  expect(passed).toBeLessThanOrEqual(120 * 5.5)
  expect(passed).toBeGreaterThan(120 * 4)
})

test('counts several calls together or not at all, and they pass after the returned wait', () => {
  const { clock, limit } = limited(60, 0)
  expect(limit.take('ann', 50)).toBeUndefined()
  const wait = limit.take('ann', 50) ?? 0
  expect(limit.left('ann').calls).toBe(10)
  clock.at += (wait - 1) * 1_000
  expect(limit.take('ann', 50)).toBeDefined()
  clock.at += 1_000
  expect(limit.take('ann', 50)).toBeUndefined()
  limit.giveBack('ann', 50)
  expect(limit.take('ann', 50)).toBeUndefined()
  // More than the limit never passes.
  expect(limit.take('ben', 61)).toBeGreaterThan(0)
})
