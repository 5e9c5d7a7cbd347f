import type { ChatConverter } from '../chat/convert-stream.ts'
import { encodeNamedEvents } from '../events.ts'
import { toAnthropicError } from './error-response.ts'
import type { EventWriter } from './event-writer.ts'

/** Converts a chat stream of this gateway into the events of Anthropic's Messages API. */
export const messageConverter = (writer: EventWriter, requestId: string): ChatConverter => ({
  read(chunk) {
    if (!chunk.error) writer.read(chunk)
    const error = chunk.error ? [toAnthropicError(chunk, 502, requestId)] : []
    return encodeNamedEvents([...writer.takeAll(), ...error])
  },
  end() {
    writer.end()
    return encodeNamedEvents(writer.takeAll())
  },
  beat: () => encodeNamedEvents([{ type: 'ping' }]),
})
