import { expect, test } from 'bun:test'

import { ReadPace } from './source.ts'

const start = 1_000

/** Reads streams that each have an event every `everyMs` for 200 ms. Returns the waiting reads. */
function read(pace: ReadPace, streams: number, everyMs: number, from = start) {
  const readAt = new Array<number>(streams).fill(0)
  const waits: number[] = []
  for (let now = from; now < from + 200; now += everyMs) {
    for (const [at, before] of readAt.entries()) {
      if (pace.isTooFast(before, now)) waits.push(now - from)
      else readAt[at] = now
    }
  }
  return waits
}

test('a stream alone is read as its events arrive, five milliseconds apart', () => {
  expect(read(new ReadPace(), 1, 5)).toEqual([])
})

test('two of them do not wait either', () => {
  expect(read(new ReadPace(), 2, 5)).toEqual([])
})

test('a hundred streams are read every 40 milliseconds each, once they are counted', () => {
  const waits = read(new ReadPace(), 100, 10)
  expect(Math.min(...waits)).toBe(40)
  // Three of four events are read with a later one.
  expect(waits.filter((ms) => ms >= 80 && ms < 160)).toHaveLength(600)
})

test('slow streams never wait', () => {
  expect(read(new ReadPace(), 100, 50)).toEqual([])
})

test('a stream that comes after a crowd does not wait for it', () => {
  const pace = new ReadPace()
  read(pace, 100, 10)
  expect(read(pace, 1, 5, start + 60_000)).toEqual([])
})

test('all streams that wait are read at the end of one batch', () => {
  const pace = new ReadPace()
  expect(pace.endOfBatch()).toBe(pace.endOfBatch())
})

test('a batch ends', async () => {
  const pace = new ReadPace()
  const first = pace.endOfBatch()
  await first
  expect(pace.endOfBatch()).not.toBe(first)
})
