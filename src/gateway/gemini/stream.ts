import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import type { ChatConverter } from '../chat/convert-stream.ts'
import { encodeEvent } from '../events.ts'
import { asString, recordsIn } from '../providers/response.ts'
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
export class GenerateWriter implements ChatConverter {
  private readonly calls: (ChatCall & { index: number })[] = []
  private finish: unknown = null
  private usage: Json = {}
  private model: unknown = ''
  private grounding: Json = {}

  constructor(private readonly options: GenerateOptions) {}

  /** Returns the response for a chunk; nothing for one without text. */
  read(chunk: Json): Uint8Array {
    if (chunk.error) return encodeEvent(toGeminiError(chunk, 502))
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
    if (parts.length === 0) return new Uint8Array()
    return encodeEvent(generateChunk(parts, this.model, this.options))
  }

  /** Returns the last response, with the calls, the reason of the end and the usage. */
  end(): Uint8Array {
    const ending = { finishReason: finishReasonOf(this.finish), ...this.grounding }
    const last = generateChunk(this.calls.map(toFunctionCall), this.model, this.options, ending)
    return encodeEvent({ ...last, usageMetadata: toUsage(this.usage) })
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
