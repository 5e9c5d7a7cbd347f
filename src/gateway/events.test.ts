import { describe, expect, test } from 'bun:test'

import { bytesOf, EventReader, type StreamEvent } from './events.ts'

const text = [
  ': a comment\n\n',
  'data: {"a":"é😀"}\n\n',
  'event: x\r\ndata: one\r\ndata: two\r\n\r\n',
  'data: old\rdata: new\r\r',
  'data: old\r\r',
  'data:tight\n\n',
  'data\n\n',
  'data: \n\n',
  'data: [DONE]\n\n',
].join('')
const bytes = new TextEncoder().encode(text)
const expected = [
  undefined,
  '{"a":"é😀"}',
  'one\ntwo',
  'old\nnew',
  'old',
  'tight',
  undefined,
  undefined,
  '[DONE]',
]

function readIn(size: number): StreamEvent[] {
  const reader = new EventReader(1_000)
  const events: StreamEvent[] = []
  for (let at = 0; at < bytes.length; at += size) {
    events.push(...reader.push(bytes.slice(at, at + size)))
  }
  expect(reader.end()).toBeUndefined()
  return events
}

describe('EventReader', () => {
  test('events and bytes are the same for every division into chunks', () => {
    for (let size = 1; size <= bytes.length; size += 1) {
      const events = readIn(size)
      expect(events.map(({ data }) => data)).toEqual(expected)
      expect(Buffer.from(bytesOf(events)).toString()).toBe(text)
    }
  })

  test('bytes after the last blank line become a terminated event', () => {
    for (const [rest, data] of [
      ['data: x\n', 'x'],
      ['data: x', 'x'],
      [': only a comment', undefined],
    ] as const) {
      const reader = new EventReader(1_000)
      expect(reader.push(new TextEncoder().encode(rest))).toEqual([])
      const last = reader.end()
      expect([last?.data, String(Buffer.from(bytesOf(last ? [last] : [])))]).toEqual([
        data,
        `${rest}\n\n`,
      ])
      expect(reader.end()).toBeUndefined()
    }
  })

  test('an endless event throws before it fills the memory', () => {
    const reader = new EventReader(1_000)
    const chunk = new TextEncoder().encode(`data: ${'x'.repeat(394)}`)
    reader.push(chunk)
    reader.push(chunk)
    expect(() => reader.push(chunk)).toThrow(RangeError)
  })
})
