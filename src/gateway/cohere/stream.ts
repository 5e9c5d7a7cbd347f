import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { contentTextOf, reasoningOf } from '../chat/completion.ts'
import type { ChatConverter } from '../chat/convert-stream.ts'
import { encodeNamedEvents } from '../events.ts'
import { asString, recordsIn } from '../providers/response.ts'
import { toCohereError } from './error-response.ts'
import { finishReasonOf, toToolCall, toUsage } from './response.ts'

/** A tool call of the chat, by its index there and in the events. */
interface ToolCall {
  chatIndex: number
  id: string
  index: number
}

const done = Buffer.from('data: [DONE]\n\n')

/**
 * Converts the chunks of a chat to the events of Cohere's chat API. A text or thinking block ends
 * where the next one starts. Tool calls end with the message, because their chunks may alternate.
 */
export class CohereWriter implements ChatConverter {
  private events: Json[] = []
  private isBegun = false
  private blocks = 0
  private open: 'text' | 'thinking' | undefined
  private readonly calls: ToolCall[] = []
  private finish: unknown = null
  private stop: unknown = null
  private usage: Json = {}

  constructor(private readonly id: string) {}

  read(chunk: Json): Uint8Array {
    this.begin()
    if (chunk.error) {
      const { message, code } = toCohereError(chunk, this.id)
      const delta = { finish_reason: 'ERROR', error: message, ...(code !== undefined && { code }) }
      this.add('message-end', { id: this.id, delta })
      return this.take()
    }
    if (isRecord(chunk.usage)) this.usage = chunk.usage
    const choice = recordOf(itemsOf(chunk.choices)[0])
    this.finish = choice.finish_reason ?? this.finish
    this.stop = choice.stop_reason ?? this.stop
    const delta = recordOf(choice.delta)
    this.addText('thinking', reasoningOf(delta))
    this.addText('text', contentTextOf(delta))
    for (const [position, call] of recordsIn(delta.tool_calls).entries()) {
      this.addCall(call, position)
    }
    return this.take()
  }

  end(): Uint8Array {
    this.begin()
    this.close()
    for (const { index } of this.calls) this.add('tool-call-end', { index })
    const { finish, stop } = this
    const finish_reason = finishReasonOf({ finish, stop, hasCalls: this.calls.length > 0 })
    this.add('message-end', { id: this.id, delta: { finish_reason, usage: toUsage(this.usage) } })
    return Buffer.concat([this.take(), done])
  }

  private add(type: string, fields: Json): void {
    this.events.push({ type, ...fields })
  }

  /** Returns the events that are not sent yet. */
  private take(): Uint8Array {
    const bytes = encodeNamedEvents(this.events)
    this.events = []
    return bytes
  }

  private begin(): void {
    if (this.isBegun) return
    this.isBegun = true
    const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
    this.add('message-start', { id: this.id, delta: { message } })
  }

  private addText(type: 'text' | 'thinking', text: string): void {
    if (text === '') return
    if (this.open !== type) {
      this.close()
      this.open = type
      const index = this.blocks++
      this.add('content-start', { index, delta: { message: { content: { type, [type]: '' } } } })
    }
    const delta = { message: { content: { [type]: text } } }
    this.add('content-delta', { index: this.blocks - 1, delta })
  }

  private close(): void {
    if (this.open !== undefined) this.add('content-end', { index: this.blocks - 1 })
    this.open = undefined
  }

  /** Starts a call, or adds arguments to one. */
  private addCall(raw: Json, position: number): void {
    this.close()
    const chatIndex = typeof raw.index === 'number' ? raw.index : position
    const id = asString(raw.id)
    const known = this.calls.findLast((call) => call.chatIndex === chatIndex)
    if (!known || (id && known.id !== id)) {
      const index = this.calls.length
      const tool_calls = toToolCall(raw, index)
      this.calls.push({ chatIndex, id: String(tool_calls.id), index })
      this.add('tool-call-start', { index, delta: { message: { tool_calls } } })
      return
    }
    const args = asString(recordOf(raw.function).arguments)
    if (args === '') return
    const message = { tool_calls: { function: { arguments: args } } }
    this.add('tool-call-delta', { index: known.index, delta: { message } })
  }
}
