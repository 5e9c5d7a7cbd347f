import type { Json } from '../../core/schema.ts'
import { convertStream } from '../chat/convert-stream.ts'
import { toAnthropicError } from './error-response.ts'
import type { EventWriter } from './event-writer.ts'

const encoder = new TextEncoder()

/** Converts a chat stream of this gateway into the events of Anthropic's Messages API. */
export const streamEvents = (
  chat: ReadableStream<Uint8Array>,
  writer: EventWriter,
  requestId: string,
): ReadableStream<Uint8Array> =>
  convertStream(chat, {
    read(chunk) {
      if (!chunk.error) writer.read(chunk)
      const error = chunk.error ? [toAnthropicError(502, chunk, requestId)] : []
      return encodeEvents([...writer.takeAll(), ...error])
    },
    end() {
      writer.end()
      return encodeEvents(writer.takeAll())
    },
    beat: () => encodeEvents([{ type: 'ping' }]),
  })

const encodeEvents = (events: Json[]): Uint8Array =>
  encoder.encode(
    events
      .map((event) => `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`)
      .join(''),
  )
