import { itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { encodeEvent, streamResponse } from '../events.ts'
import { asString, recordsIn } from '../providers/response.ts'
import { type ChatConverter, convertStream } from './convert-stream.ts'

/**
 * Returns whether a client reads each tool call of a stream from one chunk: those of Mistral reject
 * a part without the name of its function, and OpenAI's format has it in the first part only.
 */
export const readsWholeCalls = (headers: Headers): boolean =>
  headers.get('user-agent')?.startsWith('mistral-client-') === true

/** Converts a streamed chat so that each tool call is in one chunk. */
export const withWholeCalls = (response: Response): Response =>
  response.body && response.headers.get('content-type')?.startsWith('text/event-stream')
    ? streamResponse(convertStream(response.body, new WholeCalls()))
    : response

const done = Buffer.from('data: [DONE]\n\n')

/** Gathers the parts of tool calls, and sends them with the chunk that ends their choice. */
export class WholeCalls implements ChatConverter {
  /** The calls by the index of their choice. */
  private readonly calls = new Map<unknown, Json[]>()
  private latest: Json = {}

  read(chunk: Json): Uint8Array {
    this.latest = chunk
    const choices = itemsOf(chunk.choices).map((choice) => this.readChoice(recordOf(choice)))
    return encodeEvent(chunk.choices === undefined ? chunk : { ...chunk, choices })
  }

  /** Sends the calls of choices that did not end. */
  end(): Uint8Array {
    const choices = [...this.calls].map(([index, tool_calls]) => ({
      index,
      delta: { tool_calls },
      finish_reason: null,
    }))
    const rest = choices.length > 0 ? encodeEvent({ ...this.latest, choices }) : new Uint8Array()
    return Buffer.concat([rest, done])
  }

  private readChoice(choice: Json): Json {
    const { tool_calls: parts, ...delta } = recordOf(choice.delta)
    for (const part of recordsIn(parts)) this.addPart(choice.index, part)
    const calls = this.calls.get(choice.index)
    if (!calls || choice.finish_reason == null) return { ...choice, delta }
    this.calls.delete(choice.index)
    return { ...choice, delta: { ...delta, tool_calls: calls } }
  }

  private addPart(index: unknown, part: Json): void {
    const calls = this.calls.get(index) ?? []
    this.calls.set(index, calls)
    const known = calls.findLast((call) => call.index === part.index)
    if (!known || (asString(part.id) && known.id !== part.id)) {
      calls.push(part)
      return
    }
    const [first, next] = [recordOf(known.function), recordOf(part.function)]
    known.function = {
      ...first,
      name: asString(first.name) || asString(next.name),
      arguments: asString(first.arguments) + asString(next.arguments),
    }
  }
}
