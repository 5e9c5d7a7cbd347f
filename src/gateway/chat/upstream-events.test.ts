import { expect, spyOn, test } from 'bun:test'

import { bytesOf } from '../events.ts'
import { CallDeadlines } from '../paid/deadlines.ts'
import { UpstreamEvents } from './upstream-events.ts'

test('a comment counts as a first byte, and comments before the first event are kept', async () => {
  const deadlines = new CallDeadlines(new AbortController().signal, {
    firstByteMs: 60_000,
    totalMs: 60_000,
  })
  const { promise: began, resolve } = Promise.withResolvers<void>()
  spyOn(deadlines, 'markFirstByte').mockImplementation(resolve)
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const upstream = writable.getWriter()
  const opening = UpstreamEvents.open(new Response(readable), deadlines)
  void upstream.write(Buffer.from(': still working\n\n'))
  await began
  void upstream.write(Buffer.from('data: {}\n\n'))
  const source = await opening
  expect(source.first).toBe('{}')
  const events = (await source.next()) ?? []
  expect(Buffer.from(bytesOf(events)).toString()).toBe(': still working\n\ndata: {}\n\n')
  await source.close(false)
  deadlines.end()
})
