import { eventBytesMax } from '../../kernel/limits.ts'
import type { Json } from '../../kernel/schema.ts'
import { bytesOf, encodeEvent, EventReader, isComment, type StreamEvent } from '../events.ts'
import { parseRecord } from '../providers/response.ts'
import { isOfChat } from './native-chat.ts'

/** Writes the events of another API from the chunks of a chat, whose errors are chunks, too. */
export interface ChatConverter {
  read(chunk: Json): Uint8Array
  /** Returns the events after the last chunk of a complete chat. */
  end(): Uint8Array | Promise<Uint8Array>
  /** Returns what keeps the connection open; a comment by default. */
  beat?(): Uint8Array
  /** Reads whole events of an upstream that speaks the other API, and returns those to pass on. */
  pass?(events: Uint8Array): Uint8Array | Promise<Uint8Array>
  /** Returns the last events of a response that is too long; undefined for any other. */
  cut?(): Uint8Array | undefined
  /** Runs when the client has left. */
  leave?(): void
}

/**
 * Converts a chat stream of this gateway, event by event. One stream pulls the other, and cancels
 * it when the client leaves. Events of an upstream that speaks the other API are passed on as they
 * are, between comments and errors of this gateway.
 */
export function convertStream(
  chat: ReadableStream<Uint8Array>,
  converter: ChatConverter,
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
          if (isNative && !hasOwnEvent(value)) return out.enqueue(await pass(value, converter))
          const parts: Uint8Array[] = []
          for (const event of events.push(value)) {
            isNative ??= isNativeEvent(event)
            const isPassed = isNative && !isOwnEvent(event)
            parts.push(
              await (isPassed ? pass(bytesOf([event]), converter) : convert(event, converter)),
            )
          }
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

const pass = (events: Uint8Array, converter: ChatConverter) => converter.pass?.(events) ?? events

const commentStart = ':'.charCodeAt(0)
const errorStart = 'data: {"error":'

/** Returns whether an event is native; undefined for one without data. */
function isNativeEvent({ data }: StreamEvent): boolean | undefined {
  if (data === undefined) return undefined
  const event = parseRecord(data)
  return event !== undefined && !isOfChat(event)
}

/** Returns whether an event in a native stream is of this gateway: a comment or an error. */
const isOwnEvent = (event: StreamEvent): boolean =>
  event.data === undefined ? isComment(event) : event.data.startsWith('{"error":')

/** Returns whether bytes of a native stream may contain one. Texts have no such quotes. */
const hasOwnEvent = (bytes: Uint8Array): boolean =>
  bytes[0] === commentStart ||
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).includes(errorStart)

/** Converts an event of this gateway's chat, which is valid JSON or [DONE]. */
function convert(event: StreamEvent, converter: ChatConverter): Uint8Array | Promise<Uint8Array> {
  const { data } = event
  if (data !== undefined) {
    return data.trim() === '[DONE]' ? converter.end() : converter.read(parseRecord(data) ?? {})
  }
  if (!isComment(event)) return new Uint8Array()
  return converter.beat?.() ?? bytesOf([event])
}

/** Converts each chunk of a chat stream of this gateway. Comments and [DONE] pass unchanged. */
export function convertChunks(
  chat: ReadableStream<Uint8Array>,
  convert: (chunk: Json) => Json,
): ReadableStream<Uint8Array> {
  const events = new EventReader(eventBytesMax)
  return chat.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(bytes, out) {
        for (const event of events.push(bytes)) {
          const chunk = event.data === undefined ? undefined : parseRecord(event.data)
          out.enqueue(chunk ? encodeEvent(convert(chunk)) : bytesOf([event]))
        }
      },
    }),
  )
}
