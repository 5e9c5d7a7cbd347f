import { expect, test } from 'bun:test'

import { eventBytesMax, upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { convertStream } from '../chat/convert-stream.ts'
import { RelayedEvents } from './relay.ts'
import { ResponseWriter } from './response-writer.ts'
import { responseConverter } from './stream.ts'

const start = { echo: {}, tools: new Map(), name: 'answer', created: 7, onItem() {} }
const relayed = new RelayedEvents({ onItem() {}, onFinish: () => Promise.resolve() })

/** A chat stream that repeats one part and counts its cancellations. */
function partsOf(piece: string) {
  const left: unknown[] = []
  const delta = { choices: [{ delta: { content: piece } }] }
  const bytes = new TextEncoder().encode(`: waiting\n\ndata: ${JSON.stringify(delta)}\n\n`)
  const chat = new ReadableStream<Uint8Array>({
    pull: (out) => out.enqueue(bytes),
    cancel: (reason) => void left.push(reason),
  })
  return { chat, left }
}

test('a response that is too long ends with an error and cancels its chat', async () => {
  const piece = 'a'.repeat(eventBytesMax - 1_000)
  const { chat, left } = partsOf(piece)
  let pieces = 0
  let last = ''
  for await (const chunk of convertStream(
    chat,
    responseConverter(new ResponseWriter(start), relayed),
  )) {
    pieces += 1
    last = new TextDecoder().decode(chunk.subarray(0, 200))
  }
  expect(pieces).toBe(Math.ceil(upstreamResponseBytesMax / piece.length) + 1)
  expect(last).toStartWith('event: error\ndata: {"type":"error"')
  expect(left).toHaveLength(1)
})

test('comments are passed on; a client that leaves cancels the chat and keeps its items', async () => {
  const { chat, left } = partsOf('hello')
  const kept: object[] = []
  const written = new ResponseWriter({ ...start, onItem: (item) => void kept.push(item) })
  const reader = convertStream(chat, responseConverter(written, relayed)).getReader()
  const { value } = await reader.read()
  expect(new TextDecoder().decode(value)).toStartWith(': waiting\n\nevent: response.created\n')
  await reader.cancel('gone')
  expect(left).toEqual(['gone'])
  expect(kept).toMatchObject([{ status: 'incomplete', content: [{ text: 'hello' }] }])
})
