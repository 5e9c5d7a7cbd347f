import { isRecord, type Json } from '../../core/schema.ts'
import { eventBytesMax, upstreamResponseBytesMax } from '../../limits.ts'
import { bytesOf, EventReader, isComment, type StreamEvent } from '../chat/events.ts'
import type { ResponseError } from './events.ts'
import type { ResponseWriter } from './response-writer.ts'

const encoder = new TextEncoder()

const tooLong: ResponseError = {
  code: 'upstream_stream_error',
  message: 'The response is too long. The prompt and the output until here were charged.',
}

/**
 * Converts a chat stream into the events of Responses. One stream pulls the other, and cancels it
 * when the client leaves. Comments are passed on, because they keep the connection open.
 */
export function streamEvents(
  chat: ReadableStream<Uint8Array>,
  writer: ResponseWriter,
): ReadableStream<Uint8Array> {
  const reader = chat.getReader()
  const events = new EventReader(eventBytesMax)
  return new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return out.close()
          const parts: Uint8Array[] = []
          for (const event of events.push(value)) parts.push(await convert(event, writer))
          const bytes = Buffer.concat(parts)
          if (bytes.byteLength > 0) out.enqueue(bytes)
          if (writer.chars > upstreamResponseBytesMax) {
            writer.fail(tooLong)
            out.enqueue(encodeEvents(writer.events.takeAll()))
            out.close()
            return void (await reader.cancel())
          }
          if (bytes.byteLength > 0) return
        }
      },
      cancel(reason) {
        writer.leave()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

async function convert(event: StreamEvent, writer: ResponseWriter): Promise<Uint8Array> {
  const { data } = event
  if (data === undefined) return bytesOf(isComment(event) ? [event] : [])
  if (data.trim() === '[DONE]') await writer.finish()
  else readChunk(JSON.parse(data), writer)
  return encodeEvents(writer.events.takeAll())
}

/** Reads a chunk of this gateway's chat, which is valid JSON. */
function readChunk(chunk: unknown, writer: ResponseWriter): void {
  if (!isRecord(chunk)) return
  const { error } = chunk
  if (!isRecord(error)) return writer.read(chunk)
  writer.fail({ code: String(error.code), message: String(error.message) })
}

const encodeEvents = (events: Json[]): Uint8Array =>
  encoder.encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
