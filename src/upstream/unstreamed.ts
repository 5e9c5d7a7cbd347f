import { isRecord } from '../core/shape.ts'
import { upstreamAnswerBytesMax } from '../limits.ts'
import { readAtMost, recordIn, recordsIn } from './answer.ts'
import type { Call } from './upstream.ts'

type Json = Record<string, unknown>

/** Whether a chat that was to be a stream is answered whole: some servers have no streams. */
export const isWhole = ({ ok, headers }: Response, { path, body }: Call): boolean =>
  ok &&
  path === '/chat/completions' &&
  !(body instanceof FormData) &&
  body.stream === true &&
  /^application\/json\b/i.test(headers.get('content-type') ?? '')

/**
 * A whole answer as the stream that was asked for: a chunk for each choice, the usage, [DONE]; an
 * error as the event that says it. Breaks off where the answer cannot be read.
 */
export function streamOf(answer: Response): Response {
  const body = new ReadableStream<Uint8Array>({
    async pull(out) {
      const text = await readAtMost(answer, upstreamAnswerBytesMax)
      if (text !== '') out.enqueue(new TextEncoder().encode(eventsOf(text)))
      out.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream; charset=utf-8' } })
}

function eventsOf(text: string): string {
  const whole = recordIn(text)
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
  const held = isRecord(message) ? message : {}
  const calls = recordsIn(held.tool_calls).map((call, index) => ({ index, ...call }))
  return { ...choice, delta: { ...held, ...(calls.length > 0 && { tool_calls: calls }) } }
}
