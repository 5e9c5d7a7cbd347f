import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import { reasoningOf, textOf } from '../chat/completion.ts'
import { asString, recordsIn } from '../providers/response.ts'
import {
  citationsOf,
  messageHead,
  type MessageOptions,
  readEnd,
  reasoningDetailsOf,
  toolUseId,
  toUsage,
} from './message.ts'

/** A content block that was started and not stopped. */
interface OpenBlock {
  index: number
  type: 'text' | 'thinking' | 'tool_use'
}

/** A tool call of the chat. Some upstreams send its name later than its index. */
interface ToolCall {
  index: number
  id: string
  name: string
  /** Arguments that arrived before the name. */
  pending: string
  block: OpenBlock | undefined
}

/**
 * Converts the chunks of a chat to the events of Anthropic's Messages API, which `takeAll` returns.
 * Text and thinking blocks end where the next block starts. Tool calls end with the message,
 * because the chunks of several calls may alternate.
 */
export class EventWriter {
  private events: Json[] = []
  private isBegun = false
  private blocks = 0
  /** The open text or thinking block. */
  private open: OpenBlock | undefined
  private readonly calls: ToolCall[] = []
  private finish: unknown = null
  private stop: unknown = null
  private refusal = ''
  private usage: Json = {}

  /** `inputTokens`: the estimate for message_start. Only message_delta has the exact usage. */
  constructor(
    private readonly options: MessageOptions,
    private readonly inputTokens: number,
  ) {}

  /** Returns the events that are not sent yet. */
  takeAll(): Json[] {
    const { events } = this
    this.events = []
    return events
  }

  read(chunk: Json): void {
    this.begin(chunk.model)
    if (isRecord(chunk.usage)) this.usage = chunk.usage
    const choice = recordOf(itemsOf(chunk.choices)[0])
    this.finish = choice.finish_reason ?? this.finish
    this.stop = choice.stop_reason ?? this.stop
    this.readDelta(recordOf(choice.delta))
  }

  /** Ends the message after the chat's last chunk. */
  end(): void {
    this.begin(null)
    for (const call of this.calls) this.startCall(call)
    this.closeOpen()
    for (const { block } of this.calls) if (block) this.close(block)
    const { finish, stop, refusal, options } = this
    const ending = readEnd({ finish, stop, refusal, hasCalls: this.calls.length > 0 }, options)
    const delta = { ...ending, container: null }
    this.add('message_delta', { delta, usage: toUsage(this.usage) })
    this.add('message_stop', {})
  }

  private add(type: string, fields: Json): void {
    this.events.push({ type, ...fields })
  }

  private begin(model: unknown): void {
    if (this.isBegun) return
    this.isBegun = true
    const usage = toUsage({ prompt_tokens: this.inputTokens })
    this.add('message_start', { message: { ...messageHead(model, this.options), usage } })
    this.add('ping', {})
  }

  private readDelta(delta: Json): void {
    const thinking = reasoningOf(delta)
    if (thinking) this.addThinking({ type: 'thinking_delta', thinking })
    for (const { signature, data } of reasoningDetailsOf(delta)) {
      if (signature) this.addThinking({ type: 'signature_delta', signature })
      if (data) this.addRedacted(data)
    }
    const refusal = asString(delta.refusal)
    this.refusal += refusal
    const text = textOf(delta.content) + refusal
    if (text) this.delta(this.openBlock('text'), { type: 'text_delta', text })
    for (const citation of citationsOf(delta)) {
      this.delta(this.openBlock('text'), { type: 'citations_delta', citation })
    }
    for (const [position, call] of recordsIn(delta.tool_calls).entries()) {
      this.readCall(call, position)
    }
  }

  private addThinking(delta: Json): void {
    const block = this.openBlock('thinking')
    if (this.options.showsThinking || delta.type === 'signature_delta') this.delta(block, delta)
  }

  private addRedacted(data: string): void {
    this.closeOpen()
    const index = this.start({ type: 'redacted_thinking', data })
    this.add('content_block_stop', { index })
  }

  private delta({ index }: OpenBlock, delta: Json): void {
    this.add('content_block_delta', { index, delta })
  }

  /** Starts a block and returns its index. */
  private start(content_block: Json): number {
    const index = this.blocks
    this.blocks += 1
    this.add('content_block_start', { index, content_block })
    return index
  }

  private openBlock(type: 'text' | 'thinking'): OpenBlock {
    if (this.open?.type === type) return this.open
    this.closeOpen()
    const empty = type === 'text' ? { text: '', citations: null } : { thinking: '', signature: '' }
    const block = { type, index: this.start({ type, ...empty }) }
    this.open = block
    return block
  }

  private closeOpen(): void {
    if (this.open) this.close(this.open)
    this.open = undefined
  }

  private close({ index }: OpenBlock): void {
    this.add('content_block_stop', { index })
  }

  /** Reads a call, or the next part of one. */
  private readCall({ index: given, id, function: called }: Json, position: number): void {
    const { name, arguments: text } = recordOf(called)
    const index = typeof given === 'number' ? given : position
    const known = this.calls.findLast((call) => call.index === index)
    const isSame = known && (!id || !known.id || known.id === id)
    const call = isSame ? known : this.addCall(index)
    call.id ||= asString(id)
    call.name ||= asString(name)
    call.pending += asString(text)
    if (call.name) this.startCall(call)
    if (!call.block || !call.pending) return
    this.delta(call.block, { type: 'input_json_delta', partial_json: call.pending })
    call.pending = ''
  }

  private addCall(index: number): ToolCall {
    const call: ToolCall = { index, id: '', name: '', pending: '', block: undefined }
    this.calls.push(call)
    return call
  }

  /** Starts the block of a call. Its id and name cannot change later. */
  private startCall(call: ToolCall): void {
    if (call.block) return
    this.closeOpen()
    const id = toolUseId(call.id, this.options, this.calls.indexOf(call))
    const { name } = call
    const index = this.start({ type: 'tool_use', id, name, input: {} })
    call.block = { type: 'tool_use', index }
    if (call.pending) {
      this.delta(call.block, { type: 'input_json_delta', partial_json: call.pending })
    }
    call.pending = ''
  }
}
