import { isRecord } from '../../core/schema.ts'
import { eventBytesMax, upstreamAnswerBytesMax } from '../../limits.ts'
import { bytesOf, type StreamEvent, EventReader, isComment } from '../chat/events.ts'
import type { Fault } from './events.ts'
import type { ResponseWriter } from './response-writer.ts'

const encoder = new TextEncoder()

const tooLong: Fault = {
  code: 'upstream_stream_error',
  message: 'The answer is too long. What came until here was charged, with its prompt.',
}

/**
 * A chat's stream as the events of Responses, pulled one by the other; a client that leaves this
 * one leaves that one. Comments are handed on: they keep the connection.
 */
export function streamOf(
  chat: ReadableStream<Uint8Array>,
  written: ResponseWriter,
): ReadableStream<Uint8Array> {
  const reader = chat.getReader()
  const events = new EventReader(eventBytesMax)
  return new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return out.close()
          const bytes = Buffer.concat(events.push(value).map((event) => pass(event, written)))
          if (bytes.byteLength > 0) out.enqueue(bytes)
          if (written.chars > upstreamAnswerBytesMax) {
            written.fail(tooLong)
            out.enqueue(framed(written.events.take()))
            out.close()
            return void (await reader.cancel())
          }
          if (bytes.byteLength > 0) return
        }
      },
      cancel(reason) {
        written.leave()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

function pass(event: StreamEvent, written: ResponseWriter): Uint8Array {
  const { data } = event
  if (data === undefined) return bytesOf(isComment(event) ? [event] : [])
  if (data.trim() === '[DONE]') written.finish()
  else readChunk(JSON.parse(data), written)
  return framed(written.events.take())
}

/** A chunk of our own chat: it was seen to be JSON there. */
function readChunk(chunk: unknown, written: ResponseWriter): void {
  if (!isRecord(chunk)) return
  const { error } = chunk
  if (!isRecord(error)) return written.read(chunk)
  written.fail({ code: String(error.code), message: String(error.message) })
}

const framed = (events: Record<string, unknown>[]): Uint8Array =>
  encoder.encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
