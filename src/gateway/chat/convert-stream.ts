import type { Json } from '../../core/schema.ts'
import { eventBytesMax } from '../../limits.ts'
import { parseRecord } from '../../providers/response.ts'
import { bytesOf, EventReader, isComment, type StreamEvent } from './events.ts'

/** Writes the events of another API from the chunks of a chat, whose errors are chunks, too. */
export interface ChatConverter {
  read(chunk: Json): Uint8Array
  /** Returns the events after the last chunk of a complete chat. */
  end(): Uint8Array | Promise<Uint8Array>
  /** Returns the last events of a response that is too long; undefined for any other. */
  cut?(): Uint8Array | undefined
  /** Runs when the client has left. */
  leave?(): void
}

/**
 * Converts a chat stream of this gateway, event by event. One stream pulls the other, and cancels
 * it when the client leaves. Comments are passed on, because they keep the connection open.
 */
export function convertStream(
  chat: ReadableStream<Uint8Array>,
  converter: ChatConverter,
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
          for (const event of events.push(value)) parts.push(await convert(event, converter))
          const bytes = Buffer.concat(parts)
          if (bytes.byteLength > 0) out.enqueue(bytes)
          const last = converter.cut?.()
          if (last) {
            out.enqueue(last)
            out.close()
            return void (await reader.cancel())
          }
          if (bytes.byteLength > 0) return
        }
      },
      cancel(reason) {
        converter.leave?.()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

/** Converts an event of this gateway's chat, which is valid JSON or [DONE]. */
function convert(event: StreamEvent, converter: ChatConverter): Uint8Array | Promise<Uint8Array> {
  const { data } = event
  if (data === undefined) return bytesOf(isComment(event) ? [event] : [])
  return data.trim() === '[DONE]' ? converter.end() : converter.read(parseRecord(data) ?? {})
}
