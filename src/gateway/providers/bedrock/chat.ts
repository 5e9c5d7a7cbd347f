import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4Content,
  type LanguageModelV4FinishReason,
  type LanguageModelV4GenerateResult,
  type LanguageModelV4StreamPart,
  type LanguageModelV4Usage,
  TypeValidationError,
} from '@ai-sdk/provider'

import {
  asString,
  isRecord,
  type Json,
  lookUp,
  recordOf,
  recordsIn,
} from '../../../kernel/schema.ts'
import { type ChatEvent, type EndReason, usageEvents } from '../../conversation/chat-event.ts'
import type { Api, ChatRequest, OutputFormat } from '../../conversation/chat-request.ts'
import type { Target } from '../../conversation/codec.ts'
import { callIdOf } from '../../conversation/tools.ts'
import { CountReader, type ReportedUsage } from '../../models/usage.ts'
import { toErrorEvent } from '../ai-sdk/errors.ts'
import type { AiSdkUpstream } from '../ai-sdk/provider-fetch.ts'
import { throwUpstreamError, UpstreamError } from '../upstream.ts'
import { originOf, toCallOptions } from './call-options.ts'

/** Bedrock gives one choice. */
const choice = 0
const done: ChatEvent = { type: 'done' }

/** The upstream of a chat, for its errors, and the end of the request. */
interface Access {
  upstream: AiSdkUpstream
  signal: AbortSignal
}

/**
 * Streams a chat through the Bedrock package. Throws its errors (ai-sdk/errors.ts) before the
 * stream, and in it `UpstreamError` where it breaks off.
 */
export async function bedrockChat(
  model: LanguageModelV4,
  request: ChatRequest,
  target: Target,
  access: Access,
): Promise<AsyncIterable<ChatEvent[]>> {
  const { stream } = await model.doStream(toCallOptions(request, target, access.signal))
  return readStream(stream, new PartReader(originOf(target.model)), access)
}

/** Completes a chat through the Bedrock package. Throws its errors. */
export async function bedrockWholeChat(
  model: LanguageModelV4,
  request: ChatRequest,
  target: Target,
  signal: AbortSignal,
): Promise<ChatEvent[]> {
  const result: WholeResult = await Promise.resolve(
    model.doGenerate(toCallOptions(request, target, signal)),
  ).catch((error: unknown) => resultWithoutUsage(error, request.format))
  const { content, finishReason, usage, response, providerMetadata } = result
  const parts = new PartReader(originOf(target.model))
  return [
    startEvent(response),
    ...content.flatMap((part) => parts.readWhole(part)),
    parts.end(finishReason, providerMetadata),
    ...usageEvents(usage && readUsage(usage)),
    done,
  ]
}

type WholeResult = Pick<LanguageModelV4GenerateResult, 'content' | 'finishReason'> &
  Partial<Pick<LanguageModelV4GenerateResult, 'usage' | 'response' | 'providerMetadata'>>

/**
 * Returns the result of a response without a whole usage, which the package rejects. Throws the
 * error of a response without content.
 */
function resultWithoutUsage(error: unknown, format: OutputFormat | undefined): WholeResult {
  const cause = APICallError.isInstance(error) ? error.cause : undefined
  const value = TypeValidationError.isInstance(cause) ? recordOf(cause.value) : {}
  const { content } = recordOf(recordOf(value.output).message)
  const parts = recordsIn(content).flatMap((block) => partsOf(block, format?.type === 'schema'))
  if (parts.length === 0) throw error
  const { stop_sequence } = recordOf(recordOf(value.additionalModelResponseFields).delta)
  return {
    content: parts,
    finishReason: {
      unified: lookUp(stopReasons, value.stopReason) ?? 'stop',
      raw: asString(value.stopReason),
    },
    providerMetadata: { bedrock: { stopSequence: asString(stop_sequence) || null } },
  }
}

const stopReasons: Record<string, LanguageModelV4FinishReason['unified']> = {
  max_tokens: 'length',
  content_filtered: 'content-filter',
  guardrail_intervened: 'content-filter',
}

/** Reads a content block. The package has a tool whose input is the output of a schema. */
function partsOf(block: Json, hasSchema: boolean): LanguageModelV4Content[] {
  const { reasoningText, redactedContent } = recordOf(block.reasoningContent)
  if (isRecord(reasoningText)) {
    const bedrock = { signature: asString(reasoningText.signature) || null }
    const text = asString(reasoningText.text)
    return [{ type: 'reasoning', text, providerMetadata: { bedrock } }]
  }
  if (typeof redactedContent === 'string') {
    return [{ type: 'reasoning', text: '', providerMetadata: { bedrock: { redactedContent } } }]
  }
  if (!isRecord(block.toolUse)) {
    return typeof block.text === 'string' ? [{ type: 'text', text: block.text }] : []
  }
  const { toolUseId, name, input } = block.toolUse
  const text = JSON.stringify(input ?? {})
  if (hasSchema && name === 'json') return [{ type: 'text', text }]
  const toolCallId = callIdOf(toolUseId)
  return [{ type: 'tool-call', toolCallId, toolName: asString(name), input: text }]
}

async function* readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  parts: PartReader,
  { upstream, signal }: Access,
): AsyncGenerator<ChatEvent[]> {
  const reader = stream.getReader()
  try {
    for (;;) {
      const { done: isOver, value } = await reader
        .read()
        .catch(throwUpstreamError(upstream.name, signal))
      if (isOver || parts.isBroken) break
      const events = parts.read(value, upstream)
      if (events.length > 0) yield events
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
  if (parts.isBroken) throw new UpstreamError('reset', upstream.name)
}

/** Reads the parts of one response. */
class PartReader {
  /** A part could not be read, or the stream was cut. */
  isBroken = false
  private hasFailed = false
  private isStarted = false
  /** By call id: its number, and whether arguments were sent. */
  private readonly calls = new Map<string, { call: number; hasArguments: boolean }>()

  constructor(private readonly origin: Api) {}

  read(part: LanguageModelV4StreamPart, upstream: AiSdkUpstream): ChatEvent[] {
    if (part.type === 'response-metadata') return [startEvent(part)]
    if (part.type === 'finish') return this.finish(part)
    if (part.type === 'error') return this.fail(part.error, upstream)
    if (this.hasFailed) return []
    const events = this.readContent(part)
    if (events.length > 0) this.isStarted = true
    return events
  }

  /** Reads a part of a whole response: its texts are single deltas. */
  readWhole(part: LanguageModelV4Content): ChatEvent[] {
    if (part.type !== 'text' && part.type !== 'reasoning') return this.readContent(part)
    return this.readContent({ ...part, type: `${part.type}-delta`, id: '', delta: part.text })
  }

  end(reason: LanguageModelV4FinishReason, metadata: unknown): ChatEvent {
    return endEvent(reason, this.calls.size > 0, metadata)
  }

  private readContent(part: LanguageModelV4StreamPart): ChatEvent[] {
    switch (part.type) {
      case 'text-delta':
        return part.delta ? [{ type: 'text', choice, text: part.delta }] : []
      case 'reasoning-start':
      case 'reasoning-end':
        return signatureEvents(part.providerMetadata, this.origin)
      case 'reasoning-delta':
        return [
          ...(part.delta ? [{ type: 'thinking' as const, choice, text: part.delta }] : []),
          ...signatureEvents(part.providerMetadata, this.origin),
        ]
      case 'tool-input-start':
        return part.providerExecuted ? [] : [this.startCall(part.id, part.toolName)]
      case 'tool-input-delta':
        return this.addArguments(part.id, part.delta)
      case 'tool-call':
        return part.providerExecuted ? [] : this.completeCall(part)
      case 'source':
        return citationEvents(part)
      default:
        return []
    }
  }

  private startCall(id: string, name: string): ChatEvent {
    const call = this.calls.size
    this.calls.set(id, { call, hasArguments: false })
    return { type: 'call', choice, call, id, name }
  }

  private addArguments(id: string, text: string): ChatEvent[] {
    const known = this.calls.get(id)
    if (!known || !text) return []
    known.hasArguments = true
    return [{ type: 'arguments', choice, call: known.call, text }]
  }

  /** Returns what is missing of a complete call. */
  private completeCall(part: Extract<LanguageModelV4StreamPart, { type: 'tool-call' }>) {
    const { toolCallId: id, toolName, input } = part
    const known = this.calls.get(id)
    const started = known ? [] : [this.startCall(id, toolName)]
    return [...started, ...(known?.hasArguments ? [] : this.addArguments(id, input || '{}'))]
  }

  /** Ends the response. A finish without a reason means that the provider was cut off. */
  private finish(part: Extract<LanguageModelV4StreamPart, { type: 'finish' }>): ChatEvent[] {
    const { finishReason, providerMetadata } = part
    const usage = usageEvents(readUsage(part.usage))
    if (this.hasFailed) return usage
    if (finishReason.raw === undefined) {
      this.isBroken = true
      return this.isStarted ? usage : []
    }
    return [this.end(finishReason, providerMetadata), ...usage, done]
  }

  /**
   * Returns the provider's error. Text that is no event breaks the stream off; an event of an
   * unknown type is skipped.
   */
  private fail(error: unknown, upstream: AiSdkUpstream): ChatEvent[] {
    if (this.hasFailed || TypeValidationError.isInstance(error)) return []
    if (!isRecord(error) || error instanceof Error) {
      this.isBroken = true
      return []
    }
    this.hasFailed = true
    return [{ type: 'error', error: toErrorEvent(error, upstream) }]
  }
}

function startEvent(response: { id?: string; timestamp?: Date } = {}): ChatEvent {
  const { id, timestamp } = response
  return {
    type: 'start',
    ...(id !== undefined && { id }),
    ...(timestamp && { created: Math.floor(timestamp.getTime() / 1_000) }),
  }
}

/** Returns the signature of a thought, or a thought that is encrypted. */
function signatureEvents(metadata: unknown, origin: Api): ChatEvent[] {
  const { signature, redactedContent, redactedData } = recordOf(recordOf(metadata).bedrock)
  if (typeof signature === 'string') return [{ type: 'signature', choice, signature, origin }]
  const data = redactedContent ?? redactedData
  if (typeof data !== 'string') return []
  return [{ type: 'signature', choice, signature: data, isEncrypted: true, origin }]
}

function citationEvents(source: Extract<LanguageModelV4Content, { type: 'source' }>): ChatEvent[] {
  if (source.sourceType !== 'url') return []
  const { url, title = url } = source
  return [{ type: 'citation', choice, citation: { url, title } }]
}

const reasons: Partial<Record<LanguageModelV4FinishReason['unified'], EndReason>> = {
  length: 'length',
  'content-filter': 'filtered',
  'tool-calls': 'calls',
}

function endEvent(
  { unified }: LanguageModelV4FinishReason,
  hasCalls: boolean,
  metadata: unknown,
): ChatEvent {
  const { stopSequence: stop } = recordOf(recordOf(metadata).bedrock)
  const reason = reasons[unified] ?? (hasCalls ? 'calls' : 'stop')
  return { type: 'end', choice, reason, ...(typeof stop === 'string' && { stop }) }
}

/** Converts a usage; undefined for one without counts. */
function readUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): ReportedUsage | undefined {
  const reader = new CountReader()
  const usage = {
    prompt: reader.count(inputTokens.total),
    cached: reader.count(inputTokens.cacheRead),
    cacheWrite: reader.count(inputTokens.cacheWrite),
    completion: reader.count(outputTokens.total),
    reasoning: reader.count(outputTokens.reasoning),
  }
  if (usage.prompt === undefined && usage.completion === undefined) return undefined
  return { ...usage, isCorrected: reader.isCorrected }
}
