import { expect, test } from 'bun:test'

import { catchError } from '../../testing/catch-error.ts'
import { BodyArrivals } from './body-arrivals.ts'

const kb = 1_024

/** A body that arrives when the test says so, and the time that the test sets. */
function newArrival() {
  let now = 0
  const arrivals = new BodyArrivals({ now: () => now })
  const source = Promise.withResolvers<ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>>()
  const stream = new ReadableStream<Uint8Array<ArrayBuffer>>({ start: source.resolve })
  const chunks = arrivals.read(stream)
  return {
    /** Receives `bytes` at the second `at`. */
    receive: async (at: number, bytes: number) => {
      const next = chunks.next()
      now = at * 1_000
      const controller = await source.promise
      controller.enqueue(new Uint8Array(bytes))
      return next
    },
    next: () => chunks.next(),
    endSlow: (at: number) => {
      now = at * 1_000
      arrivals.endSlow()
    },
    close: async () => (await source.promise).close(),
  }
}

test('a body without bytes for 15 seconds is rejected', async () => {
  const { receive, next, endSlow } = newArrival()
  const { value } = await receive(10, 9_000 * kb)
  expect(value?.byteLength).toBe(9_000 * kb)
  const rest = catchError(next())
  endSlow(25)
  expect(await Promise.race([rest, Promise.resolve('open')])).toBe('open')
  endSlow(26)
  expect(await rest).toMatchObject({
    errorName: 'bad_request',
    details: [{ problem: expect.stringContaining('too slowly') }],
  })
})

test('a body of less than 32 KB a second on average is rejected', async () => {
  const { receive, next, endSlow } = newArrival()
  for (let at = 10; at <= 60; at += 10) {
    await receive(at, 320 * kb)
    endSlow(at)
  }
  const rest = catchError(next())
  endSlow(61)
  expect(await rest).toMatchObject({ errorName: 'bad_request' })
})

test('a body that is fast enough arrives whole', async () => {
  const { receive, next, endSlow, close } = newArrival()
  for (let at = 10; at <= 60; at += 10) {
    await receive(at, 320 * kb)
    endSlow(at)
  }
  await close()
  expect((await next()).done).toBe(true)
  endSlow(90)
})
