import type { Json } from '../../core/schema.ts'
import { eventBytesMax } from '../../limits.ts'
import { parseRecord } from '../../providers/response.ts'
import { bytesOf, EventReader, isComment, type StreamEvent } from '../chat/events.ts'
import { toAnthropicError } from './error-response.ts'
import type { EventWriter } from './event-writer.ts'

const encoder = new TextEncoder()
const ping = { type: 'ping' }

/**
 * Converts a chat stream into the events of Anthropic's Messages API. One stream pulls the other,
 * and cancels it when the client leaves. A comment keeps the connection open and becomes a ping.
 * Events of an upstream of Anthropic are passed on as they are.
 */
export function streamEvents(
  chat: ReadableStream<Uint8Array>,
  writer: EventWriter,
  requestId: string,
): ReadableStream<Uint8Array> {
  const reader = chat.getReader()
  const events = new EventReader(eventBytesMax)
  let isNative: boolean | undefined
  return new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return out.close()
          if (isNative && !hasChatEvent(value)) return out.enqueue(value)
          const converted = events.push(value).map((event) => {
            isNative ??= hasAnthropicData(event)
            const isKept = isNative && event.bytes[event.start] === eventStart
            return isKept ? bytesOf([event]) : encodeEvents(convert(event, writer, requestId))
          })
          const bytes = Buffer.concat(converted)
          if (bytes.byteLength > 0) return out.enqueue(bytes)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The first byte of an event with a name. Chunks of a chat have none. */
const eventStart = 'e'.charCodeAt(0)
const commentStart = ':'.charCodeAt(0)
const chatStart = Buffer.from('data: ')

const anthropicTypes = /^(message_|content_block_|ping$)/

/** Returns whether an event is one of Anthropic; undefined for an event without data. */
const hasAnthropicData = ({ data }: StreamEvent): boolean | undefined =>
  data === undefined ? undefined : anthropicTypes.test(String(parseRecord(data)?.type))

const startsWith = (bytes: Uint8Array, start: Uint8Array): boolean =>
  Buffer.compare(bytes.subarray(0, start.byteLength), start) === 0

/** Returns whether this gateway added an event to those of Anthropic: a heartbeat or an error. */
const hasChatEvent = (bytes: Uint8Array): boolean =>
  bytes[0] === commentStart ||
  startsWith(bytes, chatStart) ||
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes('\n\ndata: ')

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
