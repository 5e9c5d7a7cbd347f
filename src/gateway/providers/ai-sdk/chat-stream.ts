import {
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4StreamPart,
  TypeValidationError,
} from '@ai-sdk/provider'

import { isRecord, type Json } from '../../../kernel/schema.ts'
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
 * Streams a chat as OpenAI's chunks, each converted when it is pulled. A stream that broke off ends
 * without [DONE], as with the OpenAI adapter.
 */
export async function streamChat(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  head: CompletionHead,
  { upstream, network }: { upstream: AiSdkUpstream; network: ProviderFetch },
): Promise<Response> {
  const { stream } = await model.doStream(options)
  const reader = stream.getReader()
  const writer = new ChunkWriter(head, upstream)
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(out) {
      for (;;) {
        const { done: isOver, value } = await reader.read()
        const events = isOver ? '' : writer.write(value)
        if (events) return out.enqueue(encoder.encode(events))
        if (!isOver && !writer.isBroken) continue
        if (writer.isComplete) out.enqueue(encoder.encode(done))
        else if (!writer.hasFailed && (network.bytes > 0 || network.isCut || writer.isBroken)) {
          await reader.cancel()
          throw new UpstreamError('reset', upstream.name)
        }
        return out.close()
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return eventStreamResponse(body)
}

/** Converts the parts of one stream to events. */
class ChunkWriter {
  /** The provider completed it. */
  isComplete = false
  /** A part could not be read. */
  isBroken = false
  /** It ended with an error event of the provider. */
  hasFailed = false
  private isStarted = false
  /** By call id: its index, and whether arguments were sent. */
  private readonly calls = new Map<string, { index: number; hasArguments: boolean }>()

  constructor(
    private readonly head: CompletionHead,
    private readonly upstream: AiSdkUpstream,
  ) {}

  /** Returns the events of a part; '' when there are none. */
  write(part: LanguageModelV4StreamPart): string {
    switch (part.type) {
      case 'response-metadata':
        if (part.id && !this.isStarted) this.head.id = part.id
        return ''
      case 'custom':
        return this.usage(toPromptUsage(part.providerMetadata))
      case 'text-delta':
        return part.delta ? this.delta({ content: part.delta }) : ''
      case 'reasoning-start':
      case 'reasoning-delta':
        return this.reasoning(part)
      case 'tool-input-start':
        return part.providerExecuted ? '' : this.startCall(part.id, part.toolName)
      case 'tool-input-delta':
        return this.addArguments(part.id, part.delta)
      case 'tool-call':
        return part.providerExecuted ? '' : this.completeCall(part)
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

  private delta(delta: Json, finish: string | null = null): string {
    const role = this.isStarted ? {} : { role: 'assistant' }
    this.isStarted = true
    return this.chunk([{ index: 0, delta: { ...role, ...delta }, finish_reason: finish }])
  }

  private usage(usage: OpenAiUsage | undefined): string {
    return usage ? this.chunk([], usage) : ''
  }

  private reasoning(part: { delta?: string; providerMetadata?: unknown }): string {
    const { delta = '', providerMetadata } = part
    const detail = toReasoningDetail('', providerMetadata)
    const fields = {
      ...(delta && { reasoning_content: delta }),
      ...(detail && { reasoning_details: [detail] }),
    }
    return delta || detail ? this.delta(fields) : ''
  }

  private startCall(id: string, name: string, more: Json = {}): string {
    const index = this.calls.size
    this.calls.set(id, { index, hasArguments: false })
    const start = { index, id, type: 'function', function: { name, arguments: '' }, ...more }
    return this.delta({ tool_calls: [start] })
  }

  private addArguments(id: string, text: string): string {
    const known = this.calls.get(id)
    if (!known || !text) return ''
    known.hasArguments = true
    return this.delta({ tool_calls: [{ index: known.index, function: { arguments: text } }] })
  }

  /** Sends what is missing of a complete call. */
  private completeCall(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>): string {
    const { toolCallId: id, toolName, input } = part
    const { extra_content: extra } = toToolCall(part)
    const more = extra ? { extra_content: extra } : {}
    const known = this.calls.get(id)
    if (!known) return this.startCall(id, toolName, more) + this.addArguments(id, input)
    const rest = known.hasArguments ? '' : this.addArguments(id, input)
    if (!extra) return rest
    return rest + this.delta({ tool_calls: [{ index: known.index, function: {}, ...more }] })
  }

  /** Ends the choice. A finish without a reason means that the provider was cut off. */
  private finish(part: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): string {
    const usage = this.usage(toOpenAiUsage(part.usage))
    const { unified, raw } = part.finishReason
    if (unified === 'interrupted' || raw === undefined) return this.isStarted ? usage : ''
    this.isComplete = !this.hasFailed
    return this.delta({}, toFinishReason(part.finishReason, this.calls.size > 0)) + usage
  }

  /**
   * Sends the provider's error as an error event. Text that is no event breaks the stream off; an
   * event of an unknown type is skipped.
   */
  private fail(error: unknown): string {
    if (TypeValidationError.isInstance(error)) return ''
    if (!isRecord(error) || error instanceof Error) {
      this.isBroken = true
      return ''
    }
    this.hasFailed = true
    return `data: ${JSON.stringify({ error: toErrorEvent(error, this.upstream) })}\n\n`
  }
}
