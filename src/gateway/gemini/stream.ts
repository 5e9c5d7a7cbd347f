import { isRecord, itemsOf, type Json, recordOf } from '../../core/schema.ts'
import { eventBytesMax } from '../../limits.ts'
import { asString, parseRecord, recordsIn } from '../../providers/response.ts'
import { bytesOf, encodeEvent, EventReader, isComment, type StreamEvent } from '../chat/events.ts'
import { toGeminiError } from './error-response.ts'
import {
  type ChatCall,
  finishReasonOf,
  generateChunk,
  type GenerateOptions,
  groundingOf,
  readCall,
  textParts,
  toFunctionCall,
  toUsage,
} from './response.ts'

/**
 * Converts the chunks of a chat to responses of Google's Gemini API. Function calls are sent whole
 * with the last response, because clients read their arguments from one part.
 */
export class GenerateWriter {
  private readonly calls: (ChatCall & { index: number })[] = []
  private finish: unknown = null
  private usage: Json = {}
  private model: unknown = ''
  private grounding: Json = {}

  constructor(private readonly options: GenerateOptions) {}

  /** Returns the response for a chunk; undefined for one without text. */
  read(chunk: Json): Json | undefined {
    if (isRecord(chunk.usage)) this.usage = chunk.usage
    this.model = chunk.model ?? this.model
    const choice = recordOf(itemsOf(chunk.choices)[0])
    const delta = recordOf(choice.delta)
    this.finish = choice.finish_reason ?? this.finish
    if (recordsIn(delta.annotations).length > 0) this.grounding = groundingOf(delta)
    for (const [position, call] of recordsIn(delta.tool_calls).entries()) {
      this.addCall(call, position)
    }
    const parts = textParts(delta, this.options)
    return parts.length > 0 ? generateChunk(parts, this.model, this.options) : undefined
  }

  /** Returns the last response, with the calls, the reason of the end and the usage. */
  end(): Json {
    const ending = { finishReason: finishReasonOf(this.finish), ...this.grounding }
    const last = generateChunk(this.calls.map(toFunctionCall), this.model, this.options, ending)
    return { ...last, usageMetadata: toUsage(this.usage) }
  }

  /** Reads a call, or the next part of one. */
  private addCall(raw: Json, position: number): void {
    const index = typeof raw.index === 'number' ? raw.index : position
    const { id, name, args, signature } = readCall(raw)
    const known = this.calls.findLast((call) => call.index === index)
    if (!known || (id && known.id && known.id !== id)) {
      this.calls.push({ index, id, name, args, signature })
      return
    }
    known.id ||= id
    known.name ||= name
    known.args += asString(args)
    known.signature ||= signature
  }
}

/**
 * Converts a chat stream into server-sent events of Google's Gemini API. Comments are passed on,
 * because they keep the connection open.
 */
export function streamGeneration(
  chat: ReadableStream<Uint8Array>,
  writer: GenerateWriter,
): ReadableStream<Uint8Array> {
  const reader = chat.getReader()
  const events = new EventReader(eventBytesMax)
  return new ReadableStream<Uint8Array>(
    {
      async pull(out) {
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return out.close()
          const bytes = Buffer.concat(events.push(value).map((event) => convert(event, writer)))
          if (bytes.byteLength > 0) return out.enqueue(bytes)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** Converts an event of this gateway's chat, which is valid JSON or [DONE]. */
function convert(event: StreamEvent, writer: GenerateWriter): Uint8Array {
  const { data } = event
  if (data === undefined) return bytesOf(isComment(event) ? [event] : [])
  if (data.trim() === '[DONE]') return encodeEvent(writer.end())
  const chunk = parseRecord(data) ?? {}
  const response = chunk.error ? toGeminiError(502, chunk) : writer.read(chunk)
  return response ? encodeEvent(response) : new Uint8Array()
}
