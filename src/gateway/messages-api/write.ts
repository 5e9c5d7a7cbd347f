import { isRecord, type Json, recordsIn } from '../../kernel/schema.ts'
import type { ChatEvent, ChatResponse, Citation, OutputPart } from '../conversation/chat-event.ts'
import type { ClientCodec, FinalUsage, StreamWriter } from '../conversation/codec.ts'
import { jsonOf } from '../conversation/json-reader.ts'
import { endsThought, sealText, type Signed } from '../conversation/sealed-thought.ts'
import { callIdOf, parseArguments, portableId } from '../conversation/tools.ts'
import { encodeNamedEvents, eventOf, noBytes, type StreamEvent } from '../events.ts'
import { chargedUsage, createUsage } from '../models/usage.ts'
import { toAnthropicError } from './client-api.ts'

/** The parts of a message that do not come from the model. */
export interface MessageOptions {
  /** The unique base of the message's id. */
  name: string
  /** The model that the client asked for. */
  model: string
  requestId: string
  showsThinking: boolean
  stopSequences: string[]
  /** The estimate for message_start. Only message_delta has the exact usage. */
  inputTokens: number
}

/** Creates the codec of one response for a client of Anthropic's Messages API. */
export const createMessagesClient = (options: MessageOptions) =>
  ({
    createWriter: () => new MessageWriter(options),
    encode: (response, final) => encodeMessage(response, final, options),
    pass: (response, final) => passMessage(response, final, options),
  }) satisfies ClientCodec

const passMessage = (response: Json, { cost }: FinalUsage, { model }: MessageOptions): Json => ({
  ...response,
  ...(Array.isArray(response.content) && { content: recordsIn(response.content).map(withId) }),
  model,
  usage: chargedUsage(response.usage, cost),
})

/** Returns a call with an id, which some servers leave out; any other block as it is. */
const withId = (block: Json): Json =>
  block.type === 'tool_use' ? { ...block, id: callIdOf(block.id) } : block

const passedUsage = ({ usage }: Json): Json =>
  isRecord(usage) ? { usage: chargedUsage(usage) } : {}

function encodeMessage(
  { choices }: ChatResponse,
  final: FinalUsage,
  options: MessageOptions,
): Json {
  const { content = [], citations = [], reason, stop } = choices[0] ?? {}
  const blocks = content.flatMap((part) => toBlocks(part, options))
  const text = blocks.findLast(({ type }) => type === 'text')
  if (text && citations.length > 0) text.citations = citations.map(toCitation)
  const ending = toEnding(
    {
      reason,
      stop,
      hasCalls: content.some(({ type }) => type === 'call'),
      refusal: content.map((part) => (part.type === 'refusal' ? part.text : '')).join(''),
    },
    options,
  )
  return { ...messageHead(options), content: blocks, ...ending, usage: toUsage(final) }
}

/** Returns the fields of a message before its content. */
const messageHead = ({ name, model }: MessageOptions): Json => ({
  id: `msg_${name}`,
  type: 'message',
  role: 'assistant',
  model,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  stop_details: null,
  container: null,
})

function toBlocks(part: OutputPart, { showsThinking }: MessageOptions): Json[] {
  switch (part.type) {
    case 'call': {
      const { id, name, arguments: text, signature } = part
      const call = { type: 'tool_use', id: portableId(id), name, input: parseArguments(text) }
      return signature === undefined ? [call] : [toCallThought(signature), call]
    }
    case 'thinking': {
      const { text, signature, isEncrypted, origin = 'messages' } = part
      const seal = signature === undefined ? unsigned : sealOf({ signature, origin, isEncrypted })
      if (isEncrypted && text === '') return [{ type: 'redacted_thinking', data: seal }]
      return [{ type: 'thinking', thinking: showsThinking ? text : '', signature: seal }]
    }
    default:
      return part.text === '' ? [] : [{ type: 'text', text: part.text, citations: null }]
  }
}

const sealOf = (seal: Signed): string => sealText(seal, 'messages')

/** The seal of an unsigned thought. LiteLLM and the AI SDK drop a thought without a signature. */
const unsigned = sealOf({ signature: '', origin: 'chat' })

/** Returns the block that keeps Google's signature of a call: a tool_use has no field for it. */
const toCallThought = (signature: string): Json => ({
  type: 'thinking',
  thinking: '',
  signature: sealOf({ signature, origin: 'gemini' }),
})

const toCitation = ({ url, title, content = '' }: Citation): Json => ({
  type: 'web_search_result_location',
  url,
  title,
  cited_text: content,
  encrypted_index: '',
})

/** The end of a response, as far as `stop_reason` depends on it. */
interface Ending {
  reason: string | undefined
  stop: string | undefined
  hasCalls: boolean
  /** The words of a model that declined; '' for none. */
  refusal: string
}

/** Returns the fields that say why a message ended. */
function toEnding({ reason, stop, hasCalls, refusal }: Ending, options: MessageOptions): Json {
  if (refusal) {
    const stop_details = { type: 'refusal', category: null, explanation: refusal }
    return { stop_reason: 'refusal', stop_sequence: null, stop_details }
  }
  const { stopSequences } = options
  const [first = null, ...others] = stopSequences
  const only = stop === '' && others.length === 0 ? first : null
  const stop_sequence = stopSequences.find((mark) => mark === stop) ?? only
  const isStopped = stop_sequence !== null || stop === ''
  return { stop_reason: stopReasonOf(reason, hasCalls, isStopped), stop_sequence }
}

function stopReasonOf(reason: string | undefined, hasCalls: boolean, isStopped: boolean): string {
  if (reason === 'length') return 'max_tokens'
  if (reason === 'filtered') return 'refusal'
  if (hasCalls) return 'tool_use'
  return isStopped ? 'stop_sequence' : 'end_turn'
}

/** Converts a usage, with its cost in USD if known. Anthropic's input_tokens exclude the cache. */
function toUsage({ usage, cost }: FinalUsage): Json {
  const { prompt, cached, cacheWrite, completion, reasoning } = usage
  return {
    input_tokens: Math.max(0, prompt - cached - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cached,
    output_tokens: completion,
    output_tokens_details: { thinking_tokens: reasoning },
    server_tool_use: null,
    ...(cost !== undefined && { cost }),
  }
}

/** A text or thinking block that was started and not stopped. */
interface OpenBlock {
  index: number
  type: 'text' | 'thinking'
}

/**
 * Writes the events of a message. Text and thinking blocks end where the next block starts. Tool
 * calls end with the message, because the parts of several calls may alternate.
 */
class MessageWriter implements StreamWriter {
  /** True if the upstream wrote the events itself, its last one included. */
  private isPassed = false
  private events: Json[] = []
  private isBegun = false
  private blocks = 0
  private open: OpenBlock | undefined
  /** The indexes of the blocks of calls, by the numbers of the calls. */
  private readonly calls = new Map<number, number>()
  private reason: string | undefined
  private stop: string | undefined
  private refusal = ''

  constructor(private readonly options: MessageOptions) {}

  write(events: readonly ChatEvent[]): Uint8Array {
    for (const event of events) {
      // The message is of one choice. An error is written by `fail`.
      if (event.type === 'error' || ('choice' in event && event.choice !== 0)) continue
      this.begin()
      this.add(event)
    }
    return this.takeAll()
  }

  pass(own: StreamEvent, events: readonly ChatEvent[]): StreamEvent {
    this.isPassed = true
    // The first event names the model, and some servers add their own cost to a usage.
    const isRead = events.some(({ type }) => ['start', 'usage', 'call'].includes(type))
    const event = isRead ? jsonOf(own, events) : undefined
    if (!event) return own
    const { message, content_block: block } = event
    const { model } = this.options
    const changed = {
      ...event,
      ...passedUsage(event),
      ...(isRecord(block) && { content_block: withId(block) }),
      ...(isRecord(message) && { message: { ...message, model, ...passedUsage(message) } }),
    }
    return Bun.deepEquals(changed, event) ? own : eventOf(encodeNamedEvents([changed]))
  }

  beat(): Uint8Array {
    return encodeNamedEvents([{ type: 'ping' }])
  }

  end(final: FinalUsage): Uint8Array {
    if (this.isPassed) return noBytes
    this.begin()
    this.closeOpen()
    for (const index of this.calls.values()) this.emit('content_block_stop', { index })
    const { reason, stop, refusal } = this
    const ending = toEnding({ reason, stop, refusal, hasCalls: this.calls.size > 0 }, this.options)
    this.emit('message_delta', { delta: { ...ending, container: null }, usage: toUsage(final) })
    this.emit('message_stop', {})
    return this.takeAll()
  }

  fail(error: Json): Uint8Array {
    return encodeNamedEvents([toAnthropicError({ error }, 502, this.options.requestId)])
  }

  private takeAll(): Uint8Array {
    const { events } = this
    this.events = []
    return encodeNamedEvents(events)
  }

  private emit(type: string, fields: Json): void {
    this.events.push({ type, ...fields })
  }

  private begin(): void {
    if (this.isBegun) return
    this.isBegun = true
    const usage = toUsage({ usage: createUsage({ prompt: this.options.inputTokens }) })
    this.emit('message_start', { message: { ...messageHead(this.options), usage } })
    this.emit('ping', {})
  }

  private add(event: ChatEvent): void {
    switch (event.type) {
      case 'refusal':
        this.refusal += event.text
        return this.addText(event.text)
      case 'text':
        return this.addText(event.text)
      case 'thinking':
        return this.addThinking(event.text)
      case 'signature':
        return this.addSignature(event)
      case 'call':
        return this.startCall(event)
      case 'arguments': {
        const index = this.calls.get(event.call)
        const delta = { type: 'input_json_delta', partial_json: event.text }
        if (index !== undefined && event.text) this.emit('content_block_delta', { index, delta })
        return
      }
      case 'citation':
        return this.delta('text', { type: 'citations_delta', citation: toCitation(event.citation) })
      case 'end':
        this.reason = event.reason
        this.stop = event.stop
    }
  }

  private addText(text: string): void {
    if (text) this.delta('text', { type: 'text_delta', text })
  }

  private addThinking(thinking: string): void {
    if (!thinking) return
    if (this.options.showsThinking) this.delta('thinking', { type: 'thinking_delta', thinking })
    else this.openBlock('thinking')
  }

  /** Ends a thought with its signature, or adds one that is encrypted. */
  private addSignature(signed: Signed): void {
    const seal = sealOf(signed)
    const isOfOpen = this.open?.type === 'thinking' && endsThought(signed)
    if (signed.isEncrypted && !isOfOpen) {
      return this.addBlock({ type: 'redacted_thinking', data: seal })
    }
    this.openBlock('thinking')
    this.closeOpen(seal)
  }

  private startCall({ call, id, name, signature }: ChatEvent & { type: 'call' }): void {
    this.closeOpen()
    if (signature !== undefined) this.addSignature({ signature, origin: 'gemini' })
    const block = { type: 'tool_use', id: portableId(id), name, input: {} }
    this.calls.set(call, this.start(block))
  }

  /** Adds a block that is whole. */
  private addBlock(block: Json): void {
    this.closeOpen()
    this.emit('content_block_stop', { index: this.start(block) })
  }

  private delta(type: OpenBlock['type'], delta: Json): void {
    this.emit('content_block_delta', { index: this.openBlock(type), delta })
  }

  /** Starts a block and returns its index. */
  private start(content_block: Json): number {
    const index = this.blocks
    this.blocks += 1
    this.emit('content_block_start', { index, content_block })
    return index
  }

  private openBlock(type: OpenBlock['type']): number {
    if (this.open?.type === type) return this.open.index
    this.closeOpen()
    const empty = type === 'text' ? { text: '', citations: null } : { thinking: '', signature: '' }
    const index = this.start({ type, ...empty })
    this.open = { type, index }
    return index
  }

  /** Ends the open block. `signature`: that of a thought. */
  private closeOpen(signature = unsigned): void {
    const { open } = this
    if (!open) return
    const { index, type } = open
    const delta = { type: 'signature_delta', signature }
    if (type === 'thinking') this.emit('content_block_delta', { index, delta })
    this.emit('content_block_stop', { index })
    this.open = undefined
  }
}
