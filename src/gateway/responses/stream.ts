import { upstreamResponseBytesMax } from '../../kernel/limits.ts'
import { isRecord } from '../../kernel/schema.ts'
import type { ChatConverter } from '../chat/convert-stream.ts'
import { encodeNamedEvents } from '../events.ts'
import type { ResponseError } from './events.ts'
import type { RelayedEvents } from './relay.ts'
import type { ResponseWriter } from './response-writer.ts'

const tooLong: ResponseError = {
  code: 'upstream_stream_error',
  message: 'The response is too long. The prompt and the output until here were charged.',
}

/**
 * Converts a chat stream of this gateway into the events of Responses. Those of an upstream with
 * the Responses API are passed on.
 */
export function responseConverter(writer: ResponseWriter, relayed: RelayedEvents): ChatConverter {
  const takeEvents = () => encodeNamedEvents(writer.events.takeAll())
  return {
    read(chunk) {
      const { error } = chunk
      if (!isRecord(error)) writer.read(chunk)
      else {
        const failure = { code: String(error.code), message: String(error.message) }
        if (relayed.hasEvents) return relayed.fail(failure)
        writer.fail(failure)
      }
      return takeEvents()
    },
    pass: (events) => relayed.pass(events),
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
  }
}
