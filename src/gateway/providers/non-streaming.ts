import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { type Json, recordOf } from '../../kernel/schema.ts'
import { eventStreamResponse, parseRecord, recordsIn } from './response.ts'
import type { UpstreamCall } from './upstream.ts'

/**
 * Returns whether the response to a streaming chat may be one JSON object, as from servers without
 * streaming. Some servers send events under another content type, so the type alone cannot tell.
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
/** Sent at the first byte of a JSON response, which may be slow to complete. */
const keepAlive = encoder.encode(': keep-alive\n\n')

/**
 * Converts a response to an event stream. Events pass through. A JSON response becomes one chunk
 * per choice, the usage and [DONE], or an error event. Breaks off when it cannot be parsed.
 */
export function toEventStream(response: Response): Response {
  const reader = (response.body ?? new Blob().stream()).getReader()
  const chunks: Uint8Array[] = []
  let bytes = 0
  let isJson: boolean | undefined
  const body = new ReadableStream<Uint8Array>({
    async pull(out) {
      for (;;) {
        const { done, value } = await reader.read()
        if (isJson === false) return done ? out.close() : out.enqueue(value)
        if (done) {
          if (bytes > 0) out.enqueue(encoder.encode(toEvents(Buffer.concat(chunks).toString())))
          return out.close()
        }
        chunks.push(value)
        bytes += value.byteLength
        if (bytes > upstreamResponseBytesMax) {
          await reader.cancel()
          throw new Error('the response is too long')
        }
        isJson ??= startsWithBrace(value)
        if (isJson === false) return out.enqueue(Buffer.concat(chunks))
        if (chunks.length === 1) return out.enqueue(keepAlive)
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return eventStreamResponse(body)
}

const brace = 123
const space = 32

/**
 * Returns whether the first visible byte is a brace, as in no event; undefined before that byte.
 */
function startsWithBrace(bytes: Uint8Array): boolean | undefined {
  const first = bytes.find((byte) => byte > space)
  return first === undefined ? undefined : first === brace
}

function toEvents(text: string): string {
  const completion = parseRecord(text)
  if (!completion) throw new Error('the response is no JSON object')
  if (completion.error) return toEvent(completion)
  const { choices, usage, ...head } = completion
  const toChunk = (choices: Json[], more?: Json): string =>
    toEvent({ ...head, object: 'chat.completion.chunk', choices, ...more })
  return [
    // The finish reason is in the same chunk: clients take a filtered response as never started.
    ...recordsIn(choices).map((choice) => toChunk([toDelta(choice)])),
    ...(usage ? [toChunk([], { usage })] : []),
    'data: [DONE]\n\n',
  ].join('')
}

const toEvent = (data: Json): string => `data: ${JSON.stringify(data)}\n\n`

/** Converts a choice to that of a chunk, in which tool calls have an index. */
function toDelta({ message, ...choice }: Json): Json {
  const delta = recordOf(message)
  const calls = recordsIn(delta.tool_calls).map((call, index) => ({ index, ...call }))
  return { ...choice, delta: { ...delta, ...(calls.length > 0 && { tool_calls: calls }) } }
}
