import type { Json } from '../../core/schema.ts'
import { eventBytesMax } from '../../limits.ts'
import { parseRecord } from '../../providers/response.ts'
import { EventReader, isComment, type StreamEvent } from '../chat/events.ts'
import { toAnthropicError } from './error-response.ts'
import type { EventWriter } from './event-writer.ts'

const encoder = new TextEncoder()
const ping = { type: 'ping' }

/**
 * Converts a chat stream into the events of Anthropic's Messages API. One stream pulls the other,
 * and cancels it when the client leaves. A comment keeps the connection open and becomes a ping.
 */
export function streamEvents(
  chat: ReadableStream<Uint8Array>,
  writer: EventWriter,
  requestId: string,
): ReadableStream<Uint8Array> {
  const reader = chat.getReader()
  const events = new EventReader(eventBytesMax)
  return new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return out.close()
          const converted = events.push(value).flatMap((event) => convert(event, writer, requestId))
          if (converted.length > 0) return out.enqueue(encodeEvents(converted))
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Converts an event of this gateway's chat, which is valid JSON or [DONE]. */
function convert(event: StreamEvent, writer: EventWriter, requestId: string): Json[] {
  const { data } = event
  if (data === undefined) return isComment(event) ? [ping] : []
  if (data.trim() === '[DONE]') writer.end()
  else {
    const chunk = parseRecord(data) ?? {}
    if (chunk.error) return [...writer.takeAll(), toAnthropicError(502, chunk, requestId)]
    writer.read(chunk)
  }
  return writer.takeAll()
}

const encodeEvents = (events: Json[]): Uint8Array =>
  encoder.encode(
    events
      .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  )
