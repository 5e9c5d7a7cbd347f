import {
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
  TypeValidationError,
} from '@ai-sdk/provider'

import { isRecord } from '../../core/schema.ts'
import { eventStreamResponse } from '../response.ts'
import { UpstreamError } from '../upstream.ts'
import {
  type CompletionHead,
  toAnnotations,
  toFinishReason,
  toReasoningDetail,
  toToolCall,
} from './chat.ts'
import { toErrorEvent } from './errors.ts'
import type { AiSdkUpstream, ProviderFetch } from './provider-fetch.ts'
import { type OpenAiUsage, toOpenAiUsage, toPromptUsage } from './usage.ts'

const done = 'data: [DONE]\n\n'

/**
 * Asks for a stream; it is written as OpenAI's chunks, each when it is pulled. One that broke off
 * ends without [DONE], as it does in the raw lane.
 */
export async function streamChat(
  model: LanguageModelV4,
  asked: LanguageModelV4CallOptions,
  head: CompletionHead,
  { to, wire }: { to: AiSdkUpstream; wire: ProviderFetch },
): Promise<Response> {
  const { stream } = await model.doStream(asked)
  const reader = stream.getReader()
  const writer = new Writer(head, to)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(out) {
      for (;;) {
        const { done: isOver, value } = await reader.read()
        const events = isOver ? '' : writer.write(value)
        if (events) return out.enqueue(encoder.encode(events))
        if (!isOver && !writer.isBroken) continue
        if (writer.isWhole) out.enqueue(encoder.encode(done))
        else if (!writer.hasFailed && (wire.bytes > 0 || wire.isCut || writer.isBroken)) {
          await reader.cancel()
          throw new UpstreamError('reset', to.name)
        }
        return out.close()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return eventStreamResponse(body)
}

/** Writes the parts of one stream as events. */
class Writer {
  /** It ended as its provider ends one. */
  isWhole = false
  /** A part of it could not be read. */
  isBroken = false
  /** It ended with an error of the provider, which was told. */
  hasFailed = false
  private isBegun = false
  /** By the id of a call: its place among the calls, and whether arguments of it were sent. */
  private readonly calls = new Map<string, { index: number; isFilled: boolean }>()

  constructor(
    private readonly head: CompletionHead,
    private readonly to: AiSdkUpstream,
  ) {}

  /** The events of a part: none of some. */
  write(part: LanguageModelV4StreamPart): string {
    switch (part.type) {
      case 'response-metadata':
        if (part.id && !this.isBegun) this.head.id = part.id
        return ''
      case 'custom':
        return this.usage(toPromptUsage(part.providerMetadata))
      case 'text-delta':
        return part.delta ? this.delta({ content: part.delta }) : ''
      case 'reasoning-start':
      case 'reasoning-delta':
        return this.thought(part)
      case 'tool-input-start':
        return part.providerExecuted ? '' : this.call(part.id, part.toolName)
      case 'tool-input-delta':
        return this.input(part.id, part.delta)
      case 'tool-call':
        return part.providerExecuted ? '' : this.called(part)
      case 'source':
        return toAnnotations(part)
          .map((annotation) => this.delta({ annotations: [annotation] }))
          .join('')
      case 'finish':
        return this.finish(part)
      case 'error':
        return this.fail(part.error)
      default:
        return ''
    }
  }

  private chunk(choices: unknown[], usage?: OpenAiUsage): string {
    const chunk = { ...this.head, object: 'chat.completion.chunk', choices, usage }
    return `data: ${JSON.stringify(chunk)}\n\n`
  }

  private delta(delta: Record<string, unknown>, finish: string | null = null): string {
    const role = this.isBegun ? {} : { role: 'assistant' }
    this.isBegun = true
    return this.chunk([{ index: 0, delta: { ...role, ...delta }, finish_reason: finish }])
  }

  private usage(told: OpenAiUsage | undefined): string {
    return told ? this.chunk([], told) : ''
  }

  private thought(part: { delta?: string; providerMetadata?: unknown }): string {
    const { delta = '', providerMetadata } = part
    const detail = toReasoningDetail('', providerMetadata)
    const said = {
      ...(delta && { reasoning_content: delta }),
      ...(detail && { reasoning_details: [detail] }),
    }
    return delta || detail ? this.delta(said) : ''
  }

  private call(id: string, name: string, more: Record<string, unknown> = {}): string {
    const index = this.calls.size
    this.calls.set(id, { index, isFilled: false })
    const called = { name, arguments: '' }
    return this.delta({ tool_calls: [{ index, id, type: 'function', function: called, ...more }] })
  }

  private input(id: string, text: string): string {
    const known = this.calls.get(id)
    if (!known || !text) return ''
    known.isFilled = true
    return this.delta({ tool_calls: [{ index: known.index, function: { arguments: text } }] })
  }

  /** The whole call: what of it was not sent yet. */
  private called(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): string {
    const { toolCallId: id, toolName, input } = part
    const { extra_content: extra } = toToolCall(part)
    const more = extra ? { extra_content: extra } : {}
    const known = this.calls.get(id)
    if (!known) return this.call(id, toolName, more) + this.input(id, input)
    const rest = known.isFilled ? '' : this.input(id, input)
    if (!extra) return rest
    return rest + this.delta({ tool_calls: [{ index: known.index, function: {}, ...more }] })
  }

  /** A provider that did not say why it ended was cut off. */
  private finish(part: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): string {
    const told = this.usage(toOpenAiUsage(part.usage))
    const { unified, raw } = part.finishReason
    if (unified === 'interrupted' || raw === undefined) return this.isBegun ? told : ''
    this.isWhole = !this.hasFailed
    return this.delta({}, toFinishReason(part.finishReason, this.calls.size > 0)) + told
  }

  /**
   * The provider's own error, told as one; what is no event at all breaks the stream off, and an
   * event of an unknown shape is passed over.
   */
  private fail(error: unknown): string {
    if (TypeValidationError.isInstance(error)) return ''
    if (!isRecord(error) || error instanceof Error) {
      this.isBroken = true
      return ''
    }
    this.hasFailed = true
    return `data: ${JSON.stringify({ error: toErrorEvent(error, this.to) })}\n\n`
  }
}
