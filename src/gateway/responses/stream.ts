import { isRecord, type Json } from '../../core/schema.ts'
import { upstreamResponseBytesMax } from '../../limits.ts'
import { convertStream } from '../chat/convert-stream.ts'
import type { ResponseError } from './events.ts'
import type { ResponseWriter } from './response-writer.ts'

const encoder = new TextEncoder()

const tooLong: ResponseError = {
  code: 'upstream_stream_error',
  message: 'The response is too long. The prompt and the output until here were charged.',
}

/** Converts a chat stream of this gateway into the events of Responses. */
export function streamEvents(
  chat: ReadableStream<Uint8Array>,
  writer: ResponseWriter,
): ReadableStream<Uint8Array> {
  const takeEvents = () => encodeEvents(writer.events.takeAll())
  return convertStream(chat, {
    read(chunk) {
      const { error } = chunk
      if (isRecord(error)) writer.fail({ code: String(error.code), message: String(error.message) })
      else writer.read(chunk)
      return takeEvents()
    },
    async end() {
      await writer.finish()
      return takeEvents()
    },
    cut() {
      if (writer.chars <= upstreamResponseBytesMax) return undefined
      writer.fail(tooLong)
      return takeEvents()
    },
    leave: () => writer.leave(),
  })
}

const encodeEvents = (events: Json[]): Uint8Array =>
  encoder.encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
