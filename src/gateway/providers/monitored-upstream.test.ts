import { expect, test } from 'bun:test'

import { CircuitBreaker } from './monitored-upstream.ts'

function fresh() {
  const clock = { at: 1_000_000, now: () => clock.at }
  const breaker = new CircuitBreaker(clock)
  const fail = (times: number) =>
    Array.from({ length: times }, () => breaker.tryAcquire() && breaker.failed())
  return { breaker, clock, fail }
}

test('opens after five failures in a row and reports it once', () => {
  const { breaker, fail } = fresh()
  expect(fail(5)).toEqual([false, false, false, false, true])
  expect(breaker.isAvailable).toBe(false)
  expect(breaker.tryAcquire()).toBe(false)
})

test('resets the count after a success', () => {
  const { breaker, fail } = fresh()
  fail(4)
  breaker.succeeded()
  fail(4)
  expect(breaker.isAvailable).toBe(true)
})

test('admits one probe after the pause and closes after its success', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at += 4_999
  expect(breaker.tryAcquire()).toBe(false)
  clock.at += 1
  expect(breaker.tryAcquire()).toBe(true)
  expect(breaker.tryAcquire()).toBe(false)
  breaker.succeeded()
  expect([breaker.tryAcquire(), breaker.tryAcquire()]).toEqual([true, true])
})

test('doubles the pause after a failed probe, up to five minutes', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  let pause = 5_000
  for (let probes = 0; probes < 10; probes += 1) {
    clock.at += pause - 1
    expect(breaker.tryAcquire()).toBe(false)
    clock.at += 1
    expect(fail(1)).toEqual([true])
    pause = Math.min(pause * 2, 300_000)
  }
  expect(pause).toBe(300_000)
})

test('admits another probe when one is released or expires', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at += 5_000
  expect(breaker.tryAcquire()).toBe(true)
  breaker.released()
  expect(breaker.tryAcquire()).toBe(true)
  clock.at += 300_000
  expect(breaker.tryAcquire()).toBe(true)
})

test('does not extend the pause for requests already running', () => {
  const { breaker, clock, fail } = fresh()
  const underWay = [breaker.tryAcquire(), breaker.tryAcquire()]
  fail(5)
  for (const sent of underWay) expect(sent && breaker.failed()).toBe(false)
  clock.at += 5_000
  expect(breaker.tryAcquire()).toBe(true)
})

test('does not extend pauses when the clock is set back', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at -= 3_600_000
  expect(breaker.state).toBe('half-open')
  expect(breaker.tryAcquire()).toBe(true)
  clock.at -= 3_600_000
  expect(breaker.tryAcquire()).toBe(true)
})
