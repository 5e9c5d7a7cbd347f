import { expect, test } from 'bun:test'

import { CircuitBreaker } from './circuit-breaker.ts'

function fresh() {
  const clock = { at: 1_000_000, now: () => clock.at }
  const breaker = new CircuitBreaker(clock)
  const fail = (times: number) =>
    Array.from({ length: times }, () => breaker.tryAcquire() && breaker.failed())
  return { breaker, clock, fail }
}

test('five failures in a row open it, and it says so once', () => {
  const { breaker, fail } = fresh()
  expect(fail(5)).toEqual([false, false, false, false, true])
  expect(breaker.isAvailable).toBe(false)
  expect(breaker.tryAcquire()).toBe(false)
})

test('a success between them starts the count again', () => {
  const { breaker, fail } = fresh()
  fail(4)
  breaker.succeeded()
  fail(4)
  expect(breaker.isAvailable).toBe(true)
})

test('after the pause one probe may pass, and its success closes it', () => {
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

test('a probe that fails doubles the pause, up to five minutes', () => {
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

test('a probe whose client left, or that never ended, makes room for another', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at += 5_000
  expect(breaker.tryAcquire()).toBe(true)
  breaker.released()
  expect(breaker.tryAcquire()).toBe(true)
  clock.at += 300_000
  expect(breaker.tryAcquire()).toBe(true)
})

test('failures of requests that were under way do not lengthen the pause', () => {
  const { breaker, clock, fail } = fresh()
  const underWay = [breaker.tryAcquire(), breaker.tryAcquire()]
  fail(5)
  for (const sent of underWay) expect(sent && breaker.failed()).toBe(false)
  clock.at += 5_000
  expect(breaker.tryAcquire()).toBe(true)
})

test('a clock that is set back lengthens no pause and no probe', () => {
  const { breaker, clock, fail } = fresh()
  fail(5)
  clock.at -= 3_600_000
  expect(breaker.state).toBe('half-open')
  expect(breaker.tryAcquire()).toBe(true)
  clock.at -= 3_600_000
  expect(breaker.tryAcquire()).toBe(true)
})
