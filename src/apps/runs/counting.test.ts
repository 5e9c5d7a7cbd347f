import { expect, test } from 'bun:test'

import {
  confidenceOf,
  countedOf,
  medianOf,
  minutesBucket,
  successesOf,
  successLowOf,
  wilsonLow,
} from './counting.ts'

const none = { worked: 0, partly: 0, failed: 0, abandoned: 0, expired: 0 }

test('the lower bound equals published values of the Wilson interval', () => {
  // Newcombe 1998, table I, method 3: 81 of 263, 15 of 148, 0 of 20, 29 of 29.
  expect(wilsonLow(81, 263)).toBeCloseTo(0.2553, 4)
  expect(wilsonLow(15, 148)).toBeCloseTo(0.0624, 4)
  expect(wilsonLow(0, 20)).toBe(0)
  expect(wilsonLow(29, 29)).toBeCloseTo(0.883, 4)
  expect(wilsonLow(0, 0)).toBe(0)
})

test('partly is half a success, and abandoned and expired runs stay in the denominator', () => {
  const tally = { worked: 50, partly: 20, failed: 10, abandoned: 10, expired: 10 }
  expect([countedOf(tally), successesOf(tally)]).toEqual([10, 6])
  expect(successLowOf(tally)).toBe(wilsonLow(6, 10))
  expect(successLowOf({ ...none, worked: 2 })).toBe(wilsonLow(0.2, 0.2))
})

test('confidence needs many runs of many owners', () => {
  expect(confidenceOf(0, 0)).toBe('none')
  expect(confidenceOf(1_000, 4)).toBe('low')
  expect(confidenceOf(9.8, 100)).toBe('low')
  expect(confidenceOf(50, 10)).toBe('medium')
  expect(confidenceOf(50, 20)).toBe('high')
})

test('the median of minutes is exact to two digits', () => {
  expect([0, 7, 99, 104, 105, 1_234, 99_999].map(minutesBucket)).toEqual([
    0, 7, 99, 100, 110, 1_200, 100_000,
  ])
  expect(medianOf([])).toBeNull()
  const histogram = [
    { value: 3, count: 1 },
    { value: 8, count: 2 },
    { value: 40, count: 1 },
  ]
  expect(medianOf(histogram)).toBe(8)
})
