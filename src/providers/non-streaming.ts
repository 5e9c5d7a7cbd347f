import { recordOf } from '../core/schema.ts'
import { upstreamAnswerBytesMax } from '../limits.ts'
import { eventStreamResponse, parseRecord, recordsIn } from './response.ts'
import type { UpstreamCall } from './upstream.ts'

type Json = Record<string, unknown>

/**
 * Whether a chat that was to be a stream may be answered whole, as servers do that have no streams:
 * its type does not say that these are events. Some say another, and send events all the same.
 */
export const mayBeNonStreaming = (
  { ok, headers }: Response,
  { path, body }: UpstreamCall,
): boolean =>
  ok &&
  path === '/chat/completions' &&
  !(body instanceof FormData) &&
  body.stream === true &&
  !/^text\/event-stream\b/i.test(headers.get('content-type') ?? '')

const encoder = new TextEncoder()
/** Who sends a whole answer slowly has begun with its first byte. */
const begun = encoder.encode(': keep-alive\n\n')

/**
 * The stream that was asked for. Events go on as they come; of a whole answer they are made: a
 * chunk for each choice, the usage, [DONE], or for an error the event that says it. Breaks off
 * where the answer cannot be read.
 */
export function toEventStream(answer: Response): Response {
  const reader = (answer.body ?? new Blob().stream()).getReader()
  const held: Uint8Array[] = []
  let bytes = 0
  let isObject: boolean | undefined
  const body = new ReadableStream<Uint8Array>({
    async pull(out) {
      for (;;) {
        const { done, value } = await reader.read()
        if (isObject === false) return done ? out.close() : out.enqueue(value)
        if (done) {
          if (bytes > 0) out.enqueue(encoder.encode(eventsOf(Buffer.concat(held).toString())))
          return out.close()
        }
        held.push(value)
        bytes += value.byteLength
        if (bytes > upstreamAnswerBytesMax) {
          await reader.cancel()
          throw new Error('the answer is too long')
        }
        isObject ??= beginsObject(value)
        if (isObject === false) return out.enqueue(Buffer.concat(held))
        if (held.length === 1) return out.enqueue(begun)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return eventStreamResponse(body)
}

const brace = 123
const space = 32

/** No line of events begins with a brace; undefined where nothing is there yet but space. */
function beginsObject(bytes: Uint8Array): boolean | undefined {
  const first = bytes.find((byte) => byte > space)
  return first === undefined ? undefined : first === brace
}

function eventsOf(text: string): string {
  const whole = parseRecord(text)
  if (!whole) throw new Error('the answer is no JSON object')
  if (whole.error) return event(whole)
  const { choices, usage, ...head } = whole
  const chunk = (choices: Json[], more?: Json): string =>
    event({ ...head, object: 'chat.completion.chunk', choices, ...more })
  return [
    // How it finished is told with it: an answer that was declined was never begun.
    ...recordsIn(choices).map((choice) => chunk([deltaOf(choice)])),
    ...(usage ? [chunk([], { usage })] : []),
    'data: [DONE]\n\n',
  ].join('')
}

const event = (data: Json): string => `data: ${JSON.stringify(data)}\n\n`

/** A choice of a whole answer as that of a chunk, in which calls of tools have a place. */
function deltaOf({ message, ...choice }: Json): Json {
  const held = recordOf(message)
  const calls = recordsIn(held.tool_calls).map((call, index) => ({ index, ...call }))
  return { ...choice, delta: { ...held, ...(calls.length > 0 && { tool_calls: calls }) } }
}
