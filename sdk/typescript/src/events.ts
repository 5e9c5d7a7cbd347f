/** A server-sent event. */
export interface ServerEvent {
  id: string | undefined
  data: string
}

/** The most characters of one event. */
const eventMax = 64 * 1024 * 1024

/**
 * Parses a stream of server-sent events.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<ServerEvent, void> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      // A carriage return at the end may be the first half of a line break.
      text = (text + decoder.decode(value, { stream: true })).replace(/\r\n|\r(?!$)/g, '\n')
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = parseEvent(block)
        if (event) yield event
      }
      if (text.length > eventMax) throw new Error('The server sent an event above 64 MB.')
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

function parseEvent(block: string): ServerEvent | undefined {
  const fields = block.split('\n').map((line) => /^(\w+):? ?(.*)$/s.exec(line))
  const valuesOf = (name: string) =>
    fields.flatMap((field) => (field?.[1] === name ? (field[2] ?? '') : []))
  const data = valuesOf('data')
  return data.length > 0 ? { id: valuesOf('id').at(-1), data: data.join('\n') } : undefined
}
