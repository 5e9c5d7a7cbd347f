import { isRecord, itemsOf, type Json, recordOf } from '../../kernel/schema.ts'
import type {
  CallEvent,
  ChatEvent,
  ChatResponse,
  Citation,
  SignatureEvent,
} from '../conversation/chat-event.ts'
import type { ClientCodec, FinalUsage, StreamWriter } from '../conversation/codec.ts'
import { jsonOf } from '../conversation/json-reader.ts'
import { endsThought } from '../conversation/sealed-thought.ts'
import { portableId } from '../conversation/tools.ts'
import {
  doneMark,
  encodeEvent,
  eventOf,
  isComment,
  keepAlive,
  noBytes,
  type StreamEvent,
} from '../events.ts'
import type { Usage } from '../models/usage.ts'
import { toOpenRouterError } from '../openrouter/client-api.ts'
import { toFunctionCalls } from './functions.ts'
import { HeldChunks } from './held-chunks.ts'
import {
  type ChatWriterOptions,
  finishReasons,
  ownHead,
  thinkingFields,
  writeCall,
  writeChoice,
  writeCitation,
  writeUsage,
} from './message.ts'
import { passCompletion, PassedChunks, withDetails } from './pass.ts'
import { StreamedThoughts } from './streamed-thoughts.ts'
import { blocksField, callDetail, textDetail, thinkingPart, writeDetails } from './thinking.ts'

/** Creates the codec of a client of the chat API. */
export const createChatClient = (options: ChatWriterOptions): ClientCodec => ({
  createWriter: () => new ChatWriter(options),
  encode: (response, final) => encodeCompletion(response, final, options),
  pass: (response, final) => passCompletion(response, final, options),
})

function encodeCompletion(
  response: ChatResponse,
  final: FinalUsage,
  options: ChatWriterOptions,
): Json {
  const { flavor, model, hasFunctions } = options
  const completion = {
    id: response.id ?? options.id,
    object: 'chat.completion',
    created: response.created ?? options.created,
    model,
    system_fingerprint: null,
    ...response.extra,
    ...ownHead(options),
    choices: response.choices.map((choice, index) => writeChoice(choice, index, flavor)),
    usage: writeUsage(undefined, final),
  }
  return hasFunctions ? toFunctionCalls(completion) : completion
}

/** Writes one stream of chunks. */
class ChatWriter implements StreamWriter {
  /** The fields that all chunks share. */
  private head: Json
  /** The usage in the upstream's own form. */
  private ownUsage: Json | undefined
  /** The usage that the client has. */
  private reported: Usage | undefined
  /** The choices that have begun. */
  private readonly begun = new Set<number>()
  private readonly thoughts = new StreamedThoughts()
  private readonly passed: PassedChunks
  /** The custom calls, by choice and call. */
  private readonly custom = new Set<string>()
  private readonly held: HeldChunks | undefined
  private hasEnded = false

  constructor(private readonly options: ChatWriterOptions) {
    const { id, created, model, flavor } = options
    this.head = { id, object: 'chat.completion.chunk', created, model, ...ownHead(options) }
    this.passed = new PassedChunks(options, this.thoughts)
    if (flavor === 'mistral' || flavor === 'groq') this.held = new HeldChunks(flavor === 'mistral')
  }

  write(events: readonly ChatEvent[]): Uint8Array {
    this.held?.add(events)
    return joined(joinAdjacent(events).map((event) => this.writeEvent(event)))
  }

  pass(own: StreamEvent, events: readonly ChatEvent[]): StreamEvent | undefined {
    if (own.data === undefined) return isComment(own) ? own : undefined
    this.held?.add(events)
    for (const event of events) this.note(event)
    if (events.some(({ type }) => type === 'done' || type === 'error')) return undefined
    const chunk = jsonOf(own, events)
    if (!chunk) return undefined
    const { hasFunctions } = this.options
    const changed = this.passed.change(chunk, events)
    const { choices, usage, ...head } = changed
    this.head = head
    // The usage is written at the end, with its cost.
    if (isRecord(chunk.usage) && itemsOf(choices).length === 0) return undefined
    if (changed === chunk && !hasFunctions && !this.held) return own
    const bytes = this.present(changed)
    return bytes.byteLength === 0 ? undefined : eventOf(bytes)
  }

  beat(): Uint8Array {
    return keepAlive
  }

  /** Google reports a usage with each event. Clients add up those that they get. */
  report(final: FinalUsage): Uint8Array {
    return this.hasEnded ? this.writeReport(final) : noBytes
  }

  private writeReport(final: FinalUsage): Uint8Array {
    if (!this.options.wantsUsage || this.held) return noBytes
    this.reported = final.usage
    const usage = writeUsage(this.ownUsage, final)
    return encodeEvent({ ...this.head, choices: [], usage })
  }

  end(final: FinalUsage): Uint8Array {
    const isReported = Bun.deepEquals(this.reported, final.usage)
    if (!this.held) return joined([isReported ? noBytes : this.writeReport(final), doneMark])
    const ending = this.held.end(this.head)
    const last = ending.pop() ?? { ...this.head, choices: [] }
    const usage = writeUsage(this.ownUsage, final)
    const { flavor, wantsUsage } = this.options
    // Groq's clients know this place only, unless they ask for OpenAI's.
    const x_groq = { ...recordOf(last.x_groq), usage }
    const report = wantsUsage ? [{ ...this.head, choices: [], usage }] : []
    const closing = flavor === 'mistral' ? [{ ...last, usage }] : [{ ...last, x_groq }, ...report]
    return joined([...[...ending, ...closing].map(encodeEvent), doneMark])
  }

  fail(error: Json): Uint8Array {
    const { flavor, id } = this.options
    if (flavor !== 'openrouter') return encodeEvent({ error })
    return encodeEvent({
      id,
      object: 'chat.completion.chunk',
      created: 0,
      model: '',
      error: toOpenRouterError({ error }),
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    })
  }

  /** Returns the bytes of a chunk; none for one that is held back. */
  private present(chunk: Json): Uint8Array {
    const now = this.held ? this.held.read(chunk) : chunk
    if (!now) return noBytes
    return encodeEvent(this.options.hasFunctions ? toFunctionCalls(now) : now)
  }

  private writeEvent(event: JoinedEvent): Uint8Array {
    if (event.type === 'start') this.begin(event)
    this.note(event)
    if (!('choice' in event)) return noBytes
    const { choice } = event
    const isOpenRouter = this.options.flavor === 'openrouter'
    const unsigned = isOpenRouter ? this.thoughts.endUnsigned(choice, [event]) : []
    const delta = withDetails(this.deltaOf(event), unsigned)
    if (!delta) return noBytes
    const role = this.begun.has(choice) ? {} : { role: 'assistant' }
    this.begun.add(choice)
    const logprobs = event.type === 'text' && event.logprobs
    const written = {
      index: choice,
      delta: { ...role, ...delta },
      ...(logprobs && { logprobs: { content: logprobs, refusal: null } }),
      finish_reason: event.type === 'end' ? finishReasons[event.reason] : null,
    }
    return this.present({ ...this.head, choices: [written] })
  }

  private note(event: ChatEvent | JoinedEvent): void {
    if (event.type === 'usage') this.ownUsage = event.usage.own
    if (event.type === 'end') this.hasEnded = true
    if (event.type === 'thinking') this.thoughts.of(event.choice).text += event.text
  }

  private begin({ id, created, extra }: Extract<ChatEvent, { type: 'start' }>): void {
    this.head = {
      ...this.head,
      ...(id !== undefined && { id }),
      ...(created !== undefined && { created }),
      ...extra,
      ...ownHead(this.options),
    }
  }

  private deltaOf(event: Extract<JoinedEvent, { choice: number }>): Json | undefined {
    switch (event.type) {
      case 'text':
        return { content: event.text }
      case 'refusal':
        return { refusal: event.text }
      case 'thinking':
        return this.think(event.choice, event.text)
      case 'signature':
        return this.sign(event)
      case 'call': {
        const { call: index, choice: _, ...call } = event
        const { flavor } = this.options
        const details = callDetail(portableId(call.id), call.signature)
        if (call.isCustom) this.custom.add(`${event.choice}/${index}`)
        return {
          ...(flavor === 'openrouter' &&
            details.length > 0 && { reasoning_details: this.thoughts.detailsOfCalls([event]) }),
          ...(details.length > 0 && flavor === 'mistral' && { content: details.map(thinkingPart) }),
          tool_calls: [{ index, ...writeCall({ arguments: '', ...call }) }],
        }
      }
      case 'arguments': {
        const { choice, call: index, text } = event
        const isCustom = this.custom.has(`${choice}/${index}`)
        const called = isCustom ? { custom: { input: text } } : { function: { arguments: text } }
        return { tool_calls: [{ index, ...called }] }
      }
      case 'citation':
        return this.thoughts.entries(event.choice, {
          annotations: event.citations.map(writeCitation),
        })
      case 'end':
        return {}
      case 'audio':
        return undefined
    }
  }

  private think(choice: number, text: string): Json {
    const { flavor } = this.options
    if (flavor === 'mistral') return { content: [thinkingPart({ text })] }
    const fields = thinkingFields(text, flavor)
    if (flavor !== 'openrouter') return fields
    return { ...fields, reasoning_details: [textDetail(text, this.thoughts.of(choice).index)] }
  }

  /** Sends clients the whole signed thought: they have its text in another field only. */
  private sign({ choice, type: _, ...seal }: SignatureEvent): Json {
    if (this.options.flavor === 'mistral') return { content: [thinkingPart({ ...seal, text: '' })] }
    const { text, index } = this.thoughts.end(choice)
    const isSent = !endsThought(seal) || this.options.flavor === 'openrouter'
    const reasoning_details = writeDetails([{ ...seal, text: isSent ? '' : text, index }])
    return { reasoning_details, ...this.thoughts.entries(choice, blocksField([{ ...seal, text }])) }
  }
}

/** Events that a client gets in one chunk: a call with its arguments, and several citations. */
type JoinedEvent =
  | Exclude<ChatEvent, { type: 'citation' | 'call' }>
  | (CallEvent & { arguments?: string })
  | { type: 'citation'; choice: number; citations: Citation[] }

function joinAdjacent(events: readonly ChatEvent[]): JoinedEvent[] {
  const joined: JoinedEvent[] = []
  for (const event of events) {
    const last = joined.at(-1)
    if (event.type === 'citation') {
      const { choice, citation } = event
      if (last?.type === 'citation' && last.choice === choice) last.citations.push(citation)
      else joined.push({ type: 'citation', choice, citations: [citation] })
    } else if (event.type === 'arguments' && last?.type === 'call' && isOf(last, event)) {
      last.arguments = (last.arguments ?? '') + event.text
    } else joined.push(event.type === 'call' ? { ...event } : event)
  }
  return joined
}

const isOf = (start: CallEvent, piece: { choice: number; call: number }): boolean =>
  start.choice === piece.choice && start.call === piece.call

const joined = (parts: Uint8Array[]): Uint8Array => {
  const filled = parts.filter(({ byteLength }) => byteLength > 0)
  return filled.length === 1 ? (filled[0] ?? noBytes) : Buffer.concat(filled)
}
