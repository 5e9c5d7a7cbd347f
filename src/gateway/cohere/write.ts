import { asString, isRecord, type Json, recordOf, recordsIn } from '../../kernel/schema.ts'
import type {
  CallEvent,
  ChatEvent,
  ChatResponse,
  Citation,
  EndReason,
  OutputPart,
  SignatureEvent,
} from '../conversation/chat-event.ts'
import type { ChatClient, ClientCodec, FinalUsage, StreamWriter } from '../conversation/codec.ts'
import { jsonOf } from '../conversation/json-reader.ts'
import { endsThought, sealText } from '../conversation/sealed-thought.ts'
import { argumentsText, callIdOf, portableId } from '../conversation/tools.ts'
import {
  doneMark,
  encodeNamedEvents,
  eventOf,
  keepAlive,
  noBytes,
  type StreamEvent,
} from '../events.ts'
import { chargedUsage } from '../models/usage.ts'
import { toCohereError } from './client-api.ts'
import { decodeCohere, fieldNames } from './decode.ts'

/** Returns a chat of a client with Cohere's API. `id` is that of its response. */
export const cohereChat = (raw: unknown, id: string): ChatClient => ({
  api: 'cohere',
  raw,
  names: fieldNames,
  open: () => ({ ...decodeCohere(raw), codec: () => createCohereClient(id) }),
})

/** Creates Cohere's chat API as that of a client. `id` is that of its response. */
export const createCohereClient = (id: string): ClientCodec => ({
  createWriter: () => new CohereWriter(id),
  encode: (response, final) => encodeResponse(response, final, id),
  pass: passResponse,
})

const passResponse = (response: Json, { cost }: FinalUsage): Json => {
  const message = recordOf(response.message)
  const calls = recordsIn(message.tool_calls)
  return {
    ...response,
    ...(calls.length > 0 && { message: { ...message, tool_calls: calls.map(completeCall) } }),
    usage: chargedUsage(response.usage, cost),
  }
}

/** Returns a call with an id and with its arguments as text; itself where it has both. */
function completeCall(call: Json): Json {
  const id = callIdOf(call.id)
  const { arguments: args, ...called } = recordOf(call.function)
  if (id === call.id && !isRecord(args)) return call
  return { ...call, id, function: { ...called, arguments: argumentsText(args) } }
}

function encodeResponse({ choices: [choice] }: ChatResponse, final: FinalUsage, id: string): Json {
  const { content = [], citations = [], logprobs = [] } = choice ?? {}
  const calls = content.filter((part) => part.type === 'call')
  return {
    id,
    finish_reason: finishReasonOf(choice ?? {}, calls.length > 0),
    message: {
      role: 'assistant',
      content: content.flatMap(encodePart),
      ...(calls.length > 0 && {
        tool_calls: calls.map((call) => encodeCall(call, call.arguments || '{}')),
      }),
      ...(citations.length > 0 && { citations: citations.map(encodeCitation) }),
    },
    ...(logprobs.length > 0 && { logprobs: logprobs.map((one) => encodeLogprobs([one])) }),
    usage: encodeUsage(final),
  }
}

/** Encodes the probabilities of tokens, whose ids only Cohere knows. */
const encodeLogprobs = (logprobs: readonly Json[]): Json => ({
  token_ids: [],
  text: logprobs.map(({ token }) => asString(token)).join(''),
  logprobs: logprobs.map(({ logprob }) => logprob),
})

function encodePart(part: OutputPart): Json[] {
  if (part.type === 'call') return []
  if (part.type !== 'thinking') return part.text ? [{ type: 'text', text: part.text }] : []
  const { text, signature, origin = 'cohere', isEncrypted } = part
  if (text === '' && signature === undefined) return []
  const seal =
    signature === undefined ? undefined : sealText({ signature, origin, isEncrypted }, 'cohere')
  return [{ type: 'thinking', thinking: text, ...(seal !== undefined && { signature: seal }) }]
}

/** Encodes a call. The signature of Google has the place that its own OpenAI API gives it. */
function encodeCall(
  { id, name, signature }: Omit<CallEvent, 'type' | 'choice' | 'call'>,
  args: string,
): Json {
  return {
    id: portableId(id),
    type: 'function',
    function: { name, arguments: args },
    ...(signature !== undefined && {
      extra_content: { google: { thought_signature: signature } },
    }),
  }
}

function encodeCitation({ url, title, content = '', start, end }: Citation): Json {
  return {
    ...(start !== undefined && { start }),
    ...(end !== undefined && { end }),
    sources: [{ type: 'document', id: url, document: { id: url, url, title, text: content } }],
    type: 'TEXT_CONTENT',
  }
}

/** The end of a model's output. */
interface Finish {
  reason?: EndReason | undefined
  stop?: string | undefined
}

function finishReasonOf({ reason, stop }: Finish, hasCalls: boolean): string {
  if (reason === 'length') return 'MAX_TOKENS'
  if (reason === 'filtered') return 'ERROR'
  if (hasCalls) return 'TOOL_CALL'
  return stop === undefined ? 'COMPLETE' : 'STOP_SEQUENCE'
}

/** Encodes a usage, with its cost in USD if known. */
function encodeUsage({ usage, cost }: FinalUsage): Json {
  const tokens = { input_tokens: usage.prompt, output_tokens: usage.completion }
  return {
    billed_units: tokens,
    tokens,
    cached_tokens: usage.cached,
    ...(cost !== undefined && { cost }),
  }
}

/**
 * Writes the events of Cohere's chat API. A text or thinking block ends where the next one starts.
 * Clients know one call at a time, while the arguments of parallel calls may alternate: those after
 * the first wait for the end of the message.
 */
class CohereWriter implements StreamWriter {
  private events: Json[] = []
  private isBegun = false
  /** True if the client gets the own events of an upstream with its API. */
  private isPassed = false
  private blocks = 0
  private open: 'text' | 'thinking' | undefined
  /** The first call, and those that wait, with their arguments so far. */
  private readonly calls = new Map<number, { start: CallEvent; args: string }>()
  private citations = 0
  private finish: Finish = {}

  constructor(private readonly id: string) {}

  write(events: readonly ChatEvent[]): Uint8Array {
    for (const event of events) this.add(event)
    return this.take()
  }

  pass(own: StreamEvent, events: readonly ChatEvent[]): StreamEvent | undefined {
    this.isPassed = true
    // The error follows in the client's envelope.
    if (events.some(({ type }) => type === 'error')) return undefined
    const event = events.some(({ type }) => type === 'call') ? jsonOf(own, events) : undefined
    const message = recordOf(recordOf(event?.delta).message)
    const call = recordOf(message.tool_calls)
    const tool_calls = completeCall(call)
    if (!event || tool_calls === call) return own
    return eventOf(
      encodeNamedEvents([{ ...event, delta: { message: { ...message, tool_calls } } }]),
    )
  }

  beat(): Uint8Array {
    return keepAlive
  }

  end(final: FinalUsage): Uint8Array {
    if (this.isPassed) return noBytes
    this.begin()
    this.close()
    for (const [index, { start, args }] of this.calls) {
      if (index > 0) {
        this.startCall(start)
        this.addArguments(index, args)
      }
      this.push('tool-call-end', { index })
    }
    const finish_reason = finishReasonOf(this.finish, this.calls.size > 0)
    this.push('message-end', { id: this.id, delta: { finish_reason, usage: encodeUsage(final) } })
    return Buffer.concat([this.take(), doneMark])
  }

  fail(error: Json): Uint8Array {
    this.begin()
    const { message, code } = toCohereError({ error }, this.id)
    const delta = { finish_reason: 'ERROR', error: message, ...(code !== undefined && { code }) }
    this.push('message-end', { id: this.id, delta })
    return this.take()
  }

  private push(type: string, fields: Json): void {
    this.events.push({ type, ...fields })
  }

  private pushMessage(type: string, index: number, message: Json): void {
    this.push(type, { index, delta: { message } })
  }

  /** Returns the events that are not sent yet. */
  private take(): Uint8Array {
    const bytes = encodeNamedEvents(this.events)
    this.events = []
    return bytes
  }

  private begin(): void {
    if (this.isBegun || this.isPassed) return
    this.isBegun = true
    const message = { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] }
    this.push('message-start', { id: this.id, delta: { message } })
  }

  private add(event: ChatEvent): void {
    // Cohere has one choice.
    if ('choice' in event && event.choice > 0) return
    this.begin()
    switch (event.type) {
      case 'text':
        return this.addText('text', event.text, event.logprobs)
      case 'refusal':
        return this.addText('text', event.text)
      case 'thinking':
        return this.addText('thinking', event.text)
      case 'signature':
        return this.addSignature(event)
      case 'call':
        this.close()
        this.calls.set(event.call, { start: event, args: '' })
        return event.call === 0 ? this.startCall(event) : undefined
      case 'arguments': {
        const call = this.calls.get(event.call)
        if (event.call === 0) this.addArguments(0, event.text)
        else if (call) call.args += event.text
        return
      }
      case 'citation':
        return this.addCitation(event.citation)
      case 'end':
        this.finish = { reason: event.reason, stop: event.stop }
    }
  }

  private startCall(event: CallEvent): void {
    this.pushMessage('tool-call-start', event.call, { tool_calls: encodeCall(event, '') })
  }

  private addArguments(index: number, args: string): void {
    if (args === '') return
    this.pushMessage('tool-call-delta', index, { tool_calls: { function: { arguments: args } } })
  }

  private addText(type: 'text' | 'thinking', text: string, logprobs: readonly Json[] = []): void {
    if (text === '') return
    this.openBlock(type)
    this.push('content-delta', {
      index: this.blocks - 1,
      delta: { message: { content: { [type]: text } } },
      ...(logprobs.length > 0 && { logprobs: encodeLogprobs(logprobs) }),
    })
  }

  /** Adds the signature of the open thought, or an encrypted one, and ends it. */
  private addSignature(signed: SignatureEvent): void {
    if (!endsThought(signed)) this.close()
    this.openBlock('thinking')
    const content = { thinking: '', signature: sealText(signed, 'cohere') }
    this.pushMessage('content-delta', this.blocks - 1, { content })
    this.close()
  }

  private addCitation(citation: Citation): void {
    const index = this.citations++
    this.pushMessage('citation-start', index, { citations: encodeCitation(citation) })
    this.push('citation-end', { index })
  }

  private openBlock(type: 'text' | 'thinking'): void {
    if (this.open === type) return
    this.close()
    this.open = type
    const content = { type, [type]: '' }
    this.pushMessage('content-start', this.blocks++, { content })
  }

  private close(): void {
    if (this.open !== undefined) this.push('content-end', { index: this.blocks - 1 })
    this.open = undefined
  }
}
